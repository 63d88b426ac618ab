import type { Rates } from './vocabulary.js';

/** Returns rates for answers and recordings; null = unlimited, because JSON has no Infinity. */
export function shownRates([messages, bytes]: Rates) {
  return { messagesPerSecond: finiteOrNull(messages), bytesPerSecond: finiteOrNull(bytes) };
}

export function finiteOrNull(rate: number): number | null {
  return Number.isFinite(rate) ? rate : null;
}
