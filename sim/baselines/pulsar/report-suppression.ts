export type SuppressionRule = (given: ReportAttempt) => boolean;

export interface SuppressionSettings {
  readonly periodSec: number;
  readonly maxSuppressRounds: number;
  readonly tolerancePercent: number;
}

interface ReportAttempt extends SuppressionSettings {
  readonly bytes: Usage;
  readonly messages: Usage;
  readonly msSinceLastReport: number;
}

interface Usage {
  /** Holds what was counted since the last attempt. */
  readonly current: number;
  readonly lastReported: number;
}

/** 5 rounds and 5 %: constants of the releases, defaults of the fork. */
export const MAX_SUPPRESS_ROUNDS = 5;
export const TOLERANCE_PERCENT = 5;

/**
 * Suppresses reports as the releases do. A change of exactly 5 % is suppressed; a drop to zero waits for the mandatory
 * report.
 */
export const suppressAsReleased: SuppressionRule = (attempt) => isDue(attempt) || hasDrifted(attempt, differs);

/**
 * Suppresses reports as the fork does. Rounds: 0 = always send, negative = none mandatory; tolerance ≤ 0 = any usage.
 */
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

/** Tests in 32-bit floats if the change exceeds the tolerance. After 0 it always does: the quotient is infinite. */
function differs({ current, lastReported }: Usage, tolerancePercent: number): boolean {
  const difference = Math.fround(Math.abs(current - lastReported));
  return Math.fround(Math.fround(100 * difference) / Math.fround(lastReported)) > tolerancePercent;
}
