export const TIME_FORMATS = ['auto', 'iso', 's', 'ms'] as const;
export type TimeFormat = (typeof TIME_FORMATS)[number];

/** Whole milliseconds and what is below them apart: together they need more digits than a double has. */
export interface TraceTime {
  readonly ms: number;
  readonly belowMs: number;
}

/**
 * `2023-11-16 18:17:03.9799600`, with T or a space, with any number of digits, with Z, ±hh:mm or nothing (= UTC);
 * or a number of seconds or milliseconds since any moment. Null when the text is none of these.
 *
 * `auto` takes numbers from 1e11 on for milliseconds: as milliseconds that is March 1973, as seconds the year 5138.
 */
export function parseTime(text: string, format: TimeFormat): TraceTime | null {
  if (format !== 'iso' && NUMBER.test(text)) {
    const number = Number(text);
    const isMs = format === 'ms' || (format === 'auto' && number >= 1e11);
    return split(isMs ? number : number * 1000);
  }
  return format === 'iso' || format === 'auto' ? parseIso(text) : null;
}

/** Milliseconds from one time to a later one, with all digits. */
export function elapsedMs(from: TraceTime, to: TraceTime): number {
  return to.ms - from.ms + (to.belowMs - from.belowMs);
}

export const TIME_ALLOWED: Readonly<Record<TimeFormat, string>> = {
  auto: 'a time like 2023-11-16 18:17:03.98, or a number of seconds or milliseconds',
  iso: 'a time like 2023-11-16 18:17:03.98',
  s: 'a number of seconds',
  ms: 'a number of milliseconds',
};

const NUMBER = /^\d{1,16}(\.\d{1,12})?$/;
const ISO = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,12}))?(Z|[+-]\d\d:\d\d)?$/;

function parseIso(text: string): TraceTime | null {
  const match = ISO.exec(text);
  if (match === null) return null;
  const [, day, time, digits = '', zone = 'Z'] = match;
  const ms = Date.parse(`${day}T${time}.${digits.slice(0, 3).padEnd(3, '0')}${zone}`);
  // Date takes February 30 for March 2.
  if (Number.isNaN(ms) || !isDay(day as string)) return null;
  return { ms, belowMs: digits.length > 3 ? Number(`0.${digits.slice(3)}`) : 0 };
}

function isDay(day: string): boolean {
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

function split(ms: number): TraceTime {
  const whole = Math.floor(ms);
  return { ms: whole, belowMs: ms - whole };
}
