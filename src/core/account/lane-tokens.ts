import { ROUNDING_ERROR } from '../base/constants.js';
import { BYTES, DIMENSION_COUNT, MESSAGES, type NodeKey } from '../base/vocabulary.js';
import { isLimited, type LaneView, nodesIn, sum } from '../convergence/strategy.js';
import { CHANCE_DEVIATIONS } from '../report/constants/constants.js';
import { type Clumped, Clumps } from '../report/sample/clumps.js';
import { type LaneRates, requestSizeOf } from '../report/sample/estimate.js';
import type { LaneSample } from '../report/sample/lane-sample.js';
import type { DepthRule } from './cluster-depth.js';
import { HEADROOM_RATIO, NEARLY_ALL_RATIO, UNPUBLISHED_NOISE_SECONDS } from './constants.js';
import { OwnEntry } from './own-entry.js';
import { SlotTokens, type Viewed } from './slot-tokens.js';

/** Holds a lane's tokens: the cluster's buckets by the log, and this node's part of them. */
export class LaneTokens implements Clumped {
  /** By dimension; most have a hole, because most groups limit one. `forEach`, `some` and `every` pass over holes. */
  readonly slots: SlotTokens[] = [];
  /** False from a change of the lane's rows until they are viewed. */
  isCurrent = false;
  /** This node's row of the lane in the log. */
  entry = new OwnEntry();
  /**
   * True while a due report waits for the node's budget. Then this node takes no more of the cluster's bucket than may
   * stay unpublished, and goes on to take its expected use: all nodes' unread use stays within one depth.
   */
  isHeldBack = false;
  readonly clumps = new Clumps();
  /** Span time at which the buckets were settled last; below, its pauses (core/log/log-time.ts). */
  settledLogMs: number;
  #settledPauseMs: number;
  /** Units of cost per message of the bucket of a cost quota; 0 = costs do not count. */
  #costPerMessage = 0;
  #nodes = 1;
  #passedMs = 0;
  readonly #significantChangeRatio: number;
  #hasFlowed = false;
  #hasEntry = false;
  /** Slots of authors whose entries have begun since. Of a later bucket they have taken nothing. */
  readonly #begun: number[] = [];

  /** Starts with full buckets; `restore` of the slots reads their stocks. */
  constructor(spanMs: number, pauseMs: number, significantChangeRatio: number) {
    this.#significantChangeRatio = significantChangeRatio;
    this.settledLogMs = spanMs;
    this.#settledPauseMs = pauseMs;
  }

  /** True = a bucket of the lane is given in whole pieces. */
  get isInPieces(): boolean {
    return this.slots.some(({ bucket, isInPieces }) => bucket !== null && isInPieces);
  }

  /** Tests if this number of nodes keeps all expected use. The nodes with rows stay the same. */
  isSameFor(nodes: number): boolean {
    return this.slots.every((slot) => slot.isSameFor(nodes));
  }

  /** Milliseconds until all buckets are full, unread use included; 0 = none has to be remembered. */
  fullInMs(logMs: number): number {
    const ms = Math.max(0, logMs - this.settledLogMs);
    return this.#most((slot) => slot.fullInMs(slot.tokensAfter(ms) - slot.account.unread));
  }

  /** True = an unread own record charges what has come back. */
  get isOvercharged(): boolean {
    return this.slots.some(({ account }) => account.isOvercharged);
  }

  /** Begins another log at time 0: the buckets keep their tokens, and charges count from 0. */
  beginLog(logMs: number): void {
    const ms = Math.max(0, logMs - this.settledLogMs);
    this.slots.forEach((slot) => {
      slot.settledTokens = slot.tokensAfter(ms);
    });
    this.settledLogMs = 0;
    this.#settledPauseMs = 0;
    this.forget();
  }

  /** Sets the time from which on `flow` lets time pass. */
  startClock(nowMs: number): void {
    this.#passedMs = nowMs;
  }

  /** Brings the buckets to this log time, by the rows viewed. */
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

  /** Tokens of the cluster's bucket extrapolated to a log time; Infinity where there was none. */
  tokensAt(dimension: number, logMs: number): number {
    return this.slots[dimension]?.tokensAfter(logMs - this.settledLogMs) ?? Infinity;
  }

