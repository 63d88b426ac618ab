import { type LaneView, nodesIn, shareOfEach } from '../convergence/strategy.js';
import { wantedAtShares } from '../convergence/wanted.js';

/**
 * Computes what all nodes are expected to take of one dimension of a lane, by what they told and by their shares:
 * everybody extrapolates everybody else's use by it, so that a node whose use is as expected has nothing to say.
 *
 * A node that wants less than its share is *met* and takes what it wants. A node that wants more is *throttled* and
 * takes its share. When the rate is corrected, the throttled nodes take less or more of it, in proportion to their
 * shares; the others take less only when the rate is below what they want together.
 *
 * Where nothing is lent, a node that wants more than its share is *held* to it: it is expected to take its share, as if
 * it wanted no more. What the others leave is nobody's.
 *
 * Worked (target 1,000): wants 2,000 and 9 × 80; shares 280 and 9 × 80. At a rate of 970 the first takes 250.
 */
export class ExpectedUse {
  /** Units per second: what all would take if only the bucket held them. */
  total = 0;
  /** Use of the target by all: the met what they want, the throttled their shares. */
  served = 0;
  /** Use of this node if only the bucket held it, and its share. */
  own = 0;
  share = 0;
  /** False while the log counts this node as dead: others use what was its own. */
  isMember = false;
  /** True = others may take what a node leaves of its share. */
  isLent = true;
  /**
   * Units per second for this node if it wanted as much as those that are throttled; Infinity where none is. Its share
   * where nothing is lent.
   */
  due = Infinity;
  /** Use of those that are met, together. */
  #met = 0;
  /** True = this node wants clearly more than its share. */
  crowdsOut = false;
  #nodes = 1;
  /** Demand of this node, also where nothing is lent. */
  #ownWanted = 0;

  /** True = the strategy gives this node less than it wants. */
  get isThrottled(): boolean {
    return this.#ownWanted > this.share * MET;
  }

  /** @param own the participant that stands for this node; −1 = the log counts it as dead */
  view(view: LaneView, own: number, dimension: number): void {
    const share = view.share[dimension];
    const { weight, count, isLent } = view;
    this.isLent = isLent;
    let total = 0;
    let met = 0;
    let served = 0;
    let sharePerWeight = 0;
    let isAnyThrottled = false;
    const { most, liftedTo } = rangeOf(view, dimension);
    for (let at = 0; at < count; at++) {
      const wanted = takenBy(view, at, dimension);
      const given = share[at];
      total += wanted;
      if (wanted <= given * MET) {
        met += wanted;
        served += wanted;
      } else {
        served += given;
        isAnyThrottled = true;
        // A minimum is nobody else's due.
        if (given > liftedTo) sharePerWeight = Math.max(sharePerWeight, given / weight[at]);
      }
    }
    this.total = total;
    this.served = served;
    this.#met = met;
    // A node that the log has given up may know of no other one.
    this.#nodes = Math.max(1, nodesIn(view));
    this.isMember = own !== -1;
    this.#ownWanted = own === -1 ? 0 : wantedWithin(view, own, dimension);
    this.own = own === -1 ? 0 : takenBy(view, own, dimension);
    this.share = own === -1 ? 0 : shareOfEach(view, own, dimension);
    const due = own === -1 ? 0 : Math.max(this.share, (sharePerWeight * weight[own]) / view.nodes[own]);
    this.crowdsOut = this.#ownWanted > CROWDS_OUT * this.share;
    this.due = isAnyThrottled || !isLent ? Math.min(due, most) : most;
  }

  /** Called where every admission is told at once: nobody is expected to take anything. */
  expectNothing(): void {
    this.total = 0;
    this.served = 0;
    this.#met = 0;
    this.own = 0;
    this.#ownWanted = 0;
  }

  /** Returns what a participant wants if it is met, else its share below 0. */
  useOf(view: LaneView, at: number, dimension: number): number {
    const wanted = takenBy(view, at, dimension);
    const given = view.share[dimension][at];
    return wanted <= given * MET ? wanted : -given;
  }

  /** This node's part of the shares of all throttled nodes. */
  get partOfThrottled(): number {
    const throttled = this.served - this.#met;
    return throttled > 0 ? Math.min(1, this.share / throttled) : 0;
  }

  /** The part of what they want that met nodes take of a rate. */
  metPartAt(given: number): number {
    return this.#met > 0 ? Math.min(1, Math.min(given, this.total) / this.#met) : 0;
  }

  /** The part of their shares that throttled nodes take of a rate, or more than that. */
  throttledPartAt(given: number): number {
    const throttled = this.served - this.#met;
    return throttled > 0 ? Math.max(0, Math.min(given, this.total) - this.#met) / throttled : 0;
  }

  /**
   * Computes what this node takes of a rate. A rate above what all want is taken by nobody: they take `total` together.
   */
  ownAt(given: number): number {
    const met = this.#met;
    const rate = Math.min(given, this.total);
    const takesShare = this.own > this.share * MET;
    if (takesShare) return rate > met ? (this.share * (rate - met)) / (this.served - met) : 0;
    return met > 0 ? this.own * Math.min(1, rate / met) : 0;
  }

  /**
   * The part of the slack that this node may use without publishing it: half of it is divided among all nodes, half
   * among those that are met, by what they want. The parts of all nodes add up to one at most. If each might use the
   * whole slack, all together took 62 % more than the quota.
   */
  get part(): number {
    const equal = 0.5 / this.#nodes;
    if (this.#met === 0) return 2 * equal;
    return equal + (this.isThrottled ? 0 : (0.5 * this.own) / this.#met);
  }
}

/** Shares are rounded sums. */
const MET = 1 + 1e-9;
/**
 * By the arrivals of a few seconds 90 % of a quota seem to be all of it now and then, and what whoever crowds others
 * out keeps for them is not used: with 1 a quota of 10/s in pieces was used to 97.6 % and not to 98.9 %.
 */
const CROWDS_OUT = 1.3;

/** Finds what a node is given at most (Infinity = there is no bound), and what a minimum lifts shares to. */
function rangeOf(view: LaneView, dimension: number): typeof range {
  const { target, minShareRatio, maxShareRatio } = view;
  const here = target[dimension];
  range.most = maxShareRatio < 1 ? maxShareRatio * here : Infinity;
  range.liftedTo = minShareRatio > 0 ? Math.min(minShareRatio, 1 / nodesIn(view)) * here * MET : 0;
  return range;
}

const range = { most: 0, liftedTo: 0 };

/** Computes what a node would take if only this dimension held it, and the bound of a single share. */
function wantedWithin(view: LaneView, at: number, dimension: number): number {
  const wanted = wantedAtShares(view, at, dimension);
  const { maxShareRatio } = view;
  return maxShareRatio < 1 ? Math.min(wanted, maxShareRatio * view.target[dimension]) : wanted;
}

/** The same; no more than its share where nothing is lent. */
function takenBy(view: LaneView, at: number, dimension: number): number {
  const wanted = wantedWithin(view, at, dimension);
  return view.isLent ? wanted : Math.min(wanted, view.share[dimension][at]);
}
