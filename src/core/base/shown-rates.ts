import type { Rates } from './vocabulary.js';

/** Rates as answers and recordings have them: JSON has no Infinity, and null stands for unlimited. */
export function shownRates([messages, bytes]: Rates) {
  return { messagesPerSecond: finiteOrNull(messages), bytesPerSecond: finiteOrNull(bytes) };
}

export function finiteOrNull(rate: number): number | null {
  return Number.isFinite(rate) ? rate : null;
}
