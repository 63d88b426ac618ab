import { formatQuantity } from './quantity.js';
import { SECONDS_OF, SHORT_UNIT, TIME_UNITS, type TimeUnit } from './time-unit.js';

/**
 * A rate as it was written. What enforces it takes it per second; people find their unit again, with the amount that
 * they gave, which cannot be computed back: x / 60 · 60 need not be x.
 */
export interface WrittenRate {
  readonly amount: number;
  readonly per: TimeUnit;
}

/** 300 per hour and 5 per minute are the same number: one division rounds once. */
export function perSecond({ amount, per }: WrittenRate): number {
  return amount / SECONDS_OF[per];
}

/** `600/min`, `1MiB/h`; parseRate reads it back. */
export function formatRate(kind: 'rate' | 'byte-rate', { amount, per }: WrittenRate): string {
  return `${formatQuantity(kind, amount)}/${SHORT_UNIT[per]}`;
}

/** Where a plain number means per second: `5`, `5/min`. */
export function shownRate({ amount, per }: WrittenRate): string {
  return per === 'second' ? String(amount) : `${amount}/${SHORT_UNIT[per]}`;
}

/** Behind a key, whose unit of time is that of a plain number. */
export function shownBehind(key: RateKey, rate: WrittenRate): string {
  return RATES.get(key)?.per === rate.per ? String(rate.amount) : `${rate.amount}/${SHORT_UNIT[rate.per]}`;
}

/** The same, and in another unit of time too where that is not its own: `2 (120/min)`. */
export function shownBeside(key: RateKey, rate: WrittenRate, per: TimeUnit): string {
  const shown = shownBehind(key, rate);
  if (rate.per === per) return shown;
  // Twelve digits: what the conversion rounds is not shown.
  const amount = Number((perSecond(rate) * SECONDS_OF[per]).toPrecision(12));
  return `${shown} (${amount}/${SHORT_UNIT[per]})`;
}

/** The rates that have a key for each unit of time. */
export const RATE_NAMES = ['messages', 'bytes', 'cost', 'reservedCost'] as const;
export type RateName = (typeof RATE_NAMES)[number];

/** The rates among them that limit. */
export const LIMIT_NAMES = ['messages', 'bytes', 'cost'] as const satisfies readonly RateName[];

/** `messagesPerMinute`. */
export type RateKey<
  Name extends RateName = RateName,
  Unit extends TimeUnit = TimeUnit,
> = `${Name}Per${Capitalize<Unit>}`;

export function rateKey<Name extends RateName, Unit extends TimeUnit>(name: Name, unit: Unit): RateKey<Name, Unit> {
  return `${name}Per${unit[0].toUpperCase()}${unit.slice(1)}` as RateKey<Name, Unit>;
}

export function rateKeysOf(name: RateName): readonly RateKey[] {
  return KEYS_OF[name];
}

/** The other keys of the same rate: whatever takes the place of one of them takes the place of all. */
export function otherUnitsOf(key: string): readonly string[] {
  return OTHERS.get(key) ?? [];
}

/** Undefined for other keys. */
export function rateOfKey(key: string): { readonly name: RateName; readonly per: TimeUnit } | undefined {
  return RATES.get(key);
}

/** A mapping with keys of rates, as it was read. */
export type RatesRead = Readonly<Partial<Record<RateKey, WrittenRate | null | undefined>>>;

/** What is given of a rate; its other keys have no value, or there is a mistake (section.ts). */
export function givenRate(read: RatesRead, name: RateName): WrittenRate | null {
  const key = givenKey(read, name);
  return key === undefined ? null : read[key]!;
}

/** The key that has a value. */
export function givenKey(read: RatesRead, name: RateName): RateKey | undefined {
  return KEYS_OF[name].find((key) => (read[key] ?? null) !== null);
}

/** Reads the unit of time of a rate from a mapping that an answer holds. */
export function unitIn(written: Readonly<Record<string, number>> | undefined, name: RateName): TimeUnit {
  return TIME_UNITS.find((per) => written?.[rateKey(name, per)] !== undefined) ?? 'second';
}

const keysOf = (name: RateName) => TIME_UNITS.map((unit) => rateKey(name, unit));
const KEYS_OF: Readonly<Record<RateName, readonly RateKey[]>> = {
  messages: keysOf('messages'),
  bytes: keysOf('bytes'),
  cost: keysOf('cost'),
  reservedCost: keysOf('reservedCost'),
};

const RATES = new Map(
  RATE_NAMES.flatMap((name) => TIME_UNITS.map((per) => [rateKey(name, per) as string, { name, per }] as const)),
);

const OTHERS = new Map(
  [...RATES].map(([key, { name }]) => [key, KEYS_OF[name].filter((other) => other !== key)] as const),
);
