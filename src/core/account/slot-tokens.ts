import { depthGiven } from '../base/settings.js';
import { MESSAGES, type NodeKey } from '../base/vocabulary.js';
import { type LaneView, nodesIn } from '../convergence/strategy.js';
import { type Checkpoint, stockNow } from './checkpoint.js';
import {
  type ClusterBucket,
  correctedRate,
  debtMaxOf,
  nothingBelow,
  setPointOf,
  tokensAfter,
} from './cluster-bucket.js';
import { clusterDepth, type DepthRule } from './cluster-depth.js';
import { Coherence } from './coherence.js';
import { ExpectedUse } from './expected-use.js';
import { fromCluster, isDeep, noiseOf, wholeOf } from './from-cluster.js';
import { isInPieces, type PieceTurn, wholePieces } from './in-pieces.js';
import { OwnAccount } from './own-account.js';
import { OwnParts } from './own-parts.js';
import { RecentUse } from './recent-use.js';
import { type AliveNode, type Passed, Returnable } from './returnable.js';

/**
 * One dimension of a lane: the cluster's bucket by the log, what all nodes are expected to take of it, and what this
 * node may take at once and from then on.
 */
export class SlotTokens {
  readonly account = new OwnAccount();
  readonly expected = new ExpectedUse();
  /** Null where the dimension is unlimited or blocked: there is no bucket. */
  bucket: ClusterBucket | null = null;
  /**
   * The bucket before the dimension was blocked: nothing flows, and what it holds or owes is kept. When a debt was let
   * off, a quota of 10/s that was blocked every 300 ms gave 240 in 16 s and not 190.
   */
  blocked: ClusterBucket | null = null;
  /** Tokens of the cluster's bucket when the log was settled last; Infinity = it is full, whatever its depth. */
  settledTokens = Infinity;
  /** The same now, extrapolated with this node's clock. */
  tokens = 0;
  /** True if whole pieces are given by the log. */
  isInPieces = false;
  /** Units of a piece of work. */
  piece = 1;
  /** Units for this node: now, at most so many later, and units per second. */
  takeable = 0;
  depth = 0;
  perSecond = 0;
  /** The rate at which tokens come back to a node that has taken all that it may: what a client is told to wait for. */
  comesBackPerSecond = 0;
  /** A report is due when no record says that this many units were left … */
  threshold = 0;
  /** … or that this many were taken … */
  takenThreshold = 0;
  /** … or, while work is refused, this many. */
  shortThreshold = 0;
  /** True = the log says, where pieces are given, that this node has used the bucket lately, or waits for it. */
  isKnown = false;
  /** Units of work that could not be refused, beyond what may be owed. */
  letOff = 0;
  /** Units that the cluster's bucket has room for, by what this node took and the log may not know. */
  room = Infinity;
  /** True while as much is expected of all, however many nodes are alive. */
  #isMet = false;
  readonly returnable = new Returnable();
  readonly #recent = new RecentUse();
  /** Null until something is charged. */
  #coherence: Coherence | null = null;
  readonly #parts = new OwnParts();
  /** True = a full bucket is divided among the nodes in advance. */
  #isDivided = false;
  /** Expected use since the last flow, and what of it a slack paid. */
  #use = 0;
  #slack = 0;
  /** Seconds of this node's share that work may owe which cannot be refused. */
  #debtSeconds = 0;
  #creditMax = 0;
  /** Units of the cluster's bucket that this node may take unread. */
  #fromCluster = 0;
  /** The most that the threshold for what is taken may be. */
  #takenMost = 0;
  /** True while messages stand for what a cost quota buys. */
  #countsCosts = false;
  /** True while what is taken is not counted, because there is no quota. */
  #isUncounted: boolean;

  constructor(isUncounted = false) {
    this.#isUncounted = isUncounted;
  }

  /** A message costs so many units now, and the bucket holds the same cost as before; 0 = costs do not count. */
  countCosts(before: number, costPerMessage: number): void {
    this.#countsCosts = costPerMessage > 0;
    if (before > 0 && costPerMessage > 0) this.settledTokens *= before / costPerMessage;
  }