  /** Tokens of each bucket as a record publishes them: with units given back; NaN without a bucket. */
  stocks(logMs: number): [messages: number, bytes: number] {
    return this.#each(Number.NaN, ({ bucket, blocked, account }, dimension) => {
      const of = bucket ?? blocked;
      if (of === null) return Number.NaN;
      return Math.min(of.depth, this.tokensAt(dimension, logMs) - Math.min(0, account.unread));
    });
  }

  /** Returns the units that this node has charged and not read back. */
  unread(): [messages: number, bytes: number] {
    return this.#each(0, ({ account }) => Math.max(0, account.unread));
  }

  /** Charges an author's units. Returns the depths given back that are not accepted, the larger of both dimensions. */
  charge(node: NodeKey, slot: number, messages: number, bytes: number, wants: boolean): number {
    return this.#most((each, dimension) =>
      each.charge(node, slot, dimension === MESSAGES ? messages : bytes, this.settledLogMs, wants),
    );
  }

  /** Begins an author's entry. */
  beginEntry(slot: number): void {
    if (!this.#begun.includes(slot)) this.#begun.push(slot);
    this.slots.forEach(({ returnable }) => {
      returnable.begin(slot);
    });
  }

  /** Reads all nodes' expected use after the strategy has divided the target. */
  view(view: LaneView, members: Viewed, rule: DepthRule): void {
    this.#nodes = Math.max(1, nodesIn(view));
    const bytes = bytesPerMessage(view);
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const slot = isLimited(view, dimension) ? this.#reach(dimension) : this.slots[dimension];
      slot?.view(view, members, dimension, dimension === MESSAGES ? 1 : bytes, rule);
    }
    this.isCurrent = true;
  }

  /** Makes the slot of a dimension that gets its first bucket. */
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

  /** @param none result of a dimension that has had no bucket */
  #each(none: number, of: (slot: SlotTokens, dimension: number) => number): [messages: number, bytes: number] {
    const [messages, bytes] = this.slots;
    return [messages === undefined ? none : of(messages, MESSAGES), bytes === undefined ? none : of(bytes, BYTES)];
  }

  #most(of: (slot: SlotTokens, dimension: number) => number): number {
    return Math.max(...this.#each(0, of));
  }

  /**
   * Charges costs as messages: the bucket holds messages at the average cost, so work that turns out to cost more takes
   * more of it, and work that costs less gives back. When the average moves, the bucket holds the same cost and another
   * number of messages.
   *
   * Worked, average 5: a message that cost 20 takes 4, one as it is admitted and three when its cost is known. A debt
   * of 300 at an average of 1 is one of 60 at 5.
   */
  countCosts(costPerMessage: number): void {
    this.slots[MESSAGES]?.countCosts(this.#costPerMessage, costPerMessage);
    this.#costPerMessage = costPerMessage;
  }

  /** Computes the messages that the reported work cost beyond its charge. */
  messagesBeyond({ units, transactions }: CostNews): number {
    return this.#costPerMessage > 0 ? units / this.#costPerMessage - transactions : 0;
  }

  /** Lets time pass at this node, and computes its limits. */
  flow(taken: Float64Array, unrefused: Float64Array, now: Now): void {
    const seconds = (now.nowMs - this.#passedMs) / 1000;
    this.#passedMs = now.nowMs;
    this.#hasFlowed = true;
    const aheadMs = Math.max(0, now.logMs - this.settledLogMs);
    // All records appended a round trip ago have been read, even after a long silence; but not those that follow an
    // unread own record: from there on others may expect less of this node.
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
        requestSize: slot.isInPieces ? requestSizeOf(now.sample, dimension) : 0,
      };
      slot.flow(units + late, seconds, aheadMs, this.#nodes, now, read);
    });
  }

  /** Counts the next units taken as parts of a silent key. */
  takeSilent(taken: Float64Array): void {
    this.slots.forEach(({ account }, dimension) => {
      account.takeSilent(taken[dimension]);
    });
  }

  /** Returns the charges for a record, in units of every dimension. */
  publish(): [messages: number, bytes: number] {
    return this.#each(0, ({ account }) => account.publish());
  }

  readBack(charge: readonly [number, number]): void {
    this.#hasEntry = true;
    this.slots.forEach(({ account }, dimension) => {
      account.readBack(charge[dimension]);
    });
  }

  /** True = the unpublished use makes a report due. */
  get isReportDue(): boolean {
    return this.slots.some(({ bucket, blocked, account, threshold, takenThreshold }) => {
      if ((bucket ?? blocked) === null) return false;
      return account.unpublished >= takenThreshold || -account.unpublished >= threshold;
    });
  }

  /** Units that no record holds ÷ those of a due report. The larger one of both dimensions counts. */
  get deviation(): number {
    return this.#most(({ bucket, account, threshold }) =>
      bucket === null ? 0 : Math.abs(account.unpublished) / threshold,
    );
  }

  /** True = a report is due if work is refused. */
  get isShort(): boolean {
    return this.slots.some((slot) => slot.isShort);
  }

  /** True = unused units make a report due before the next look. */
  get isReturnNear(): boolean {
    return this.slots.some((slot) => slot.isReturnNear);
  }

  /** Tests if unused units that others may take make a report due. */
  hasLeft(dimension: number): boolean {
    const slot = this.slots[dimension];
    if (slot === undefined) return false;
    const { bucket, account, expected, threshold } = slot;
    return bucket !== null && expected.isLent && account.unpublished <= -threshold;
  }

  /**
   * Estimates how many pieces of a dimension come together. It is 1 where it does not help to read this node's rates: a
   * throttled node is given its share whatever it wants; if all are throttled, a published lull lets the others have
   * its burst.
   */
  clumpsOf(dimension: number): number {
    const slot = this.slots[dimension];
    const isRead = slot !== undefined && slot.bucket !== null && slot.expected.isLent && !slot.expected.isThrottled;
    return isRead ? this.clumps.piecesOf(dimension) : 1;
  }

  /** Tests if this node's rates move others' shares: half of a quota is wanted, or a bucket is not full. */
  isNearQuota(published: LaneRates): boolean {
    return this.slots.some(({ bucket, expected, tokens }, dimension) => {
      // In pieces no use is expected.
      const wanted = Math.max(expected.total, published.demand[dimension]);
      return bucket !== null && (2 * wanted >= bucket.perSecond || tokens < NEARLY_ALL_RATIO * bucket.depth);
    });
  }

  /** True = some use of this node is not in the log: any, in pieces. At rates, a tenth of a piece is noise. */
  get hasUnread(): boolean {
    return this.slots.some(({ bucket, account, isInPieces, piece }) => {
      return bucket !== null && Math.abs(account.unread) > (isInPieces ? ROUNDING_ERROR : 0.1) * piece;
    });
  }

  /**
   * Tests if this node wants clearly more than published, within its due. In pieces any demand counts without a recent
   * record.
   */
  isUnannounced(now: LaneRates, published: LaneRates): boolean {
    return this.slots.some(({ bucket, expected, isInPieces, isKnown }, dimension) => {
      if (bucket === null) return false;
      const wanted = now.demand[dimension];
      if (isInPieces && !isKnown && wanted > 0) return true;
      const before = published.demand[dimension];
      if (Math.min(wanted, expected.due) <= before) return false;
      const change = Math.min(wanted, HEADROOM_RATIO * expected.due) - before;
      return change > this.#chanceOf(before, now, published, dimension);
    });
  }

  /** True = rates alone may make a report due (`isOverstated`). */
  get isDueByRates(): boolean {
    return this.slots.some(({ bucket, expected }) => bucket !== null && !expected.isLent);
  }

  /**
   * Tests if this node takes clearly less than published. It matters where nothing is lent: there the bucket is often
   * full although some nodes are held to their shares. Use that a node leaves of a full bucket is lost and never
   * charged, and others would have no burst as long as its old demand stands in the log.
   */
  isOverstated(now: LaneRates, published: LaneRates): boolean {
    return this.slots.some(({ bucket, expected }, dimension) => {
      if (bucket === null || expected.isLent) return false;
      const before = Math.min(published.demand[dimension], expected.share);
      return before - now.demand[dimension] > this.#chanceOf(before, now, published, dimension);
    });
  }

  /** Computes how many units/s of a rate may be chance: UNPUBLISHED_NOISE_SECONDS of noise stay unpublished. */
  #chanceOf(before: number, now: LaneRates, published: LaneRates, dimension: number): number {
    const squares = this.clumpsOf(dimension) * Math.max(now.squares[dimension], published.squares[dimension]);
    const noise = Math.sqrt(squares / UNPUBLISHED_NOISE_SECONDS);
    return Math.max(this.#significantChangeRatio * before, CHANCE_DEVIATIONS * noise);
  }

  /** Takes over the charges that this node's entry in the log has. */
  resume(charge: readonly [messages: number, bytes: number]): void {
    this.#hasEntry = true;
    charge.forEach((units, dimension) => {
      const slot = units === 0 ? this.slots[dimension] : this.#reach(dimension);
      slot?.account.resume(units);
    });
    this.entry.life = 'ending';
  }

  /** Called when the log has no entry of this life. */
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
  /** Log time of the last record read of the lane's partition. */
  readonly readLogMs: number;
  /** Milliseconds for which the oldest unread own record has been awaited. */
  readonly awaitedMs: number;
  readonly own: NodeKey;
  /** This node's slot among the members. */
  readonly ownSlot: number;
  /** Milliseconds from an admission until all have read of it. */
  readonly roundTripMs: number;
  /** True = a record takes longer than AT_ONCE_MS to be read. */
  readonly isReadLate: boolean;
  /** True = these tokens were the limits since the last flow; false for a node that is cut off. */
  readonly isLimiting: boolean;
  /** Messages that newly reported costs add to earlier use. */
  readonly costsBeyond: number;
  readonly sample: LaneSample;
}

/** Bytes per message of all nodes' reports together; 1 without both. */
function bytesPerMessage(view: LaneView): number {
  const messages = sum(view.demand[MESSAGES], view.count);
  const bytes = sum(view.demand[BYTES], view.count);
  return messages > 0 && bytes > messages ? bytes / messages : 1;
}
