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

/** A bound that a scenario wishes for, and the figure of one run. */
export interface WishResult {
  readonly metric: string;
  readonly bound: 'atLeast' | 'atMost';
  readonly wished: number;
  /** The bound that the scenario has instead. */
  readonly held: number;
  readonly value: number | null;
  readonly isReached: boolean;
}

/** The wishes among the expectations: bounds that ought to hold and do not yet. */
export function judgeWishes(expected: readonly Expectation[], verdict: Verdict): readonly WishResult[] {
  return expected.flatMap((expectation): WishResult[] => {
    const { metric, atLeast, atMost, wished } = expectation;
    if (wished === null) return [];
    const bound = atLeast === null ? 'atMost' : 'atLeast';
    const held = (atLeast ?? atMost) as number;
    return judgeExpectations([{ ...expectation, [bound]: wished }], verdict).map(({ value, isKept }) => ({
      metric,
      bound,
      wished,
      held,
      value,
      isReached: isKept,
    }));
  });
}

/** `worstSecond 1.23 > 1.1`. */
export function describeBroken({ metric, atLeast, atMost, value }: ExpectationResult): string {
  if (value === null) return `${metric}: none, expected ${atMost === null ? `≥ ${atLeast}` : `≤ ${atMost}`}`;
  const isLow = atLeast !== null && value < atLeast;
  return `${metric} ${Number(value.toPrecision(5))} ${isLow ? `< ${atLeast}` : `> ${atMost}`}`;
}
