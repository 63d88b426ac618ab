export const TIME_FORMATS = ['auto', 'iso', 's', 'ms', 'us', 'ns'] as const;
export type TimeFormat = (typeof TIME_FORMATS)[number];
export type TimeUnit = Exclude<TimeFormat, 'auto'>;

/** Whole milliseconds and the rest: a double has too few digits. */
export interface TraceTime {
  readonly ms: number;
  readonly belowMs: number;
}

/**
 * Parses `2023-11-16 18:17:03.9799600`, or a number since any moment. T or a space, any digits, Z, UTC, ±hh, ±hhmm,
 * ±hh:mm or nothing (= UTC); s, ms, µs or ns, 1.7636E+12 too. Null = none.
 */
export function parseTime(text: string, format: TimeFormat): TraceTime | null {
  const unit = format === 'auto' ? unitOf(text) : format;
  if (unit === null) return null;
  return unit === 'iso' ? parseIso(text) : parseNumber(text, SHIFTS[unit]);
}

/** Guesses a number's unit: below 1e11 s, 1e14 ms, 1e17 µs, else ns; each is March 1973, or 5138 in the unit before. */
export function unitOf(text: string): TimeUnit | null {
  if (ISO.test(text)) return 'iso';
  if (!NUMBER.test(text)) return null;
  const number = Number(text);
  if (number < 1e11) return 's';
  if (number < 1e14) return 'ms';
  return number < 1e17 ? 'us' : 'ns';
}

/** Tests for 2000 to 2100; .NET ticks taken for ns are 1990. */
export function isPlausibleDate({ ms }: TraceTime): boolean {
  return ms >= Date.UTC(2000, 0) && ms < Date.UTC(2100, 0);
}

/** Tests for a date of 2000 to 2100 as spreadsheets number it: days since 1899. */
export function isSpreadsheetDate(text: string): boolean {
  return /^\d{5}\.\d+$/.test(text) && Number(text) >= 36_526 && Number(text) < 73_051;
}

/** Returns milliseconds of 1.7636E+12's last digit; 0 = no exponent. */
export function stepMs(text: string, unit: TimeUnit): number {
  const [, , fraction = '', exponent] = NUMBER.exec(text) ?? [];
  if (unit === 'iso' || exponent === undefined) return 0;
  return 10 ** (Number(exponent) - fraction.length + SHIFTS[unit]);
}

export function elapsedMs(from: TraceTime, to: TraceTime): number {
  return to.ms - from.ms + (to.belowMs - from.belowMs);
}

export const TIME_ALLOWED: Readonly<Record<TimeFormat, string>> = {
  auto: 'a time like 2023-11-16 18:17:03.98, or a number of s, ms, us or ns (--time-format)',
  iso: 'a time like 2023-11-16 18:17:03.98 (--time-format iso)',
  s: 'a number of seconds (--time-format s)',
  ms: 'a number of milliseconds (--time-format ms)',
  us: 'a number of microseconds (--time-format us)',
  ns: 'a number of nanoseconds (--time-format ns)',
};

/** Decimal places between unit and millisecond. */
const SHIFTS: Readonly<Record<Exclude<TimeUnit, 'iso'>, number>> = { s: 3, ms: 0, us: -3, ns: -6 };

const NUMBER = /^(\d{1,20})(?:\.(\d{1,20}))?(?:[eE]([+-]?\d{1,2}))?$/;
const ISO = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,12}))? ?(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?$/i;
/** Largest time of Date. */
const DATE_MS_MAX = 8.64e15;

/** Parses digits: a double has too few for ns since 1970. */
function parseNumber(text: string, shift: number): TraceTime | null {
  const match = NUMBER.exec(text);
  if (match === null) return null;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent) + shift;
  if (point <= 0) return { ms: 0, belowMs: Number(`0.${'0'.repeat(-point)}${digits}`) };
  const ms = Number(digits.slice(0, point).padEnd(point, '0'));
  return ms > DATE_MS_MAX ? null : { ms, belowMs: Number(`0.${digits.slice(point)}0`) };
}

function parseIso(text: string): TraceTime | null {
  const match = ISO.exec(text);
  if (match === null) return null;
  const [, day, time, digits = '', zone = 'Z'] = match;
  const ms = Date.parse(`${day}T${time}.${digits.slice(0, 3).padEnd(3, '0')}${zoneInFull(zone)}`);
  // Date takes February 30 for March 2.
  if (Number.isNaN(ms) || !isDay(day)) return null;
  return { ms, belowMs: digits.length > 3 ? Number(`0.${digits.slice(3)}`) : 0 };
}

/** Completes a zone: `+0100`, `+01` → `+01:00`. */
function zoneInFull(zone: string): string {
  if (/^[A-Z]/i.test(zone)) return 'Z';
  return `${zone.slice(0, 3)}:${zone.slice(-2) === zone.slice(1) ? '00' : zone.slice(-2)}`;
}

function isDay(day: string): boolean {
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}
