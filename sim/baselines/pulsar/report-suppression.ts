/** Returns whether a broker puts its numbers into the message of this period. */
export type SuppressionRule = (given: ReportAttempt) => boolean;

export interface ReportAttempt {
  readonly bytes: Usage;
  readonly messages: Usage;
  /** Infinity = nothing was ever sent. */
  readonly msSinceLastReport: number;
  readonly periodSec: number;
  readonly maxSuppressRounds: number;
  readonly tolerancePercent: number;
}

interface Usage {
  /** Counted since the last attempt. */
  readonly current: number;
  readonly lastReported: number;
}

/** The releases have 5 rounds and 5 % as constants, the fork as defaults. */
export const MAX_SUPPRESS_ROUNDS = 5;
export const TOLERANCE_PERCENT = 5;

/**
 * The rule of the releases. 1000 → 1050 is exactly 5 %, so it is suppressed. A drop to zero waits for the mandatory
 * report.
 */
export const suppressAsReleased: SuppressionRule = (attempt) => isDue(attempt) || hasDrifted(attempt, differs);

/** The rule of the fork. Rounds: 0 = always send, negative = no mandatory report. Tolerance ≤ 0 = any usage is sent. */
export const suppressAsForked: SuppressionRule = (attempt) => {
  const { maxSuppressRounds } = attempt;
  if (maxSuppressRounds === 0 || attempt.msSinceLastReport === Infinity) return true;
  if (maxSuppressRounds > 0 && isDue(attempt)) return true;
  return hasDrifted(attempt, (usage, tolerance) => tolerance <= 0 || differs(usage, tolerance));
};

function isDue({ msSinceLastReport, periodSec, maxSuppressRounds }: ReportAttempt): boolean {
  return msSinceLastReport >= 1000 * periodSec * maxSuppressRounds;
}

function hasDrifted(
  { bytes, messages, tolerancePercent }: ReportAttempt,
  isDrift: (usage: Usage, tolerancePercent: number) => boolean,
): boolean {
  return [bytes, messages].some((usage) => usage.current > 0 && isDrift(usage, tolerancePercent));
}

/**
 * Compares in 32-bit floats: more than the tolerance, not equal to it. After a report of 0 the quotient is infinite.
 */
function differs({ current, lastReported }: Usage, tolerancePercent: number): boolean {
  const difference = Math.fround(Math.abs(current - lastReported));
  return Math.fround(Math.fround(100 * difference) / Math.fround(lastReported)) > tolerancePercent;
}
