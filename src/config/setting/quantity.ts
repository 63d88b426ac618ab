/** Numbers with units: what YAML and the environment may say (`1s`, `10k`, `600/min`, `25%`), and how we print them. */

export type QuantityKind = 'duration' | 'count' | 'rate' | 'byte-rate' | 'bytes' | 'level' | 'ratio' | 'factor';

/** Reads the number in base units; NaN = no quantity of this kind. Ranges are the caller's. */
export function parseQuantity(kind: QuantityKind, input: number | string): number {
  if (typeof input === 'number') return input;
  if (kind !== 'rate' && kind !== 'byte-rate') return amountOf(kind, QUANTITY.exec(trimmed(input)));
  const { amount, per } = parseRate(kind, input);
  return amount / SECONDS_OF[per];
}

/** Reads a rate in its text's unit of time, else per second. Its amount is NaN where the text is no rate. */
export function parseRate(
  kind: 'rate' | 'byte-rate',
  input: number | string,
): { readonly amount: number; readonly per: TimeUnit } {
  if (typeof input === 'number') return { amount: input, per: 'second' };
  const [, text = '', unit = 'second'] = STROKE.exec(trimmed(input)) ?? [];
  const per = UNIT_SPELLINGS.get(unit);
  return { amount: per === undefined ? Number.NaN : amountOf(kind, QUANTITY.exec(text)), per: per ?? 'second' };
}

/** Returns the text behind the stroke of `5/fortnight`; undefined = no number before it. */
export function unitAfterStroke(text: string): string | undefined {
  const [, before = '', unit] = STROKE.exec(trimmed(text)) ?? [];
  return QUANTITY.test(before) ? unit : undefined;
}

/** '' for what is too long: 16 KB of spaces before a unit, which a client may send, took STROKE a second. */
function trimmed(text: string): string {
  return text.length > LENGTH_MAX ? '' : text.trim();
}

const LENGTH_MAX = 200;

function amountOf(kind: QuantityKind, match: RegExpExecArray | null): number {
  if (match === null) return Number.NaN;
  const text = match[1];
  // Not 0, which has a meaning of its own: what is too small for a double is no less a number above it.
  const amount = Number(text) || (/^[^e]*[1-9]/.test(text) ? Number.MIN_VALUE : 0);
  const unit = match[2];
  // Dividing keeps 7% exact (0.07); multiplying by 0.01 would not.
  if (kind === 'ratio' && unit === '%') return amount / 100;
  const factor = UNITS[kind].get(unit);
  return factor === undefined ? Number.NaN : amount * factor;
}

/** The shortest exact spelling; parseQuantity reads it back to the same number. */
export function formatQuantity(kind: QuantityKind, value: number): string {
  if (kind === 'ratio' || kind === 'factor' || value === 0 || !Number.isFinite(value)) return String(value);
  for (const [unit, factor] of SPELLINGS[kind]) {
    if (Math.abs(value) >= factor && value % factor === 0) return `${value / factor}${unit}`;
  }
  return kind === 'duration' ? `${value}ms` : String(value);
}

export const QUANTITY_EXAMPLES: Readonly<Record<QuantityKind, string>> = {
  duration: '500ms or 2s',
  count: '20 or 10k',
  rate: '1000 or 10k',
  'byte-rate': '500k or 1MiB',
  bytes: '16KiB or 1MB',
  level: '800M or 0.8',
  ratio: '0.25 or 25%',
  factor: '1.5',
};

// The exponent is bounded so that a text of many digits cannot make Number() slow or infinite by surprise.
const QUANTITY = /^([+-]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})(?:e[+-]?\d{1,3})?)\s*([A-Za-z%]{0,3})$/;

/** Matches a quantity of 64 characters at most, and `/` a unit. */
const STROKE = /^([^/]{1,64}?)(?:\s*\/\s*([A-Za-z]{1,20}))?$/;

const DURATION = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DECIMAL = { k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };
const BINARY = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50 };
const COUNT = { ...DECIMAL, ...BINARY };
const BYTES = { B: 1, ...COUNT, ...Object.fromEntries(Object.entries(COUNT).map(([unit, f]) => [`${unit}B`, f])) };

const BYTE_SPELLINGS = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, PiB: 2 ** 50, ...DECIMAL };

const UNITS: Readonly<Record<QuantityKind, ReadonlyMap<string, number>>> = {
  duration: unitsOf(DURATION),
  count: unitsOf(COUNT),
  rate: unitsOf(COUNT),
  'byte-rate': unitsOf(BYTES),
  bytes: unitsOf(BYTES),
  level: unitsOf(BYTES),
  ratio: unitsOf({}),
  factor: unitsOf({}),
};

const SPELLINGS: Readonly<Record<Exclude<QuantityKind, 'ratio' | 'factor'>, readonly (readonly [string, number])[]>> = {
  duration: largestFirst(DURATION),
  count: largestFirst(DECIMAL),
  rate: largestFirst(DECIMAL),
  'byte-rate': largestFirst(BYTE_SPELLINGS),
  bytes: largestFirst(BYTE_SPELLINGS),
  level: largestFirst(DECIMAL),
};

function unitsOf(units: Readonly<Record<string, number>>): ReadonlyMap<string, number> {
  return new Map([['', 1], ...Object.entries(units)]);
}

function largestFirst(units: Readonly<Record<string, number>>): readonly (readonly [string, number])[] {
  return Object.entries(units).sort((one, other) => other[1] - one[1]);
}

/** Units of time of a rate. A node computes with the first one; no calendar is looked at. */
export const TIME_UNITS = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year'] as const;
export type TimeUnit = (typeof TIME_UNITS)[number];

export const SECONDS_OF: Readonly<Record<TimeUnit, number>> = {
  second: 1,
  minute: 60,
  hour: 3600,
  day: 86_400,
  week: 7 * 86_400,
  month: 30 * 86_400,
  year: 365 * 86_400,
};

/** As texts say it: `5/min`. */
export const SHORT_UNIT: Readonly<Record<TimeUnit, string>> = {
  second: 's',
  minute: 'min',
  hour: 'h',
  day: 'd',
  week: 'week',
  month: 'month',
  year: 'year',
};

/** Every spelling behind the stroke of a rate: the short one, or the word itself. */
export const UNIT_SPELLINGS: ReadonlyMap<string, TimeUnit> = new Map(
  TIME_UNITS.flatMap((unit) => [[SHORT_UNIT[unit], unit] as const, [unit, unit] as const]),
);
