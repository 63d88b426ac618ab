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

/** Wished bound, and a run's figure. */
export interface WishResult {
  readonly metric: string;
  readonly bound: 'atLeast' | 'atMost';
  readonly wished: number;
  /** Bound in force. */
  readonly held: number;
  readonly value: number | null;
  readonly isReached: boolean;
}

/** Judges wishes: bounds that do not hold yet. */
export function judgeWishes(expected: readonly Expectation[], verdict: Verdict): readonly WishResult[] {
  return expected.flatMap((expectation): WishResult[] => {
    const { metric, atLeast, atMost, wished } = expectation;
    if (wished === null) return [];
    const bound = atLeast === null ? 'atMost' : 'atLeast';
    const held = (atLeast ?? atMost) as number;
    const judged = judgeExpectations([{ ...expectation, [bound]: wished }], verdict);
    return judged.map(({ value, isKept }) => ({ metric, bound, wished, held, value, isReached: isKept }));
  });
}

/** Writes `worstSecond 1.23 > 1.1`. */
export function describeBroken({ metric, atLeast, atMost, value }: ExpectationResult): string {
  if (value === null) return `${metric}: none, expected ${atMost === null ? `≥ ${atLeast}` : `≤ ${atMost}`}`;
  const isLow = atLeast !== null && value < atLeast;
  return `${metric} ${Number(value.toPrecision(5))} ${isLow ? `< ${atLeast}` : `> ${atMost}`}`;
}
