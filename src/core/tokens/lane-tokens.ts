import type { LaneRates } from '../sample/estimate.js';
import { BYTES, DIMENSION_COUNT, MESSAGES, type NodeKey } from '../base/vocabulary.js';
import { type LaneView, sum } from '../convergence/strategy.js';
import { type ClusterBucket, correctedRate, setPointOf, tokensAfter } from './cluster-bucket.js';
import { clusterDepth } from './cluster-depth.js';
import { OwnAccount } from './own-account.js';
import { RecentUse } from './recent-use.js';

/** A lane's tokens: what the cluster's bucket holds by the log, and what this node may take of it. */
export class LaneTokens {
  readonly dimensions: readonly SlotTokens[] = Array.from({ length: DIMENSION_COUNT }, () => new SlotTokens());
  /** Nodes that are alive. */
  nodes = 1;
  /** False until the lane's rows have been looked at since they changed. */
  isCurrent = false;
  #settledLogMs: number;
  #passedMs = 0;


  /** @param beganLogMs log time at which the bucket was empty, as far as this node knows */
  constructor(beganLogMs: number) {
    this.#settledLogMs = beganLogMs;
  }

  /** This node serves the lane from now on. */
  begin(nowMs: number): void {
    this.#passedMs = nowMs;
  }

  get isFull(): boolean {
    return this.dimensions.every(({ bucket, clusterTokens }) => bucket === null || clusterTokens >= bucket.depth);
  }

  /** The log has come to this time; until now the rows said what `view` has read. */
  settle(logMs: number): void {
    const ms = logMs - this.#settledLogMs;
    if (ms <= 0) return;
    this.#settledLogMs = logMs;
    for (const slot of this.dimensions) slot.settle(ms);
  }

