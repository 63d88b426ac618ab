import { perSecond, type WrittenRate } from './written-rate.js';

/**
 * The quota beside which so much time of it is no burst: that is less than one unit, and its unit of time is one of
 * people (5/min). Null where there is none. The larger one of both directions counts.
 */
export function slowQuotaBeside(burstMs: number, quotas: readonly WrittenRate[]): WrittenRate | null {
  const largest = largestOf(quotas);
  if (largest === null || largest.per === 'second') return null;
  const units = (burstMs / 1000) * perSecond(largest);
  return units > 0 && units < 1 ? largest : null;
}

export function largestOf(rates: readonly WrittenRate[]): WrittenRate | null {
  return rates.reduce<WrittenRate | null>((most, rate) => {
    return most === null || perSecond(rate) > perSecond(most) ? rate : most;
  }, null);
}

export function smallestOf(rates: readonly WrittenRate[]): WrittenRate | null {
  return rates.reduce<WrittenRate | null>((least, rate) => {
    return least === null || perSecond(rate) < perSecond(least) ? rate : least;
  }, null);
}
