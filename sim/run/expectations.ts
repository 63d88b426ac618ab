import type { Expectation } from '../scenario/scenario.js';
import { METRICS } from '../verdict/metric-table.js';
import type { ExpectationResult, Verdict } from '../verdict/run-result.js';

export function judgeExpectations(expected: readonly Expectation[], verdict: Verdict): readonly ExpectationResult[] {
  return expected.map(({ metric, atLeast, atMost }) => {
    const value = METRICS.find(({ name }) => name === metric)!.valueOf(verdict);
    const isKept = value !== null && value >= (atLeast ?? -Infinity) && value <= (atMost ?? Infinity);
    return { metric, atLeast, atMost, value, isKept };
  });
}

/** `worstSecond 1.23 > 1.1`. */
export function describeBroken({ metric, atLeast, atMost, value }: ExpectationResult): string {
  if (value === null) return `${metric}: none, expected ${atMost === null ? `≥ ${atLeast}` : `≤ ${atMost}`}`;
  const isLow = atLeast !== null && value < atLeast;
  return `${metric} ${Number(value.toPrecision(5))} ${isLow ? `< ${atLeast}` : `> ${atMost}`}`;
}
