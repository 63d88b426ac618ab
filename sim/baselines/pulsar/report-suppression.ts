/** Whether a broker puts its numbers into the message of this period. */
export type SuppressionRule = (given: ReportAttempt) => boolean;

export interface ReportAttempt {
  readonly bytes: Usage;
  readonly messages: Usage;
  /** Infinity = never sent. */
  readonly msSinceLastReport: number;
  readonly periodSec: number;
  readonly maxSuppressRounds: number;
  readonly tolerancePercent: number;
}

interface Usage {
  /** Since the last attempt. */
  readonly current: number;
  readonly lastReported: number;
}

/** 5 rounds and 5 % are constants of the releases, and defaults of the fork. */
export const MAX_SUPPRESS_ROUNDS = 5;
export const TOLERANCE_PERCENT = 5;

/** 1000 → 1050 is exactly 5 %: suppressed. A drop to zero waits for the mandatory report. */
export const suppressAsReleased: SuppressionRule = (attempt) => isDue(attempt) || hasDrifted(attempt, differs);

/** Rounds: 0 = always send, negative = no mandatory report. Tolerance ≤ 0 = any usage is sent. */
export const suppressAsForked: SuppressionRule = (attempt) => {
  const { maxSuppressRounds } = attempt;
  if (maxSuppressRounds === 0 || attempt.msSinceLastReport === Number.POSITIVE_INFINITY) return true;
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

/** In 32-bit floats, strictly more than the tolerance; after a report of 0 the quotient is infinite. */
function differs({ current, lastReported }: Usage, tolerancePercent: number): boolean {
  const difference = Math.fround(Math.abs(current - lastReported));
  return Math.fround(Math.fround(100 * difference) / Math.fround(lastReported)) > tolerancePercent;
}
