/** What one broker makes of the reports of all, for one unit (messages or bytes). */
export type QuotaCalculator = (given: Calculation) => number | 'error';

export interface Calculation {
  /** Limit per second; −1 = none. */
  readonly configured: number;
  /** The own last report, counted over a period. */
  readonly own: number;
  /** Sum of the last reports of all, the own one included. */
  readonly total: number;
  readonly periodSec: number;
  /** The fork's resourceGroupLocalQuotaThreshold: below this part of the limit nothing is split. */
  readonly threshold: number;
}

const UNLIMITED = -1;
/** The limiter reads ≤ 0 as "no limit", so the calculator never goes below. */
const LEAST = 1;
const float = Math.fround;

/**
 * As released: own + (configured − total) · own ÷ total, which is configured · own ÷ total, in 32-bit
 * floats. 20 of 80 used of 100: 25. A broker without usage gets 1 while others have some.
 */
export const asReleased: QuotaCalculator = ({ configured, own, total }) => {
  if (configured < 0) return UNLIMITED;
  if (own < 0 || total < 0) return 'error';
  if (total === 0) return configured;
  // Whole numbers until here: only the difference is a float. 333334528 of 10⁹ at 1 : 2, where 333333333 is exact.
  const residual = float(configured - total);
  const part = float(float(own) / float(total));
  return Math.trunc(Math.max(float(float(own) + float(residual * part)), LEAST));
};

/** The vendor fork: a broker without usage gets the whole limit; nothing is split below the threshold. */
export const asForked: QuotaCalculator = ({ configured, own, total, periodSec, threshold }) => {
  if (configured < 0) return UNLIMITED;
  if (own < 0 || total < 0) return 'error';
  if (own === 0 || total === 0) return configured;
  if (total / periodSec <= configured * threshold) return configured;
  return Math.trunc(Math.max(float(float(float(own) / float(total)) * float(configured)), LEAST));
};
