import type { Headroom } from '../../../../src/core/base/vocabulary.js';
import { createLaneView, type LaneView, type Strategy } from '../../../../src/core/convergence/strategy.js';

export interface Participants {
  /** Per dimension: messages, then bytes; a missing dimension is unlimited and unused. */
  readonly target: readonly number[];
  readonly usage?: readonly (readonly number[])[];
  readonly demand?: readonly (readonly number[])[];
  readonly applied?: readonly (readonly number[])[];
  /** Log time since each node's report, ms. */
  readonly ageMs?: readonly number[];
  readonly weight?: readonly number[];
  readonly floorRatio?: number;
  readonly headroom?: Headroom;
  /** What each divides the target by where a pool is agreed; without it, the number of nodes. */
  readonly divisor?: readonly number[];
}

/** Behind the last participant stands what earlier lanes have left there: nobody may read it. */
const BEHIND = 3;
const LEFT_THERE = 1e9;

/** A Round from plain arrays; what is not given is 0, weights are 1. */
export function roundOf(participants: Participants): LaneView {
  const { target, usage = [], demand = [], applied = [], ageMs = [], weight, floorRatio = 0 } = participants;
  const columns = [...usage, ...demand, ...applied];
  const count = Math.max(...columns.map((column) => column.length), weight?.length ?? 1);
  const round = createLaneView(count + BEHIND);
  round.count = count;
  for (const columns of [round.usage, round.demand, round.applied, round.share, [round.ageMs]]) {
    for (const column of columns) column.fill(LEFT_THERE, count);
  }
  round.floorRatio = floorRatio;
  round.headroom = participants.headroom ?? 'by-weight';
  round.ageMs.set(ageMs);
  round.divisor.set(participants.divisor ?? []);
  round.weight.fill(1, 0, count);
  round.weight.fill(LEFT_THERE, count);
  round.weight.set(weight ?? []);
  round.target.fill(Infinity);
  round.target.set(target);
  usage.forEach((column, dimension) => {
    round.usage[dimension]?.set(column);
  });
  demand.forEach((column, dimension) => {
    round.demand[dimension]?.set(column);
  });
  applied.forEach((column, dimension) => {
    round.applied[dimension]?.set(column);
  });
  return round;
}

/** The shares of a strategy, [dimension][participant]. */
export function sharesOf(strategy: Strategy, participants: Participants): number[][] {
  const round = roundOf(participants);
  strategy.converge(round);
  return round.share.map((column) => Array.from(column.subarray(0, round.count)));
}

export function total(shares: readonly number[]): number {
  return shares.reduce((sum, share) => sum + share, 0);
}

export function expectShares(actual: readonly number[] | undefined, expected: readonly number[], digits = 2): void {
  const rounded = (shares: readonly number[]) => shares.map((share) => Number(share.toFixed(digits)));
  if (JSON.stringify(rounded(actual ?? [])) === JSON.stringify(rounded(expected))) return;
  throw new Error(`expected shares ${rounded(expected).join(' / ')}, got ${rounded(actual ?? []).join(' / ')}`);
}
