import { createRound, type Round, type Strategy } from '../../../../src/core/convergence/strategy.js';

export interface Participants {
  /** Per dimension: messages, then bytes; a missing dimension is unlimited and unused. */
  readonly target: readonly number[];
  readonly usage?: readonly (readonly number[])[];
  readonly demand?: readonly (readonly number[])[];
  readonly weight?: readonly number[];
  readonly floorRatio?: number;
}

/** A Round from plain arrays; what is not given is 0, weights are 1. */
export function roundOf({ target, usage = [], demand = [], weight, floorRatio = 0 }: Participants): Round {
  const count = Math.max(...[...usage, ...demand].map((column) => column.length), weight?.length ?? 1);
  const round = createRound(count);
  round.count = count;
  round.floorRatio = floorRatio;
  round.weight.fill(1);
  round.weight.set(weight ?? []);
  round.target.fill(Number.POSITIVE_INFINITY);
  round.target.set(target);
  usage.forEach((column, dimension) => {
    round.usage[dimension]?.set(column);
  });
  demand.forEach((column, dimension) => {
    round.demand[dimension]?.set(column);
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
