import { BYTES, DIMENSION_COUNT, MESSAGES, type NodeKey } from '../base/vocabulary.js';
import { isLimited, type LaneView, nodesIn, sum } from '../convergence/strategy.js';
import { type Clumped, Clumps } from '../report/sample/clumps.js';
import type { LaneRates } from '../report/sample/estimate.js';
import type { DepthRule } from './cluster-depth.js';
import { NEARLY_FULL } from './from-cluster.js';
import { OwnEntry } from './lanes/own-entry.js';
import { SlotTokens, type Viewed } from './slot-tokens.js';

/** A lane's tokens: what the cluster's bucket holds by the log, and what this node may take of it. */
export class LaneTokens implements Clumped {
  /**
   * By dimension; a hole where it has had no bucket yet, because most groups limit one dimension. `forEach`, `some` and
   * `every` pass over holes.
   */
  readonly slots: SlotTokens[] = [];
  /** False until the lane's rows have been viewed since they changed. */
  isCurrent = false;
  /** This node's row of the lane in the log. */
  entry = new OwnEntry();
  /**
   * True while that report, or the one that ends the entry, waits for the node's budget. Then this node takes no more
   * of the cluster's bucket than may stay unpublished, and goes on to take what is expected of it: what all nodes take
   * unread stays within one depth, whoever waits.
   */
  isHeldBack = false;
  /** Estimates how many pieces of this node's work come together. */
  readonly clumps = new Clumps();
  /** Span time of the log at which the buckets were settled last, and its pauses until then (core/log/log-time.ts). */
  settledLogMs: number;
  #settledPauseMs: number;
  /** Units of cost per message while the messages of the bucket are what a cost quota buys; 0 = they are not. */
  #costPerMessage = 0;
  #nodes = 1;
  #passedMs = 0;
  #hasFlowed = false;
  #hasEntry = false;
  /** Authors whose entries have begun since, by their slots: of a bucket that comes later they have taken nothing. */
  readonly #begun: number[] = [];

  /** Starts with full buckets; `restore` of the slots says what is in them. */
  constructor(spanMs: number, pauseMs: number) {
    this.settledLogMs = spanMs;
    this.#settledPauseMs = pauseMs;
  }

  /** True = a bucket of the lane is given out in whole pieces. */
  get isInPieces(): boolean {
    return this.slots.some(({ bucket, isInPieces }) => bucket !== null && isInPieces);
  }

  /** Tests if so many nodes expect the same of all, as long as the same ones have rows. */
  isSameFor(nodes: number): boolean {
    return this.slots.every((slot) => slot.isSameFor(nodes));
  }

  /**
   * Computes after how many milliseconds all buckets are full, less what the log does not know; 0 = none has to be
   * remembered.
   */
  fullInMs(logMs: number): number {
    const ms = Math.max(0, logMs - this.settledLogMs);
    return this.#most((slot) => slot.fullInMs(slot.tokensAfter(ms) - slot.account.unread));
  }

  /** Another log begins, whose time begins at 0: the buckets hold what they hold, and charges count from 0. */
  beginLog(logMs: number): void {
    const ms = Math.max(0, logMs - this.settledLogMs);
    this.slots.forEach((slot) => {
      slot.settledTokens = slot.tokensAfter(ms);
    });
    this.settledLogMs = 0;
    this.#settledPauseMs = 0;
    this.forget();
  }

  /** Sets from when on `flow` lets time pass. */
  startClock(nowMs: number): void {
    this.#passedMs = nowMs;
  }

  /** The log has come to this time; until now the rows said what `view` has read. */
  settle(spanMs: number, pauseMs: number): void {
    const ms = spanMs - this.settledLogMs;
    if (ms <= 0) return;
    const pausedMs = pauseMs - this.#settledPauseMs;
    this.settledLogMs = spanMs;
    this.#settledPauseMs = pauseMs;
    this.slots.forEach((slot) => {
      slot.settle(ms, pausedMs);
    });
  }

  /** Tokens of the cluster's bucket at a log time, as this node extrapolates them; Infinity where there was none. */
  tokensAt(dimension: number, logMs: number): number {
    return this.slots[dimension]?.tokensAfter(logMs - this.settledLogMs) ?? Infinity;
  }

