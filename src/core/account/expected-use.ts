import { ROUNDING_ERROR } from '../base/constants.js';
import { type LaneView, nodesIn, shareOfEach } from '../convergence/strategy.js';
import { wantedAtShares } from '../convergence/wanted.js';
import { CROWDS_OUT_RATIO } from './constants.js';

/**
 * Computes the expected use of all nodes in one dimension. It follows from the published rates and the shares: all
 * nodes extrapolate each other's use by it, so a node whose use is as expected publishes nothing.
 *
 * A node that wants less than its share is *met* and takes its demand. A node that wants more is *throttled* and takes
 * its share. When the rate is corrected, the throttled nodes take less or more of it, in proportion to their shares;
 * the others take less only when the rate is below their demands together.
 *
 * Where nothing is lent, a node that wants more than its share is *held* to it: it is expected to take its share, as if
 * it wanted no more. Tokens that the others leave are nobody's.
 *
 * Worked (target 1,000): wants 2,000 and 9 × 80; shares 280 and 9 × 80. At a rate of 970 the first takes 250.
 */
export class ExpectedUse {
  /** Units per second of all nodes if only the bucket held them. */
  total = 0;
  /** Units per second of the target in use: demands of met nodes, shares of throttled ones. */
  served = 0;
  /** Units per second of this node if only the bucket held it; below, its share. */
  own = 0;
  share = 0;
  /** False while the log counts this node as dead: others use its part. */
  isMember = false;
  /** True = others may take the rest of a node's share. */
  isLent = true;
  /** Units per second if this node were throttled; Infinity where none is. Its share where nothing is lent. */
  due = Infinity;
  /** Units per second of all met nodes together. */
  #met = 0;
  /** True = this node's demand clearly exceeds its share. */
  crowdsOut = false;
  #nodes = 1;
  /** True = some node wants no more than its share. */
  isAnyMet = false;
  /** Units per second that this node wants, also where nothing is lent. */
  #ownWanted = 0;

  /** True = the strategy gives this node less than it wants. */
  get isThrottled(): boolean {
    return this.#ownWanted > this.share * MET;
  }

  /** @param own this node's participant; −1 = the log counts it as dead */
  view(view: LaneView, own: number, dimension: number): void {
    const share = view.share[dimension];
    const { weight, count, isLent, minShareRatio, maxShareRatio } = view;
    const target = view.target[dimension];
    const most = maxShareRatio < 1 ? maxShareRatio * target : Infinity;
    const liftedTo = minShareRatio > 0 ? Math.min(minShareRatio, 1 / nodesIn(view)) * target * MET : 0;
    this.isLent = isLent;
    let [total, met, served] = [0, 0, 0];
    let sharePerWeight = 0;
    let throttled = 0;
    for (let at = 0; at < count; at++) {
      const wanted = takenBy(view, at, dimension);
      const given = share[at];
      total += wanted;
      if (wanted <= given * MET) {
        met += wanted;
        served += wanted;
      } else {
        served += given;
        throttled++;
        // A minimum is due to its node alone.
        if (given > liftedTo) sharePerWeight = Math.max(sharePerWeight, given / weight[at]);
      }
    }
    this.isAnyMet = throttled < count;
    this.total = total;
    this.served = served;
    this.#met = met;
    // A node that the log has given up may have read of no other one.
    this.#nodes = Math.max(1, nodesIn(view));
    this.isMember = own !== -1;
    this.#ownWanted = own === -1 ? 0 : wantedWithin(view, own, dimension);
    this.own = own === -1 ? 0 : takenBy(view, own, dimension);
    this.share = own === -1 ? 0 : shareOfEach(view, own, dimension);
    const due = own === -1 ? 0 : Math.max(this.share, (sharePerWeight * weight[own]) / view.nodes[own]);
    this.crowdsOut = this.#ownWanted > CROWDS_OUT_RATIO * this.share;
    this.due = throttled > 0 || !isLent ? Math.min(due, most) : most;
  }

  /** Called where every admission is published at once: no use is expected. */
  expectNothing(): void {
    this.total = 0;
    this.served = 0;
    this.#met = 0;
    this.own = 0;
    this.#ownWanted = 0;
  }

  /** Returns a met participant's demand, or minus a throttled one's share. */
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

  /** The part of their demands that met nodes take of a rate. */
  metPartAt(given: number): number {
    return this.#met > 0 ? Math.min(1, Math.min(given, this.total) / this.#met) : 0;
  }

  /** The part of their shares that throttled nodes take of a rate; may exceed 1. */
  throttledPartAt(given: number): number {
    const throttled = this.served - this.#met;
    return throttled > 0 ? Math.max(0, Math.min(given, this.total) - this.#met) / throttled : 0;
  }

  /** Computes this node's part of a rate. All together take at most `total`. */
  ownAt(given: number): number {
    const met = this.#met;
    const rate = Math.min(given, this.total);
    const takesShare = this.own > this.share * MET;
    if (takesShare) return rate > met ? (this.share * (rate - met)) / (this.served - met) : 0;
    return met > 0 ? this.own * Math.min(1, rate / met) : 0;
  }

  /**
   * The part of the slack that this node may use unpublished. Half of the slack is divided among all nodes, half among
   * the met ones by their demands, so that the parts add up to one at most.
   */
  get part(): number {
    const equal = 0.5 / this.#nodes;
    if (this.#met === 0) return 2 * equal;
    return equal + (this.isThrottled ? 0 : (0.5 * this.own) / this.#met);
  }
}

/** Tolerance for shares, which are rounded sums. */
const MET = 1 + ROUNDING_ERROR;

/** Computes a node's demand within the bound of a single share. */
function wantedWithin(view: LaneView, at: number, dimension: number): number {
  const wanted = wantedAtShares(view, at, dimension);
  const { maxShareRatio } = view;
  return maxShareRatio < 1 ? Math.min(wanted, maxShareRatio * view.target[dimension]) : wanted;
}

/** Computes a node's demand, at most its share where nothing is lent. */
function takenBy(view: LaneView, at: number, dimension: number): number {
  const wanted = wantedWithin(view, at, dimension);
  return view.isLent ? wanted : Math.min(wanted, view.share[dimension][at]);
}