  charge(node: NodeKey, messages: number, bytes: number): void {
    (this.dimensions[MESSAGES] as SlotTokens).charge(node, messages, this.#settledLogMs);
    (this.dimensions[BYTES] as SlotTokens).charge(node, bytes, this.#settledLogMs);
  }

  /** Reads what all nodes are expected to take, after the strategy has divided the target. */
  view(round: LaneView, own: number): void {
    this.nodes = round.count;
    const pieceBytes = pieceSizeOf(round);
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const slot = this.dimensions[dimension] as SlotTokens;
      slot.view(round, own, dimension, dimension === MESSAGES ? 1 : pieceBytes);
    }
    this.isCurrent = true;
  }

  /** The charges as a record carries them. */
  charges(): [messages: number, bytes: number] {
    const [messages, bytes] = this.dimensions as readonly [SlotTokens, SlotTokens];
    return [messages.account.tell(), bytes.account.tell()];
  }

  /** Whether the cluster's bucket would be another one if the log knew what it does not know of this node. */
  isDue(): boolean {
    return this.dimensions.some(
      ({ bucket, account, threshold }) => bucket !== null && Math.abs(account.untold) >= threshold,
    );
  }

  /** Whether there is anything at all that the log does not know. */
  hasUnheard(): boolean {
    return this.dimensions.some(({ bucket, account, piece }) => bucket !== null && Math.abs(account.unheard) > 0.1 * piece);
  }

  /** Whether the node wants more than it told, up to what it would be given. */
  isUnannounced(now: LaneRates, told: LaneRates): boolean {
    return this.dimensions.some(({ bucket, due }, dimension) => {
      if (bucket === null) return false;
      const wanted = now.demand[dimension] as number;
      const before = told.demand[dimension] as number;
      const most = due;
      if (Math.min(wanted, most) <= before) return false;
      const change = Math.abs(Math.min(wanted, 1.2 * most) - before);
      const squares = Math.max(now.squares[dimension] as number, told.squares[dimension] as number);
      return change > Math.max(0.1 * before, 3 * Math.sqrt(squares / 2));
    });
  }

  /** The lane has no entry any more: its next one begins anew. */
  forget(): void {
    for (const { account } of this.dimensions) account.forget();
  }

  /**
   * Lets time pass at this node, and says what it may take from now on.
   * @param taken what was taken since the last call, units per dimension
   * @param logMs log time now, extrapolated with the node's clock
   */
  flow(taken: Float64Array, logMs: number, nowMs: number, own: NodeKey, roundTripMs: number): void {
    const seconds = (nowMs - this.#passedMs) / 1000;
    this.#passedMs = nowMs;
    const aheadMs = Math.max(0, logMs - this.#settledLogMs);
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const slot = this.dimensions[dimension] as SlotTokens;
      slot.flow(taken[dimension] as number, seconds, aheadMs, this.nodes);
      if (slot.isInPieces) slot.flowInPieces(own, logMs, roundTripMs);
    }
  }
}

/** One dimension of a lane. */
export class SlotTokens {
  readonly account = new OwnAccount();
  /** Tokens of the cluster's bucket when the log was settled last. */
  clusterTokens = 0;
  /** The same, extrapolated to now. */
  tokensNow = 0;
  /** Null = unlimited or blocked: there is no bucket. */
  bucket: { perSecond: number; depth: number } | null = null;
  /** What this node may take: units per second, and at once. */
  perSecond = 0;
  depth = 0;
  takeable = 0;
  /** A report is due when this much is unheard. */
  threshold = 0;
  /** Whether the strategy gives this node less than it wants. */
  isThrottled = false;
  /** What it told, and its share of the target. */
  #told = 0;
  share = 0;
  /** What it would be given if it wanted as much as those that are throttled, units per second. */
  due = 0;
  /** Sums over all nodes: what they would take, what those take whose demand is met, and what the strategy lets all take. */
  expected = 0;
  met = 0;
  served = 0;
  #use = 0;
  #slackPart = 0;
  #creditMax = 0;
  piece = 1;
  /** Whole tokens, given by the log. */
  isInPieces = false;
  readonly #recent = new RecentUse();

  settle(ms: number): void {
    if (this.bucket !== null) this.clusterTokens = tokensAfter(this.bucket, this.clusterTokens, ms, this.expected);
  }

  charge(node: NodeKey, units: number, logMs: number): void {
    const { bucket } = this;
    if (bucket === null || units === 0) return;
    if (this.isInPieces) this.#recent.charge(node, units, logMs, bucket);
    const debtMax = Math.max(bucket.perSecond, (TOGETHER + 1) * bucket.depth);
    this.clusterTokens = Math.max(-debtMax, Math.min(bucket.depth, this.clusterTokens - units));
  }

  view(round: LaneView, own: number, dimension: number, piece: number): void {
    const target = round.target[dimension] as number;
    if (target === 0 || target === Number.POSITIVE_INFINITY) {
      this.bucket = null;
      return;
    }
    const depth = clusterDepth(target, piece);
    this.piece = piece;
    this.bucket ??= { perSecond: target, depth };
    this.bucket.perSecond = target;
    this.bucket.depth = depth;
    this.clusterTokens = Math.min(depth, this.clusterTokens);
    this.isInPieces = isInPieces(this.bucket, piece, round.count);
    const share = round.share[dimension] as Float64Array;
    let all = 0;
    let met = 0;
    let served = 0;
    let level = 0;
    for (let at = 0; at < round.count; at++) {
      const wanted = expectedOf(round, at, dimension);
      all += wanted;
      const given = share[at] as number;
      if (wanted <= given * MET) {
        met += wanted;
        served += wanted;
      } else {
        served += given;
        level = Math.max(level, given / (round.weight[at] as number));
      }
    }
    this.met = met;
    this.served = served;
    this.expected = served < target * ALMOST ? served : all;
    this.#told = own === -1 ? 0 : expectedOf(round, own, dimension);
    this.share = own === -1 ? 0 : (share[own] as number);
    this.due = own === -1 ? 0 : level === 0 ? Number.POSITIVE_INFINITY : Math.max(this.share, level * (round.weight[own] as number));
    if (this.isInPieces) this.#expectNothing();
    this.isThrottled = this.#told > this.share * MET;
    this.threshold = Math.max(0.9 * piece, EPSILON * depth * Math.sqrt(5 / round.count));
    if (this.isInPieces) this.threshold = 0.5 * piece;
  }

  flow(taken: number, seconds: number, aheadMs: number, nodes: number): void {
    const { bucket, account } = this;
    if (bucket === null) return;
    account.take(taken);
    this.tokensNow = tokensAfter(bucket, this.clusterTokens, aheadMs, this.expected);
    account.pass(seconds, {
      expected: this.#use,
      slack: this.#slackPart,
      creditMax: this.#creditMax,
      clusterTokens: this.tokensNow,
      clusterDepth: bucket.depth,
    });
    const rate = correctedRate(bucket, this.tokensNow);
    const used = Math.min(this.served, rate);
    this.#use = this.#useAt(rate);
    this.#creditMax = Math.max(2 * this.piece, 0.05 * this.#use);
    const slack = Math.max(0, Math.min(rate, bucket.perSecond) - used);
    // What refills the bucket cannot pay for anything else.
    this.#slackPart = this.tokensNow >= bucket.depth ? slack * this.#weight(nodes) : 0;
    const fromCluster = this.#fromCluster(bucket, nodes, used);
    this.takeable = account.takeable(fromCluster);
    this.depth = fromCluster + this.#creditMax;
    this.perSecond = this.#use + (account.unheard > 0 ? this.#slackPart : 0);
  }

  /** Every admission is told at once, so that nobody need be expected to take anything. */
  #expectNothing(): void {
    this.expected = 0;
    this.met = 0;
    this.served = 0;
    this.#told = 0;
  }

  /**
   * A whole token goes to the node that had the fewest lately, when the bucket holds it; the others wait a delivery
   * longer each, so that the log decides between those that ask at once.
   */
  flowInPieces(own: NodeKey, logMs: number, roundTripMs: number): void {
    const bucket = this.bucket as ClusterBucket;
    this.#recent.look(own, logMs, bucket);
    const piece = this.piece;
    const tokens = this.tokensNow / piece;
    const depth = bucket.depth / piece;
    const perSecond = bucket.perSecond / piece;
    const { active, rank } = this.#recent;
    const inFlight = (perSecond * roundTripMs) / 1000;
    const part = tokens / (1 + active);
    const least = Math.min(Math.max(1, depth - 1), 1 + Math.min(rank, 4) * Math.min(1, inFlight));
    const turn = tokens >= least ? Math.min(tokens, Math.max(1, Math.ceil((2 * inFlight) / (1 + active)))) : 0;
    const fromCluster = piece * Math.max(part, turn);
    this.#use = 0;
    this.#slackPart = 0;
    this.#creditMax = 0;
    this.account.credit = 0;
    this.takeable = fromCluster - this.account.unheard;
    this.depth = Math.max(piece, fromCluster);
    this.perSecond = 0;
  }

  /** What this node is expected to take of a rate that may be corrected. */
  #useAt(rate: number): number {
    const whole = this.met === this.served;
    if (whole) return this.#told * Math.min(1, this.served > 0 ? rate / this.served : 1);
    if (rate >= this.met) {
      if (!this.isThrottled) return this.#told;
      return (this.share * (rate - this.met)) / (this.served - this.met);
    }
    return this.isThrottled ? 0 : (this.#told * rate) / this.met;
  }

  /** The part of the slack that this node may use unheard; the parts of all nodes add up to one at most. */
  #weight(nodes: number): number {
    const each = 0.5 / nodes;
    if (this.met === 0) return 2 * each;
    return each + (this.isThrottled ? 0 : (0.5 * this.#told) / this.met);
  }

  #fromCluster(bucket: ClusterBucket, nodes: number, used: number): number {
    const { tokensNow } = this;
    const setPoint = setPointOf(bucket);
    const weight = this.#weight(nodes);
    if (tokensNow >= 0.9 * bucket.depth && used < 0.5 * bucket.perSecond) {
      return Math.min(1, TOGETHER / nodes) * tokensNow;
    }
    if (used === 0) return weight * Math.max(0, tokensNow);
    const low = Math.max(0, Math.min(tokensNow, setPoint));
    const high = Math.max(0, tokensNow - setPoint);
    return this.#ofLow(low, nodes, weight) + (0.2 / nodes + (0.8 * this.#use) / used) * high;
  }

  /** Below the set point only nodes whose demand is met may take anything. */
  #ofLow(low: number, nodes: number, weight: number): number {
    if (this.isThrottled) return 0;
    if (nodes <= MANY_NODES) return low;
    const noise = this.piece * (1 + 3 * Math.sqrt((0.3 * this.#use) / this.piece));
    return Math.min(low, Math.max(weight * this.tokensNow, noise));
  }
}

/** So many depths may be taken at most by nodes that wake within one delivery. */
const TOGETHER = 3;
/** A report is due when a fifth of the depth is unheard. */
const EPSILON = 0.2;
/** Up to so many nodes, each quiet one may take the whole of what is below the set point. */
const MANY_NODES = 10;
/** Shares are rounded sums. */
const MET = 1 + 1e-9;
const ALMOST = 1 - 1e-9;

/** Whether shares would be fractions of a piece: whole ones are given by the log then. */
function isInPieces({ perSecond, depth }: ClusterBucket, piece: number, nodes: number): boolean {
  return perSecond <= 10 * nodes * piece && depth < 4 * nodes * piece && perSecond <= 150 * piece;
}

/** What a node would take if only this dimension held it: a piece that another dimension refuses takes nothing here. */
function expectedOf(round: LaneView, at: number, dimension: number): number {
  const wanted = (round.demand[dimension] as Float64Array)[at] as number;
  let part = 1;
  for (let other = 0; other < DIMENSION_COUNT; other++) {
    const there = (round.demand[other] as Float64Array)[at] as number;
    if (other === dimension || there === 0) continue;
    part = Math.min(part, ((round.share[other] as Float64Array)[at] as number) / there);
  }
  return wanted * part;
}

/** Bytes per message as all nodes report them together; 1 without a report of both. */
function pieceSizeOf(round: LaneView): number {
  const messages = sum(round.demand[MESSAGES] as Float64Array, round.count);
  const bytes = sum(round.demand[BYTES] as Float64Array, round.count);
  return messages > 0 && bytes > messages ? bytes / messages : 1;
}
