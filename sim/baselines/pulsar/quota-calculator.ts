/** Computes a broker's share from the reports of all, for messages or for bytes. */
export type QuotaCalculator = (given: Calculation) => number | 'error';

export interface Calculation {
  /** Limit per second; −1 = no limit. */
  readonly configured: number;
  /** The broker's own last report, which counts over one period. */
  readonly own: number;
  /** Sum of the last reports of all brokers, this one's included. */
  readonly total: number;
  readonly periodSec: number;
  /** The fork's resourceGroupLocalQuotaThreshold: below this part of the limit nothing is split. */
  readonly threshold: number;
}

const UNLIMITED = -1;
/** The least limit that is computed, because the limiter takes ≤ 0 for "no limit". */
const LEAST = 1;
const float = Math.fround;

/**
 * The releases compute own + (configured − total) · own ÷ total in 32-bit floats, which is configured · own ÷ total:
 * for 20 of a total of 80 and a limit of 100 that is 25. While others have some usage, a broker without any gets 1.
 */
export const asReleased: QuotaCalculator = ({ configured, own, total }) => {
  if (configured < 0) return UNLIMITED;
  if (own < 0 || total < 0) return 'error';
  if (total === 0) return configured;
  // Numbers are whole up to here, and only the difference is a float: at 1 : 2 of 10⁹ the result is 333334528, where
  // 333333333 is exact.
  const residual = float(configured - total);
  const part = float(float(own) / float(total));
  return Math.trunc(Math.max(float(float(own) + float(residual * part)), LEAST));
};

/** The vendor fork: a broker without usage gets the whole limit, and nothing is split below the threshold. */
export const asForked: QuotaCalculator = ({ configured, own, total, periodSec, threshold }) => {
  if (configured < 0) return UNLIMITED;
  if (own < 0 || total < 0) return 'error';
  if (own === 0 || total === 0) return configured;
  if (total / periodSec <= configured * threshold) return configured;
  return Math.trunc(Math.max(float(float(float(own) / float(total)) * float(configured)), LEAST));
};