  /** Restores what the rows of the lane say is in the bucket. */
  restore(rows: readonly Checkpoint[], logMs: number): void {
    const { bucket } = this;
    if (bucket === null) return;
    this.settledTokens = stockNow(rows, bucket, this.expected.total);
    if (!this.isInPieces) return;
    for (const { author, charge, spanMs } of rows) {
      if (author !== null)
        this.#recent.charge(author, Math.min(bucket.depth, charge), logMs - spanMs, bucket, this.piece);
    }
  }

  /** Bounds the stock as if the bucket had been empty so long ago, whatever rows say. */
  beginEmpty(ms: number): void {
    const { bucket } = this;
    if (bucket === null) return;
    this.settledTokens = Math.min(this.settledTokens, tokensAfter(bucket, 0, ms, this.expected.total));
  }

  /** Log time goes on; until now everybody took what was expected, and nobody anything in a pause. */
  settle(ms: number, pauseMs: number): void {
    const { bucket } = this;
    if (bucket === null) return;
    const busyMs = ms - pauseMs;
    const after = this.tokensAfter(busyMs);
    if (busyMs > 0) this.returnable.settle(this.#passed(bucket, busyMs, after));
    this.settledTokens = tokensAfter(bucket, after, pauseMs, 0);
  }

  /**
   * Divides what was taken until the bucket held so much: what flowed in, less what is there. Each is given its part of
   * it.
   */
  #passed({ perSecond, depth }: ClusterBucket, ms: number, after: number): Passed {
    const seconds = ms / 1000;
    const { expected } = this;
    const rate = Math.max(0, perSecond - (after - this.settledTokens) / seconds);
    return { seconds, metPart: expected.metPartAt(rate), throttledPart: expected.throttledPartAt(rate), depth };
  }

  /** Tokens of the cluster's bucket so much log time after it was settled, if nobody writes a record. */
  tokensAfter(ms: number): number {
    const { bucket, settledTokens } = this;
    return bucket === null ? settledTokens : tokensAfter(bucket, settledTokens, ms, this.expected.total);
  }

  /** Milliseconds until the bucket is full that holds so many tokens, if nobody takes anything. */
  fullInMs(tokens: number): number {
    const { bucket, blocked } = this;
    if (bucket !== null) return (1000 * Math.max(0, bucket.depth - tokens)) / bucket.perSecond;
    return blocked === null || tokens >= blocked.depth ? 0 : Infinity;
  }

  /**
   * A node took so much more than was expected of it, or less; or it wants some and has had none. The debt that one may
   * leave is bounded, so that a false record costs its author's groups a second at most, or what may be taken of a full
   * bucket; and so is what it may give back. Returns how many depths of that are not believed.
   */
  charge(node: NodeKey, slot: number, units: number, logMs: number, wants: boolean): number {
    const { returnable } = this;
    const bucket = this.bucket ?? this.blocked;
    if (bucket === null || (units === 0 && !wants)) return 0;
    if (this.isInPieces) this.#recent.charge(node, units, logMs, bucket, this.piece);
    if (units === 0) return 0;
    this.#coherence ??= new Coherence();
    this.#coherence.charge(slot, units, logMs);
    if (units < 0) {
      const believed = returnable.giveBack(slot, -units, bucket.depth);
      this.settledTokens = Math.min(bucket.depth, this.settledTokens + believed);
      return (-units - believed) / bucket.depth;
    }
    const before = this.settledTokens;
    this.settledTokens = Math.max(-debtMaxOf(bucket), before - units);
    returnable.charge(slot, Math.max(0, before - this.settledTokens), bucket.depth);
    return 0;
  }

