import { perSecond, type WrittenRate } from './written-rate.js';

/**
 * The quota beside which so much time of it is no burst: that is less than one message, and its unit of time is one of
 * people (5/min). Null where there is none. The larger one of both directions counts.
 */
export function slowQuotaBeside(burstMs: number, quotas: readonly WrittenRate[]): WrittenRate | null {
  const largest = largestOf(quotas);
  if (largest === null || largest.per === 'second') return null;
  const messages = (burstMs / 1000) * perSecond(largest);
  return messages > 0 && messages < 1 ? largest : null;
}

export function largestOf(rates: readonly WrittenRate[]): WrittenRate | null {
  return rates.reduce<WrittenRate | null>((most, rate) => {
    return most === null || perSecond(rate) > perSecond(most) ? rate : most;
  }, null);
}
