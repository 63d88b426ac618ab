import { DIMENSION_COUNT, type Headroom } from '../base/vocabulary.js';

/**
 * Holds input and output of a strategy for one lane. Dimensions converge jointly. The arrays are scratch space, reused
 * for every lane: a strategy must not keep them.
 *
 * A participant is one alive node, in order of NodeKey, so that all nodes add up in the same order and get the same
 * bits. The last one may stand for all nodes without a report of the lane: they are alike, and its weight and share are
 * sums over all of them. *Worked:* 100 nodes, 5 report: 6 participants, the last of weight 95.
 */
export interface LaneView {
  /** Participants, ≥ 1. */
  count: number;
  /** Alive nodes per participant, ≥ 1. */
  readonly nodes: Float64Array;
  /** Index of the participant's node among the alive ones; −1 = it stands for all unlisted nodes. */
  readonly node: Int32Array;
  /** Units per second, [dimension][participant]; finite, ≥ 0. */
  readonly usage: readonly Float64Array[];
  readonly demand: readonly Float64Array[];
  /**
   * Share applied at the node's last report, units per second, [dimension][participant]; 0 = not known. This and
   * `ageMs` are filled in only where the strategy `remembers`.
   */
  readonly applied: readonly Float64Array[];
  /** Milliseconds of log time since that report; Infinity without one. */
  readonly ageMs: Float64Array;
  /** > 0. */
  readonly weight: Float64Array;
  /** [dimension]; Infinity = unlimited, 0 = blocked. */
  readonly target: Float64Array;
  /** Units, [dimension]: the least stock in a row; Infinity without any. */
  readonly leastStock: Float64Array;
  /** Sum of all floors, as a part of the target. */
  floorRatio: number;
  /**
   * Divisors of the target per participant, for strategies of an agreed pool. 0 = by `count`, Infinity = the
   * participant waits and gets nothing.
   */
  readonly divisor: Float64Array;
  /** Bounds of each share as parts of the target (clamp.ts). */
  minShareRatio: number;
  maxShareRatio: number;
  /** Rule for the part of the target that nobody wants. */
  headroom: Headroom;
  /** True = other nodes may use the unused part of a share. */
  isLent: boolean;
  /** True = the strategy meets all, and no share is bounded. */
  meetsAll: boolean;
  /** Out: 1 = a wrapper holds the share back from the strategy's. Such a share goes on moving with log time alone. */
  readonly moving: Uint8Array;
  /** Out: units per second, [dimension][participant]. Infinity where the target is Infinity. */
  readonly share: readonly Float64Array[];
}

/**
 * Divides a lane among its nodes. Laws (test/property/strategies.test.ts): finite, ≥ 0, blind to the order of nodes,
 * scale-free, Σ shares ≤ target (but for equal-residual), nobody below the floor, target · wᵢ/Σw when nobody wants
 * anything. Its memory from round to round travels in records (`applied`), nowhere else.
 */
export interface Strategy {
  readonly name: string;
  /** The reported signal whose significant change it reacts to. */
  readonly reads: 'usage' | 'demand';
  /** True = it reads `applied`: nodes must report their shares while these move. */
  readonly remembers?: true;
  /** True = it reads `divisor`: nodes agree on their number before a divisor falls, and newcomers wait for that. */
  readonly agreesOnPool?: true;
  /**
   * True = it meets all demands wherever target and floors leave room. Where it does not, those that want more use up
   * what the others leave (lending.ts).
   */
  readonly meetsAll?: true;
  converge(view: LaneView): void;
}

export function createLaneView(capacity: number): LaneView {
  const perDimension = () => Array.from({ length: DIMENSION_COUNT }, () => new Float64Array(capacity));
  return {
    count: 0,
    nodes: new Float64Array(capacity).fill(1),
    node: Int32Array.from({ length: capacity }, (_, at) => at),
    usage: perDimension(),
    demand: perDimension(),
    applied: perDimension(),
    ageMs: new Float64Array(capacity),
    weight: new Float64Array(capacity),
    target: new Float64Array(DIMENSION_COUNT),
    leastStock: new Float64Array(DIMENSION_COUNT),
    floorRatio: 0,
    divisor: new Float64Array(capacity),
    minShareRatio: 0,
    maxShareRatio: 1,
    headroom: 'by-weight',
    isLent: true,
    meetsAll: false,
    moving: new Uint8Array(capacity),
    share: perDimension(),
  };
}

/** Answers an unlimited or blocked dimension. Returns true for any other one, which the strategy must answer. */
export function needsConvergence(view: LaneView, dimension: number): boolean {
  if (isLimited(view, dimension)) return true;
  view.share[dimension].fill(view.target[dimension], 0, view.count);
  return false;
}

/** Visits every dimension that is neither unlimited nor blocked. */
export function forEachLimited(view: LaneView, change: (view: LaneView, dimension: number) => void): void {
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (isLimited(view, dimension)) change(view, dimension);
  }
}

/** Tests if a dimension is neither unlimited nor blocked. */
export function isLimited(view: LaneView, dimension: number): boolean {
  const target = view.target[dimension];
  return target > 0 && target !== Infinity;
}

/** Counts the nodes among which the target is divided. */
export function nodesIn({ nodes, count }: LaneView): number {
  return sum(nodes, count);
}

/** Finds the participant that stands for an alive node; −1 = none. */
export function participantOf({ node, count }: LaneView, index: number): number {
  let low = 0;
  let high = count - 1;
  if (index === -1 || high === -1) return -1;
  const hasRest = node[high] === -1;
  if (hasRest) high--;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const here = node[middle];
    if (here === index) return middle;
    if (here < index) low = middle + 1;
    else high = middle - 1;
  }
  return hasRest ? count - 1 : -1;
}

/** Computes the share of one node of a participant. */
export function shareOfEach({ share, nodes }: LaneView, at: number, dimension: number): number {
  return share[dimension][at] / nodes[at];
}

/** Adds up a column over the participants, in their order. */
export function sum(column: Float64Array, count: number): number {
  let total = 0;
  for (let at = 0; at < count; at++) total += column[at];
  return total;
}
