import { DIMENSION_COUNT, type Headroom } from '../base/vocabulary.js';

/**
 * Input and output of a strategy: one lane, all alive nodes, all dimensions at once, because they converge jointly. The
 * arrays are scratch space, reused for every lane: a strategy must not keep them.
 *
 * A participant is one alive node, in order of NodeKey, so that everybody adds up in the same order and gets the same
 * bits. The last one may stand for all nodes without a report of the lane: they are alike, and its weight and its share
 * are those of all of them together. *Worked:* 100 nodes, 5 report: 6 participants, the last of weight 95.
 */
export interface LaneView {
  /** Participants, ≥ 1. */
  count: number;
  /** Alive nodes that a participant stands for, ≥ 1. */
  readonly nodes: Float64Array;
  /** Index of the participant's node among the alive ones; −1 where it stands for all that are not listed. */
  readonly node: Int32Array;
  /** Units per second, [dimension][participant]; finite, ≥ 0. */
  readonly usage: readonly Float64Array[];
  readonly demand: readonly Float64Array[];
  /**
   * Units per second, [dimension][participant]: the share applied when the node reported last; 0 = not known. This and
   * `ageMs` are filled in only where the strategy `remembers`.
   */
  readonly applied: readonly Float64Array[];
  /** Milliseconds of log time since that report; Infinity without one. */
  readonly ageMs: Float64Array;
  /** > 0. */
  readonly weight: Float64Array;
  /** [dimension]; Infinity = unlimited, 0 = blocked. */
  readonly target: Float64Array;
  /** Σ of the floors as a part of the target, 0 … 1. */
  floorRatio: number;
  /**
   * Divides the target of each participant, for strategies of an agreed pool: 0 = by `count`, Infinity = it waits and
   * gets nothing.
   */
  readonly divisor: Float64Array;
  /** Bounds of every single share, as parts of the target, 0 … 1; a wrapper keeps them (clamp.ts). */
  minShareRatio: number;
  maxShareRatio: number;
  /** Divides the part of the target that nobody wants. */
  headroom: Headroom;
  /** False where what one node does not use nobody else may. */
  isLent: boolean;
  /** True = the strategy meets all (see Strategy), and no share is bounded. */
  meetsAll: boolean;
  /**
   * Output: 1 if a wrapper holds a share back from what the strategy says; such a share goes on moving with log time
   * alone.
   */
  readonly moving: Uint8Array;
  /** Out: units per second, [dimension][participant]. Infinity where the target is Infinity. */
  readonly share: readonly Float64Array[];
}

/**
 * Divides a lane among its nodes. Laws (test/property/strategies.test.ts): finite, ≥ 0, blind to the order of nodes,
 * scale-free, Σ shares ≤ target (but for equal-residual), nobody below the floor, target · wᵢ/Σw when nobody wants
 * anything. What it remembers from round to round travels in records (`applied`), nowhere else.
 */
export interface Strategy {
  readonly name: string;
  /** The reported signal whose significant change matters to it. */
  readonly reads: 'usage' | 'demand';
  /** True if it reads `applied`: nodes must report their shares while these move. */
  readonly remembers?: true;
  /** True if it reads `divisor`: nodes agree on their number before a divisor falls, and newcomers wait for that. */
  readonly agreesOnPool?: true;
  /**
   * True if all have what they want, however many they are, where the target and its floors leave room for that, and
   * who wants more leaves nothing of it that another does not use (lending.ts).
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

/**
 * Gives every dimension that is unlimited or blocked its trivial answer; returns whether `dimension` needs a real one.
 */
export function needsConvergence(view: LaneView, dimension: number): boolean {
  if (isLimited(view, dimension)) return true;
  view.share[dimension].fill(view.target[dimension], 0, view.count);
  return false;
}

/** Changes every dimension that is neither unlimited nor blocked. */
export function forEachLimited(view: LaneView, change: (view: LaneView, dimension: number) => void): void {
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (isLimited(view, dimension)) change(view, dimension);
  }
}

/** Neither unlimited nor blocked. */
export function isLimited(view: LaneView, dimension: number): boolean {
  const target = view.target[dimension];
  return target > 0 && target !== Infinity;
}

/** Counts the nodes among which the target is divided. */
export function nodesIn({ nodes, count }: LaneView): number {
  return sum(nodes, count);
}

/** The participant that stands for an alive node, by the node's index; −1 = none does. */
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

/** The share of one of the nodes that a participant stands for. */
export function shareOfEach({ share, nodes }: LaneView, at: number, dimension: number): number {
  return share[dimension][at] / nodes[at];
}

/** Σ over the participants, in their order. */
export function sum(column: Float64Array, count: number): number {
  let total = 0;
  for (let at = 0; at < count; at++) total += column[at];
  return total;
}
