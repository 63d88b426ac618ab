import { parseQuantity, parseRate, type QuantityKind } from './quantity.js';
import type { Setting } from './setting.js';
import { perSecond } from './written-rate.js';

/**
 * Units per second, but for 0. Of less not one unit comes within 30 years: it is a slip of the exponent, and would
 * block in silence.
 */
export const RATE_LEAST = 1e-9;

/** Returns the quantity to compare with the bounds; NaN = no quantity of this kind. */
function measured(setting: Setting, input: number | string): number {
  return parseQuantity(setting.kind as QuantityKind, input);
}

export function isAboveMost(setting: Setting, input: unknown): input is number | string {
  return isNumberOrText(input) && measured(setting, input) > (setting.max ?? Infinity);
}

export function isBelowLeast(setting: Setting, input: unknown): input is number | string {
  return isNumberOrText(input) && measured(setting, input) < (setting.min ?? 0);
}

/** Finds rates between 0 and the smallest one. */
export function isNearlyNothing(setting: Setting, input: unknown): input is number | string {
  if (!isRate(setting) || !isNumberOrText(input)) return false;
  const rate = parseRate(setting.kind as 'rate' | 'byte-rate', input);
  // Not by `perSecond` alone: it makes 0 of the smallest numbers.
  return rate.amount > 0 && perSecond(rate) < RATE_LEAST;
}

export function isRate({ kind }: Setting): boolean {
  return kind === 'rate' || kind === 'byte-rate';
}

function isNumberOrText(input: unknown): input is number | string {
  return typeof input === 'number' || typeof input === 'string';
}
