/** Computes a broker's share of messages or bytes from all reports. */
export type QuotaCalculator = (given: Calculation) => number | 'error';

interface Calculation {
  /** Limit per second; −1 = none. */
  readonly configured: number;
  /** Own last report, over one period. */
  readonly own: number;
  /** Sum of all last reports, own included. */
  readonly total: number;
  readonly periodSec: number;
  /** resourceGroupLocalQuotaThreshold: part of the limit below which nothing is split. */
  readonly threshold: number;
}

const UNLIMITED = -1;
/** Least limit, as the limiter takes ≤ 0 for none. */
const LEAST = 1;
const float = Math.fround;

/**
 * Computes the share as the releases do: own + (configured − total) · own ÷ total, in 32-bit floats. *Worked:* 20 of
 * 80 with limit 100 → 25. A broker without usage gets 1 beside others that have some.
 */
export const asReleased: QuotaCalculator = ({ configured, own, total }) => {
  if (configured < 0) return UNLIMITED;
  if (own < 0 || total < 0) return 'error';
  if (total === 0) return configured;
  // Only the difference is a float: at 1 : 2 of 10⁹ the result is 333334528, exact 333333333.
  const residual = float(configured - total);
  const part = float(float(own) / float(total));
  return Math.trunc(Math.max(float(float(own) + float(residual * part)), LEAST));
};

/** Computes the share as the fork does. A broker without usage gets all; below the threshold nothing is split. */
export const asForked: QuotaCalculator = ({ configured, own, total, periodSec, threshold }) => {
  if (configured < 0) return UNLIMITED;
  if (own < 0 || total < 0) return 'error';
  if (own === 0 || total === 0) return configured;
  if (total / periodSec <= configured * threshold) return configured;
  return Math.trunc(Math.max(float(float(float(own) / float(total)) * float(configured)), LEAST));
};
