/** Units of time of a rate. A node computes with the first one. */
export const TIME_UNITS = ['second', 'minute', 'hour', 'day'] as const;
export type TimeUnit = (typeof TIME_UNITS)[number];

export const SECONDS_OF: Readonly<Record<TimeUnit, number>> = { second: 1, minute: 60, hour: 3600, day: 86_400 };

/** As texts say it: `5/min`. */
export const SHORT_UNIT: Readonly<Record<TimeUnit, string>> = { second: 's', minute: 'min', hour: 'h', day: 'd' };

/** Every spelling behind the stroke of a rate: the short one, or the word itself. */
export const UNIT_SPELLINGS: ReadonlyMap<string, TimeUnit> = new Map(
  TIME_UNITS.flatMap((unit) => [[SHORT_UNIT[unit], unit] as const, [unit, unit] as const]),
);