  view(view: LaneView, members: Viewed, dimension: number, piece: number, rule: DepthRule): void {
    const { direction, burst } = rule;
    this.#debtSeconds = rule.debtMs / 1000;
    const perSecond = view.target[dimension];
    if (perSecond === 0) {
      this.blocked ??= this.bucket;
      this.bucket = null;
      return;
    }
    this.blocked = null;
    if (perSecond === Infinity) {
      this.bucket = null;
      this.settledTokens = Infinity;
      return;
    }
    const depth = depthGiven(burst, direction, dimension) ?? clusterDepth(perSecond, piece);
    this.#isDivided = burst.policy === 'divided';
    const count = Math.max(1, nodesIn(view));
    this.piece = dimension === MESSAGES ? 1 : piece;
    this.isInPieces = isInPieces({ perSecond, depth }, piece, count);
    this.bucket = { perSecond, depth, pieceOfEach: this.isInPieces ? count * piece : 0 };
    this.settledTokens = Math.min(depth, this.settledTokens);
    this.expected.view(view, members.own, dimension);
    this.returnable.view(view, members.alive, dimension, this.expected, depth);
    this.#parts.set(view, count, this.bucket, this.piece, {
      share: this.expected.share,
      debtSeconds: this.#debtSeconds,
    });
    if (this.isInPieces) this.#expectNothing();
    this.#isMet = view.meetsAll && this.expected.total <= MET_RATIO * (1 - view.floorRatio) * perSecond;
    this.threshold = this.isInPieces ? piece / 2 : this.#thresholdOf(this.bucket, count, 1);
    // Costs become known together, which says nothing of what is asked.
    const alike = this.isInPieces || this.#countsCosts ? 1 : (this.#coherence?.among(count) ?? 1);
    this.#takenMost = alike === 1 ? this.threshold : this.#thresholdOf(this.bucket, count, alike);
    this.takenThreshold = this.#takenMost;
    this.shortThreshold = this.isInPieces ? SHORT_PIECE * piece : this.#shortThresholdOf(this.bucket);
  }

  /** Tests if so many nodes expect the same of all, as long as the same ones have rows. */
  isSameFor(nodes: number): boolean {
    const { bucket, piece } = this;
    if (bucket === null) return this.blocked === null;
    // A debt is in proportion to the nodes where whole pieces are given.
    return this.#isMet && !this.isInPieces && !isInPieces(bucket, piece, nodes);
  }

  /**
   * Time passes at this node.
   * @param taken units since the last call; negative where more came back than was taken
   * @param aheadMs log time since the log was settled, extrapolated
   */
  flow(taken: number, seconds: number, aheadMs: number, nodes: number, now: FlowNow, read: ReadSoFar): void {
    const { bucket } = this;
    const isBlocked = this.blocked !== null;
    const counted = this.#isUncounted ? 0 : taken;
    this.#isUncounted = bucket === null && !isBlocked;
    if (bucket === null) {
      // Since the last flow some may have been taken before the quota was blocked.
      if (isBlocked) this.account.take(counted);
      return;
    }
    const isAtRest = seconds > AT_REST_SECONDS;
    if (isAtRest) {
      this.tokens = this.tokensAfter(Math.max(0, aheadMs - 1000 * CREDIT_SECONDS));
      this.#count(bucket, 0, seconds - CREDIT_SECONDS, { ...read, mayOwe: 0, unrefused: 0 });
    }
    this.tokens = this.tokensAfter(aheadMs);
    const latelySeconds = isAtRest ? CREDIT_SECONDS : seconds;
    this.#count(bucket, counted, latelySeconds, nodes > 1 ? read : withNothingUnrefused(read));
    this.room = Math.max(0, bucket.depth - this.tokens + this.account.unread);
    this.#give(bucket, nodes, now, read.isHeldBack);
  }

  /** Charges, owes or loses what was taken. */
  #count(bucket: ClusterBucket, taken: number, seconds: number, read: ReadSoFar): void {
    const { account } = this;
    // Losses of a full bucket before something was taken do not pay for it.
    account.payBySlack(this.#slack * seconds);
    account.take(taken);
    account.pass(seconds, this.#use, this.#creditMax);
    account.pay(-account.unpublished);
    if (this.tokens >= bucket.depth) this.#payByOverflow(bucket, seconds);
    account.loseAbove(bucket.depth - this.tokens);
    this.#owe(bucket, read);
    this.#parts.pass(seconds, taken);
    this.#keepToReturnable(bucket, read.ownSlot, read.ms);
  }

  /** Pays what is owed with what a full bucket loses: nobody has to be told of that. */
  #payByOverflow(bucket: ClusterBucket, seconds: number): void {
    const { account, expected } = this;
    const slack = account.unread > 0 ? 0 : this.#slack;
    const perSecond = this.isInPieces ? bucket.perSecond * expected.part : slack;
    account.owed = Math.max(0, account.owed - perSecond * seconds);
  }

  /**
   * Charges unrefusable work to the cluster as far as refusable work could have been; the rest is this node's debt.
   *
   * *Worked:* two nodes share 300/s, one consumes 10,000/s. Its share of 150/s is expected of it, and what the bucket
   * holds above its set point is given to it; of the rest it owes a minute of 150/s, and 9,850/s are let off. The other
   * node has its 150/s.
   *
   * *Why:* while each report brought the bucket a second into debt, the other node got nothing.
   */
  #owe(bucket: ClusterBucket, { mayOwe, unrefused }: ReadSoFar): void {
    const { account, expected } = this;
    const owedByShare = this.#debtSeconds * Math.max(expected.share, bucket.perSecond * expected.part);
    const unrefusedMax = Math.max(0, owedByShare - Math.max(0, this.#fromCluster));
    // A debtor pays as `#payable` says: else clumps would take what is below the set point.
    this.letOff += account.owe(unrefused, account.owed > 0 ? 0 : this.#fromCluster, unrefusedMax);
    const debtMax = debtMaxOf(bucket);
    const owedMax = Math.max(0, this.#debtSeconds * expected.share - debtMax);
    this.letOff += account.owe(mayOwe, this.tokens + debtMax, owedMax);
  }

  /** Computes what may be taken from now on. */
  #give(bucket: ClusterBucket, nodes: number, now: FlowNow, isHeldBack: boolean): void {
    const { account } = this;
    const most = isHeldBack ? Math.min(this.threshold, this.takenThreshold) : Infinity;
    if (this.isInPieces) this.#giveInPieces(bucket, nodes, now, most);
    else this.#giveAtRates(bucket, nodes, now.roundTripMs, most);
    this.takeable -= account.pay(this.#payable(bucket)) + account.owed;
    this.#parts.bind(this, this.expected.isMember);
    // All that came back is kept until it is taken.
    this.depth = Math.max(this.depth, this.takeable);
    if (this.#isFull(bucket) && !isHeldBack) this.depth = this.takeable;
    this.#waitForDebt(bucket);
  }

  /**
   * Reads how much of what the node may take pays what it owes: whole pieces, and nothing below the set point, which is
   * there for nodes whose demand is met.
   */
  #payable(bucket: ClusterBucket): number {
    const most = Math.min(this.takeable, this.tokens - Math.max(0, this.account.unread) - setPointOf(bucket));
    return this.isInPieces ? this.piece * Math.floor(most / this.piece) : most;
  }

  /**
   * Checks whether the node may take all that it ever will: then larger work is admitted (buckets.ts). What was
   * expected of it and not taken is in the bucket, too.
   */
  #isFull({ depth }: ClusterBucket): boolean {
    return this.room <= FULL_SLACK * depth && this.expected.isMember && this.takeable >= this.piece;
  }

  /** Reads its part of a full bucket, as far as it is there; the log has given up who is no member. */
  #wholeOf(part: number): number {
    return this.expected.isMember ? part * this.tokens : 0;
  }

  /** True = a report is due where work is refused. */
  get isShort(): boolean {
    return this.bucket !== null && this.account.unpublished >= this.#shortFrom(this.bucket);
  }

  /**
   * Units beyond the expected use that this node may take before it is looked at. From `#shortFrom` on it publishes
   * only if it is refused work, so the next look is due at `takenThreshold`; beyond that a report is due already.
   */
  get untilPublished(): number {
    const { bucket, takenThreshold } = this;
    const { unpublished } = this.account;
    if (bucket === null || unpublished >= takenThreshold) return Infinity;
    const shortFrom = this.#shortFrom(bucket);
    return (unpublished < shortFrom ? Math.min(shortFrom, takenThreshold) : takenThreshold) - unpublished;
  }

  /**
   * From how many units on a node that is refused work has taken what may stay unpublished: a met node what its noise
   * may take, and a throttled one, while the bucket fills though work is refused, what it may take above the set point.
   * It would be given that much for ever otherwise, and the others would go on leaving it what a spike at one node
   * needs: where visitors come in bursts, each at one of thirty nodes, 86 % of the quota was used; now 94 %.
   */
  #shortFrom(bucket: ClusterBucket): number {
    const { account, tokens, shortThreshold } = this;
    if (!this.expected.isThrottled || this.isInPieces) return shortThreshold;
    // Until others can have read what was told last, another record would say little.
    const isOnItsWay = account.unread > account.unpublished;
    if (isOnItsWay || tokens < (setPointOf(bucket) + bucket.depth) / 2) return shortThreshold;
    return Math.min(shortThreshold, Math.max(LEAST_PIECE * this.piece, UNPUBLISHED_SHORT * this.#fromCluster));
  }

  /** True = this node leaves so much that a report will be due within NEAR_SECONDS. */
  get isReturnNear(): boolean {
    const { bucket, account } = this;
    if (bucket === null || this.#use === 0 || account.unpublished >= 0) return false;
    // A full bucket takes nothing, so it is never told.
    return this.tokens < bucket.depth && this.#use * NEAR_SECONDS - account.unpublished >= this.threshold;
  }

  #expectNothing(): void {
    this.expected.expectNothing();
    this.returnable.expectNothing();
  }

  /** The own charge does not fall below what others believe of it, as far as the log has been read. */
  #keepToReturnable(bucket: ClusterBucket, slot: number, readMs: number): void {
    const { account, returnable } = this;
    if (account.unread >= 0 && account.unpublished >= 0) return;
    let most = account.hasEntry ? returnable.of(slot) : 0;
    if (account.hasEntry && account.unread < -most && readMs > 0) {
      most = returnable.later(slot, this.#passed(bucket, readMs, this.tokensAfter(readMs)));
    }
    account.keepTo(most, bucket.depth);
  }

  /** While the bucket is so deep in debt that nobody is given anything, a client waits until that is paid back, too. */
  #waitForDebt(bucket: ClusterBucket): void {
    const missing = nothingBelow(bucket) - this.tokens;
    // In pieces the debt is in what is takeable.
    if (this.isInPieces || missing <= 0 || this.takeable >= this.piece) return;
    this.takeable -= (missing / bucket.perSecond) * this.comesBackPerSecond;
  }

  /**
   * Units that may stay unpublished: see UNPUBLISHED_DEPTHS, NOISE_SECONDS and UNPUBLISHED_ALIKE.
   *
   * @param alike how many nodes charge alike
   */
  #thresholdOf({ perSecond, depth }: ClusterBucket, nodes: number, alike: number): number {
    const noise = Math.sqrt((NOISE_SECONDS / alike) * this.expected.ownAt(perSecond) * this.piece);
    const part = (UNPUBLISHED_DEPTHS * depth) / (nodes + UNPUBLISHED_ALIKE * (alike - 1));
    return Math.max(LEAST_PIECE * this.piece, part, Math.min(NOISE_DEPTHS * depth, noise));
  }

  /**
   * A node that is met publishes before it has used up what its noise may take: else it is refused before it is due.
   */
  #shortThresholdOf({ perSecond }: ClusterBucket): number {
    if (this.expected.isThrottled || this.#countsCosts) return this.threshold;
    const noise = noiseOf(this.expected.ownAt(perSecond), this.piece);
    return Math.max(LEAST_PIECE * this.piece, Math.min(this.threshold, UNPUBLISHED_SHORT * noise));
  }

  /** Bounds what was not taken when it was expected, and may be taken later without a report. */
  #creditMaxOf({ depth }: ClusterBucket, nodes: number): number {
    const creditSeconds = this.#countsCosts ? CREDIT_SECONDS_OF_COSTS : CREDIT_SECONDS;
    const least = Math.max(CREDIT_PIECES * this.piece, creditSeconds * this.#use);
    if (this.#countsCosts) return least;
    return Math.max(least, Math.min((CREDIT_DEPTHS * depth) / nodes, noiseOf(this.#use, this.piece)));
  }

  /** @param atMost of the cluster's bucket */
  #giveAtRates(bucket: ClusterBucket, nodes: number, roundTripMs: number, atMost: number): void {
    const { account, expected, piece } = this;
    const rate = correctedRate(bucket, this.tokens);
    const used = Math.min(expected.total, rate);
    const slack = Math.max(0, Math.min(rate, bucket.perSecond) - used) * expected.part;
    this.#use = expected.ownAt(rate);
    // A refill of the cluster's bucket cannot pay for anything else.
    this.#slack = this.tokens >= bucket.depth ? slack : 0;
    this.#creditMax = this.#creditMaxOf(bucket, nodes);
    const use = { expected, used, ownUse: this.#use, piece, isDivided: this.#isDivided || roundTripMs > SLOW_MS };
    const most = expected.isMember ? Math.min(atMost, fromCluster(bucket, this.tokens, nodes, use)) : 0;
    this.#fromCluster = most;
    // A node that waits with its report until it may take no more is refused while others leave tokens; where somebody
    // is throttled there are none.
    const isLate = expected.total < bucket.perSecond && most < this.#takenMost;
    const isEarly = (isDeep(bucket, this.tokens) || isLate) && !this.#countsCosts && this.tokens < bucket.depth;
    const early = isEarly ? Math.max(LEAST_PIECE * piece, UNPUBLISHED_EARLY * most) : Infinity;
    this.takenThreshold = Math.min(this.#takenMost, early);
    const part = wholeOf(nodes, use.isDivided);
    // Work that turns out to cost less did not come back to be taken again.
    const takeable = account.takeable(most, this.#wholeOf(part), this.#countsCosts ? 0 : part * bucket.depth);
    // Nobody takes more at once than a full bucket holds, but what it was expected to take, and what cost less.
    const atOnce = this.#countsCosts ? Infinity : Math.max(bucket.depth, this.#creditMax);
    this.takeable = Math.min(atOnce, takeable);
    // Work as large as the bucket waits until that is full, not until a node may take what little there is.
    const whole = used < bucket.perSecond / 2 && !this.#countsCosts ? part * bucket.depth : 0;
    this.depth = Math.min(atOnce, Math.max(most + this.#creditMax, whole));
    this.perSecond = this.#use + (account.unread > 0 ? this.#slack : 0);
    this.comesBackPerSecond = Math.max(this.perSecond, expected.share);
  }

  #giveInPieces(bucket: ClusterBucket, nodes: number, now: FlowNow, atMost: number): void {
    const turn: PieceTurn = {
      recent: this.#recent,
      own: now.own,
      logMs: now.logMs,
      roundTripMs: now.roundTripMs,
      isDivided: this.#isDivided,
      nodes,
      isOwing: this.account.owed > 0,
      crowdsOut: this.expected.crowdsOut,
    };
    this.isKnown = this.#recent.isKnown(now.own, now.logMs, bucket);
    const pieces = this.expected.isMember ? wholePieces(bucket, this.tokens, this.piece, turn) : 0;
    const most = Math.min(atMost, pieces);
    this.#fromCluster = this.piece * Math.floor(most / this.piece);
    this.#use = 0;
    // As at rates: what a full bucket loses pays for what stays unpublished.
    const isFull = this.tokens >= bucket.depth;
    this.#slack = isFull ? bucket.perSecond * this.expected.part : 0;
    this.takenThreshold = Math.max(this.threshold, isFull ? (UNPUBLISHED_FULL * bucket.depth) / nodes : 0);
    this.#creditMax = 0;
    const part = wholeOf(nodes, turn.isDivided);
    this.takeable = this.account.takeable(most, this.#wholeOf(part), part * bucket.depth);
    // Work larger than what a full bucket gives to this node waits until it is full.
    this.depth = Math.max(this.piece, most, wholePieces(bucket, bucket.depth, this.piece, turn));
    // Until a record says otherwise, what flows in makes up the next piece.
    const isFilling = pieces < this.piece && this.expected.isMember && atMost === Infinity;
    this.perSecond = isFilling ? bucket.perSecond : 0;
    this.comesBackPerSecond = bucket.perSecond;
  }
}

/** The alive nodes, and the participant of the view that stands for this one; −1 = the log counts it as dead. */
export interface Viewed {
  readonly alive: readonly AliveNode[];
  readonly own: number;
}

type FlowNow = Pick<PieceTurn, 'own' | 'logMs' | 'roundTripMs'>;

/** Log time read since the slot was settled; and this node's slot among the members. */
export interface ReadSoFar {
  /**
   * Units of refusable work taken since the last flow that may be owed; what older work turns out to cost may not
   * (decision 0022).
   */
  readonly mayOwe: number;
  /** Units of unrefusable work taken since the last flow. */
  readonly unrefused: number;
  readonly ms: number;
  readonly ownSlot: number;
  /** True = the node's budget holds back the report that has to tell of the lane. */
  readonly isHeldBack: boolean;
}

/** Beside no other node nobody else is to be given what a debt of the cluster would take. */
function withNothingUnrefused(read: ReadSoFar): ReadSoFar {
  return read.unrefused === 0 ? read : { ...read, mayOwe: read.mayOwe + read.unrefused, unrefused: 0 };
}

/** Part of a depth by which sums of floats differ. */
const FULL_SLACK = 1e-9;
/** With more, sums of floats might say of some nodes that they are throttled. Less views more lanes when nodes come. */
const MET_RATIO = 0.9;
/**
 * All nodes together leave one depth unpublished, however many they are. With a part that shrinks with √N,
 * thirty nodes whose demand doubled at once took 4.9 % too much in some 5 s; with this, 2.5 %.
 */
const UNPUBLISHED_DEPTHS = 1;
/**
 * But a steady node publishes once in two seconds: the noise of so much time may stay unpublished. Thirty nodes of 30/s
 * each would write 2.3 records per second otherwise, and write 0.6.
 */
const NOISE_SECONDS = 2;
/**
 * And no more of it than a busy bucket has room for above its set point. What a node leaves beyond that is lost before
 * it is told: with a depth of 60 ms of 300/s, and demand that moved from node to node, a fifth of the quota.
 */
const NOISE_DEPTHS = 0.3;
/**
 * If the nodes' charges go the same way (Coherence), what they have taken unpublished adds up: then a third of it
 * makes a report due, and of N nodes' noise a part of √N. Recorded traffic that was spread over the nodes in turn was
 * 5.2 to 7.5 % above the quota in some 5 s without it. What they have left is told as before: told as early, demand
 * that comes and goes at all nodes within two deliveries was admitted 8 % above the quota.
 */
const UNPUBLISHED_ALIKE = 2;
/** A part of a piece that stays unpublished keeps a node from the next piece: it is told where work is refused. */
const SHORT_PIECE = 0.1;
/** So many depths stay unpublished, where pieces are given, at all nodes while the bucket is full. Less writes more. */
const UNPUBLISHED_FULL = 0.25;
/** The part of what a node may take of the cluster's bucket that it leaves unpublished where work is refused. */
const UNPUBLISHED_SHORT = 0.7;
/** The same where none is refused yet. More is told later, and has nodes refused that others leave tokens. */
const UNPUBLISHED_EARLY = 0.9;
/** A report of less than a piece of work would say nothing. */
const LEAST_PIECE = 0.9;
/** So often a lane at rest is looked at, at the most often (LookList). */
const NEAR_SECONDS = 0.5;
/** With slower news a full bucket is divided in advance: three depths in all would be 4 % in some 5 s. */
const SLOW_MS = 120;
/**
 * Seconds for which what was not taken may be taken without a report. Readers that poll every 100 ms find what has come
 * since; with 50 ms they found half of it, and 88 % of the quota was used. With 200 ms thirty nodes exceed the central
 * bucket's worst second by 0.04 instead of 0.02.
 */
const CREDIT_SECONDS = 0.15;
/**
 * A lane that was not looked at for so long was at rest (LookList): what it took, it took just now. What was expected
 * of it before does not pay for that. Less asks a lane that takes turns with many others twice.
 */
const AT_REST_SECONDS = 0.5;
const CREDIT_PIECES = 2;
/**
 * And where a bucket is deep, what the noise of a node leaves in a lull, as long as that is a tenth of a depth at all
 * nodes together (decision 0070). A depth that nobody has configured is never deep enough for it.
 */
const CREDIT_DEPTHS = 0.1;
/**
 * The same where costs are counted. What was not taken while a message cost 1 may be taken when it costs 10: that is
 * half a second of the quota here.
 */
const CREDIT_SECONDS_OF_COSTS = 0.05;
