import type { QuotameshError } from '../../src/base/errors/quotamesh-error.js';
import { parseQuantity } from '../../src/config/setting/quantity.js';
import { usage } from '../../src/tools/terminal/print.js';

export function wrongFlag(flag: string, allowed: string, got: string, hint = ''): QuotameshError {
  return usage(`${flag} must be ${allowed}, got ${JSON.stringify(got)}. ${hint}`.trimEnd());
}

export function wholeNumber(flag: string, text: string, least: number, most: number): number {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= least && number <= most)) throw wrongFlag(flag, `a whole number from ${least} to ${most}`, text);
  return number;
}

/** Checks a rate as the configuration does, naming the flag. */
export function checkRate(flag: string, text: string, kind: 'rate' | 'byte-rate'): void {
  const rate = parseQuantity(kind, text);
  if (!(rate > 0 && rate <= 1e15)) throw wrongFlag(flag, 'a rate above 0 (e.g. 1000, 10k or 600/min)', text);
}

export function durationFlag(flag: string, text: string, mostMs: number): number {
  const durationMs = parseQuantity('duration', text);
  if (!(durationMs >= 0 && durationMs <= mostMs)) throw wrongFlag(flag, 'a duration (e.g. 500ms or 2s)', text);
  return durationMs;
}