  /**
   * Tokens of each bucket at a log time as a record tells them, with what that record gives back; NaN where there is
   * none.
   */
  stocks(logMs: number): [messages: number, bytes: number] {
    return this.#each(Number.NaN, ({ bucket, blocked, account }, dimension) => {
      const of = bucket ?? blocked;
      if (of === null) return Number.NaN;
      return Math.min(of.depth, this.tokensAt(dimension, logMs) - Math.min(0, account.unread));
    });
  }

  /** Returns what this node has charged to each bucket, and not read back. */
  unread(): [messages: number, bytes: number] {
    return this.#each(0, ({ account }) => Math.max(0, account.unread));
  }

  /** Returns how many depths of what the author gave back are not believed, of the dimension in which that is more. */
  charge(node: NodeKey, slot: number, messages: number, bytes: number, wants: boolean): number {
    return this.#most((each, dimension) =>
      each.charge(node, slot, dimension === MESSAGES ? messages : bytes, this.settledLogMs, wants),
    );
  }

  /** An author's entry begins. */
  beginEntry(slot: number): void {
    if (!this.#begun.includes(slot)) this.#begun.push(slot);
    this.slots.forEach(({ returnable }) => {
      returnable.begin(slot);
    });
  }

  /** Reads what all nodes are expected to take, after the strategy has divided the target. */
  view(view: LaneView, members: Viewed, rule: DepthRule): void {
    this.#nodes = Math.max(1, nodesIn(view));
    const bytes = bytesPerMessage(view);
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const slot = isLimited(view, dimension) ? this.#reach(dimension) : this.slots[dimension];
      slot?.view(view, members, dimension, dimension === MESSAGES ? 1 : bytes, rule);
    }
    this.isCurrent = true;
  }

  /** Begins with what is known of the lane where the dimension gets a bucket. */
  #reach(dimension: number): SlotTokens {
    const known = this.slots[dimension];
    if (known !== undefined) return known;
    const slot = new SlotTokens(this.#hasFlowed);
    this.slots[dimension] = slot;
    if (this.#hasEntry) slot.account.resume(0);
    for (const author of this.#begun) slot.returnable.begin(author);
    if (dimension === MESSAGES) slot.countCosts(0, this.#costPerMessage);
    return slot;
  }

  /** @param none is what a dimension says that has had no bucket */
  #each(none: number, of: (slot: SlotTokens, dimension: number) => number): [messages: number, bytes: number] {
    const [messages, bytes] = this.slots;
    return [messages === undefined ? none : of(messages, MESSAGES), bytes === undefined ? none : of(bytes, BYTES)];
  }

  #most(of: (slot: SlotTokens, dimension: number) => number): number {
    return Math.max(...this.#each(0, of));
  }

  /**
   * Costs are charged as messages are: the bucket holds what a cost quota buys at the average cost, so work that turns
   * out to cost more takes more of it, and work that costs less gives back. When the average moves, the bucket holds
   * the same cost and another number of messages.
   *
   * Worked, average 5: a message that cost 20 takes 4, one as it is admitted and three when its cost is known. A debt
   * of 300 at an average of 1 is one of 60 at 5.
   */
  countCosts(costPerMessage: number): void {
    this.slots[MESSAGES]?.countCosts(this.#costPerMessage, costPerMessage);
    this.#costPerMessage = costPerMessage;
  }

  /** Computes how many messages the reported work cost beyond its charge. */
  messagesBeyond({ units, transactions }: CostNews): number {
    return this.#costPerMessage > 0 ? units / this.#costPerMessage - transactions : 0;
  }

  /** Lets time pass at this node, and says what it may take from now on. */
  flow(taken: Float64Array, unrefused: Float64Array, now: Now): void {
    const seconds = (now.nowMs - this.#passedMs) / 1000;
    this.#passedMs = now.nowMs;
    this.#hasFlowed = true;
    const aheadMs = Math.max(0, now.logMs - this.settledLogMs);
    // All appended a round trip ago has been read, though nobody may have written for long; but not what follows
    // an own record that has not come back: from there on others may expect less of this node.
    const readLogMs = Math.max(now.readLogMs, now.logMs - Math.max(now.roundTripMs, now.awaitedMs));
    const ms = readLogMs - this.settledLogMs;
    this.slots.forEach((slot, dimension) => {
      const units = taken[dimension];
      const unrefusable = Math.max(0, Math.min(units, unrefused[dimension]));
      const mayOwe = now.isLimiting ? Math.max(0, units - unrefusable) : 0;
      const late = dimension === MESSAGES ? now.costsBeyond : 0;
      const read = {
        ms,
        ownSlot: now.ownSlot,
        mayOwe,
        unrefused: unrefusable,
        isHeldBack: this.isHeldBack,
      };
      slot.flow(units + late, seconds, aheadMs, this.#nodes, now, read);
    });
  }

  /** So much of what is taken next was taken of this node's part of a silent key. */
  takeSilent(taken: Float64Array): void {
    this.slots.forEach(({ account }, dimension) => {
      account.takeSilent(taken[dimension]);
    });
  }

  /** The charges as a record carries them, units in every dimension. */
  publish(): [messages: number, bytes: number] {
    return this.#each(0, ({ account }) => account.publish());
  }

  /** A record of this node has been read back. */
  readBack(charge: readonly [number, number]): void {
    this.#hasEntry = true;
    this.slots.forEach(({ account }, dimension) => {
      account.readBack(charge[dimension]);
    });
  }

  /** True = the cluster's bucket would be another one if the log knew what no record says. */
  get isReportDue(): boolean {
    return this.slots.some(({ bucket, blocked, account, threshold, takenThreshold }) => {
      if ((bucket ?? blocked) === null) return false;
      return account.unpublished >= takenThreshold || -account.unpublished >= threshold;
    });
  }

  /** Units that no record says, in parts of what makes a report due; of the dimension in which that is more. */
  get deviation(): number {
    return this.#most(({ bucket, account, threshold }) =>
      bucket === null ? 0 : Math.abs(account.unpublished) / threshold,
    );
  }

  /**
   * True = a report is due where work is refused: this node is met, and its noise has taken what may stay unpublished.
   */
  get isShort(): boolean {
    return this.slots.some((slot) => slot.isShort);
  }

  /** True = what this node leaves will be worth a report before a lane at rest is looked at again. */
  get isReturnNear(): boolean {
    return this.slots.some((slot) => slot.isReturnNear);
  }

  /** Tests if a report is due because this node left of a dimension what it was expected to take and others may. */
  hasLeft(dimension: number): boolean {
    const slot = this.slots[dimension];
    if (slot === undefined) return false;
    const { bucket, account, expected, threshold } = slot;
    return bucket !== null && expected.isLent && account.unpublished <= -threshold;
  }

  /**
   * Estimates how many pieces of a dimension come together, where that says how to read this node's rates; 1 elsewhere.
   * A node that is throttled is given its share whatever it wants, and if all are, a lull that is told lets the others
   * have the burst: three readers that fetch twice a second used 92 % of the quota so, and 51 % by their averages.
   */
  clumpsOf(dimension: number): number {
    const slot = this.slots[dimension];
    const isRead = slot !== undefined && slot.bucket !== null && slot.expected.isLent && !slot.expected.isThrottled;
    return isRead ? this.clumps.piecesOf(dimension) : 1;
  }

  /** Tests if shares of others follow from this node's rates: half of a quota is wanted, or a bucket is not full. */
  isNearQuota(published: LaneRates): boolean {
    return this.slots.some(({ bucket, expected, tokens }, dimension) => {
      // In pieces nobody is expected to take anything.
      const wanted = Math.max(expected.total, published.demand[dimension]);
      return bucket !== null && (2 * wanted >= bucket.perSecond || tokens < NEARLY_FULL * bucket.depth);
    });
  }

  /** True = there is anything that the log does not know. */
  get hasUnread(): boolean {
    return this.slots.some(({ bucket, account, piece }) => bucket !== null && Math.abs(account.unread) > piece / 10);
  }

  /**
   * Tests if this node wants more than it told, by more than noise, up to what it would be given; or wants anything,
   * where pieces are given and nobody knows that it waits.
   */
  isUnannounced(now: LaneRates, published: LaneRates): boolean {
    return this.slots.some(({ bucket, expected, isInPieces, isKnown }, dimension) => {
      if (bucket === null) return false;
      const wanted = now.demand[dimension];
      if (isInPieces && !isKnown && wanted > 0) return true;
      const before = published.demand[dimension];
      if (Math.min(wanted, expected.due) <= before) return false;
      const change = Math.min(wanted, DUE_RATIO * expected.due) - before;
      return change > chanceOf(before, now, published, dimension, this.clumpsOf(dimension));
    });
  }

  /** True = the rates alone may make a report due where no work is refused: see `isOverstated`. */
  get isDueByRates(): boolean {
    return this.slots.some(({ bucket, expected }) => bucket !== null && !expected.isLent);
  }

  /**
   * Tests if this node takes less than it told, by more than noise, where nothing is lent. The bucket of such a group
   * is often full although some nodes are held to their shares; what a node does not take of a full bucket is lost and
   * never told as a charge, and others would have no burst for as long as its old demand stands in the log.
   */
  isOverstated(now: LaneRates, published: LaneRates): boolean {
    return this.slots.some(({ bucket, expected }, dimension) => {
      if (bucket === null || expected.isLent) return false;
      const before = Math.min(published.demand[dimension], expected.share);
      return before - now.demand[dimension] > chanceOf(before, now, published, dimension, this.clumpsOf(dimension));
    });
  }

  /** This node's entry in the log already charges so much. */
  resume(charge: readonly [messages: number, bytes: number]): void {
    this.#hasEntry = true;
    charge.forEach((units, dimension) => {
      const slot = units === 0 ? this.slots[dimension] : this.#reach(dimension);
      slot?.account.resume(units);
    });
    this.entry.life = 'ending';
  }

  /** The lane has no entry in the log any more, or its next one is of another life of this node. */
  forget(): void {
    this.entry.forget();
    this.#hasEntry = false;
    this.slots.forEach(({ account }) => {
      account.forget();
    });
  }
}

interface CostNews {
  readonly units: number;
  /** Pieces of work. */
  readonly transactions: number;
}

export interface Now {
  /** Local monotonic time. */
  readonly nowMs: number;
  /** Log time, extrapolated with this node's clock. */
  readonly logMs: number;
  /** Log time of the last record that was read of the lane's partition. */
  readonly readLogMs: number;
  /** For so long this node has waited for the oldest of its records that has not come back. */
  readonly awaitedMs: number;
  readonly own: NodeKey;
  /** This node's slot among the members. */
  readonly ownSlot: number;
  /** From an admission until all know of it. */
  readonly roundTripMs: number;
  /** True = the limits have followed from these tokens since the last flow; they do not while a node is cut off. */
  readonly isLimiting: boolean;
  /** Messages that costs reported since then add to what was taken before. */
  readonly costsBeyond: number;
}

/** By how much a rate seems to change by chance. @param pieces that come together */
function chanceOf(before: number, now: LaneRates, published: LaneRates, dimension: number, pieces: number): number {
  const squares = Math.max(now.squares[dimension], published.squares[dimension]);
  return Math.max(CHANGE_RATIO * before, DEVIATIONS * Math.sqrt(pieces * squares * CHANCE_SECONDS));
}

/** A node need not tell what it wants beyond what it would be given. */
const DUE_RATIO = 1.2;
const CHANGE_RATIO = 0.1;
const DEVIATIONS = 3;
/** Arrivals of so much time are what a change has to stand out from. */
const CHANCE_SECONDS = 0.5;

/** Bytes per message as all nodes report them together; 1 without a report of both. */
function bytesPerMessage(view: LaneView): number {
  const messages = sum(view.demand[MESSAGES], view.count);
  const bytes = sum(view.demand[BYTES], view.count);
  return messages > 0 && bytes > messages ? bytes / messages : 1;
}
