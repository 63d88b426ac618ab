import { ROUNDING_ERROR } from '../base/constants.js';
import { depthGiven } from '../base/settings.js';
import { MESSAGES, type NodeKey } from '../base/vocabulary.js';
import { type LaneView, nodesIn } from '../convergence/strategy.js';
import { type Checkpoint, stockNow } from './checkpoint.js';
import {
  type ClusterBucket,
  correctedRate,
  debtMaxOf,
  isSlow,
  nothingBelow,
  setPointOf,
  tokensAfter,
} from './cluster-bucket.js';
import { clusterDepth, type DepthRule } from './cluster-depth.js';
import { Coherence } from './coherence.js';
import {
  ADVANCE_DEPTHS,
  AT_REST_MS,
  CREDIT_MS,
  NEARLY_ALL_RATIO,
  UNPUBLISHED_DEPTHS,
  UNPUBLISHED_NOISE_DEPTHS,
  UNPUBLISHED_NOISE_SECONDS,
  UNPUBLISHED_SHORT_RATIO,
} from './constants.js';
import { ExpectedUse } from './expected-use.js';
import { fromCluster, isDeep, noiseOf, wholeOf } from './from-cluster.js';
import { isFarAbove, isFarBelow, isInPieces, type PieceTurn, wholePieces } from './in-pieces.js';
import { OwnAccount } from './own-account.js';
import { OwnParts } from './own-parts.js';
import { RecentUse } from './recent-use.js';
import { type AliveNode, type Passed, Returnable } from './returnable.js';

/**
 * Follows one dimension of a lane: stock, expected use, and this node's units.
 *
 *     a lane is served  restore: the stock by the rows of the log, also after a restart: the node keeps none itself
 *     rows change       view: rate, depth, whole pieces or not, the use that is expected of each node
 *     log time passes   settle: the stock rises by the inflow, and falls by the expected use
 *     a record is read  charge: it falls by what the author took beyond that, or rises by what it gives back
 *     a round looks     flow: #count charges this node for what it took (OwnAccount), then #give says what it may take
 *                       until the next round: #giveAtRates (fromCluster), #giveInPieces (wholePieces), or #giveAll
 */
export class SlotTokens {
  readonly account = new OwnAccount();
  readonly expected = new ExpectedUse();
  /** Null where the dimension is unlimited or blocked. */
  bucket: ClusterBucket | null = null;
  /**
   * The bucket before the dimension was blocked: nothing flows, and tokens and debts are kept. A debt let off at each
   * block would raise a quota that is blocked again and again.
   */
  blocked: ClusterBucket | null = null;
  /** Tokens of the cluster's bucket at the last settlement; Infinity = full, whatever its depth, until `restore`. */
  settledTokens = Infinity;
  /** Tokens now, extrapolated with this node's clock. */
  tokens = 0;
  isInPieces = false;
  /** Units of a piece of work. */
  piece = 1;
  /** Units for this node: now, at most later; below, units per second. */
  takeable = 0;
  depth = 0;
  perSecond = 0;
  /** Units per second that others leave to this node beside them: what enforcers may rely on. */
  leftPerSecond = 0;
  /** Units per second that come back to a node without tokens: the rate of a client's wait. */
  comesBackPerSecond = 0;
  /** Units left, unpublished, from which on a report is due … */
  threshold = 0;
  /** … or units taken, unpublished … */
  takenThreshold = 0;
  /** … or units taken, unpublished, while work is refused. */
  shortThreshold = 0;
  /** True = in pieces, the log has this node's recent record. */
  isKnown = false;
  /** Units of unrefusable work beyond those that may be owed. */
  letOff = 0;
  /** Units of room in the cluster's bucket, this node's unread use included. */
  room = Infinity;
  /** Units of the largest work above `depth`, Infinity = any; growth per second; milliseconds until any may be. */
  largest = Infinity;
  largestPerSecond = 0;
  anyInMs = 0;
  /** True while the expected use is independent of the nodes' number. */
  #isMet = false;
  /** Units; the least in a row, Infinity without any. */
  #leastStock = Infinity;
  /** Units of this node's requests lately, where the bucket is in pieces. */
  #requestSize = 0;
  /** True = this node has the bucket alone since the last flow. */
  #isAlone = false;
  /** Tokens at the last flow, less what records have charged since. */
  #tokensBefore = 0;
  /** True = the expected use has changed since the last flow. */
  #isViewed = false;
  readonly returnable = new Returnable();
  readonly #recent = new RecentUse();
  /** Null until something is charged. */
  #coherence: Coherence | null = null;
  readonly #parts = new OwnParts();
  #isDivided = false;
  /**
   * Units per second expected of this node since the last flow; below, its part of the slack that a full bucket loses.
   */
  #use = 0;
  #slack = 0;
  /**
   * Units of debt that a record may make. After a quota is lowered what was granted by the former one is still to be
   * read: then no more than a debt made at the change would still be.
   *
   * *Worked:* two nodes take 60 of 60 each, unread, as 600 per minute are lowered to 60, depth 6: both are charged
   * whole, so the bucket is full after two minutes. With the bound of 4 depths it would be after 30 s.
   */
  #debtMost = 0;
  #debtLeast = 0;
  /** Seconds of this node's share that unrefusable work may owe. */
  #debtSeconds = 0;
  #creditMax = 0;
  /** Units of the cluster's bucket that this node may take unread. */
  #fromCluster = 0;
  /** The most that `takenThreshold` may be. */
  #takenMost = 0;
  /** True while the bucket is one of a cost quota. */
  #countsCosts = false;
  /** True while use is not counted, because there is no quota. */
  #isUncounted: boolean;

  constructor(isUncounted = false) {
    this.#isUncounted = isUncounted;
  }

  /** Sets the cost per message, and keeps the cost in the bucket; 0 = costs do not count. */
  countCosts(before: number, costPerMessage: number): void {
    this.#countsCosts = costPerMessage > 0;
    if (before > 0 && costPerMessage > 0) this.settledTokens *= before / costPerMessage;
  }

  /** Restores the stock from the rows of the lane. */
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

  /** Bounds the stock to that of a bucket empty this long ago. */
  beginEmpty(ms: number): void {
    const { bucket } = this;
    if (bucket === null) return;
    this.settledTokens = Math.min(this.settledTokens, tokensAfter(bucket, 0, ms, this.expected.total));
  }

  /** Lets log time pass: all took their expected use, and nothing in pauses. */
  settle(ms: number, pauseMs: number): void {
    const { bucket } = this;
    if (bucket === null) return;
    const busyMs = ms - pauseMs;
    this.#debtMost = Math.max(this.#debtLeast, this.#debtMost - (bucket.perSecond * ms) / 1000);
    const after = this.tokensAfter(busyMs);
    if (busyMs > 0) this.returnable.settle(this.#passed(bucket, busyMs, after));
    this.settledTokens = tokensAfter(bucket, after, pauseMs, 0);
    if (this.isInPieces && this.settledTokens >= bucket.depth) this.#recent.full();
  }

  /** Divides the use of a time among the nodes: inflow less the rise of the stock. */
  #passed(bucket: ClusterBucket, ms: number, after: number): Passed {
    const seconds = ms / 1000;
    const { expected } = this;
    const rate = Math.max(0, usedOver(bucket, after - this.settledTokens, seconds) / seconds);
    const { depth } = bucket;
    return { seconds, metPart: expected.metPartAt(rate), throttledPart: expected.throttledPartAt(rate), depth };
  }

  /** Tokens of the cluster's bucket this long after its settlement, without records. */
  tokensAfter(ms: number): number {
    const { bucket, settledTokens } = this;
    return bucket === null ? settledTokens : tokensAfter(bucket, settledTokens, ms, this.expected.total);
  }

  /** Milliseconds until a bucket with these tokens is full, without any use. */
  fullInMs(tokens: number): number {
    const { bucket, blocked } = this;
    if (bucket !== null) return (1000 * Math.max(0, bucket.depth - tokens)) / bucket.perSecond;
    return blocked === null || tokens >= blocked.depth ? 0 : Infinity;
  }

  /**
   * Charges use beyond the expected one; negative gives back, 0 is a wait. The debt of one charge is bounded: a false
   * record costs its author's groups a second at most, or the most that may be taken of a full bucket. Units given back
   * are bounded, too. Returns the depths given back that are not accepted.
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
      this.#charge(Math.min(bucket.depth, this.settledTokens + believed));
      return (-units - believed) / bucket.depth;
    }
    const before = this.settledTokens;
    this.#charge(Math.max(Math.min(before, -this.#debtMost), before - units));
    returnable.charge(slot, Math.max(0, before - this.settledTokens), bucket.depth);
    return 0;
  }

  #charge(tokens: number): void {
    this.#tokensBefore += tokens - this.settledTokens;
    this.settledTokens = tokens;
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
      this.#debtMost = 0;
      return;
    }
    const depth = depthGiven(burst, direction, dimension) ?? clusterDepth(perSecond, piece);
    this.#isDivided = burst.policy === 'divided';
    const count = Math.max(1, nodesIn(view));
    this.piece = dimension === MESSAGES ? 1 : piece;
    this.settledTokens = Math.min(depth, this.settledTokens);
    this.#isViewed = true;
    this.expected.view(view, members.own, dimension);
    this.#isMet = view.meetsAll && this.expected.total <= NEARLY_ALL_RATIO * (1 - view.floorRatio) * perSecond;
    this.#leastStock = view.leastStock[dimension];
    this.isInPieces = this.#needsPieces({ perSecond, depth }, piece, count);
    this.bucket = { perSecond, depth, pieceOfEach: this.isInPieces ? count * piece : 0 };
    this.#boundDebt(this.bucket);
    this.returnable.view(view, members.alive, dimension, this.expected, depth);
    const own = { share: this.expected.share, debtSeconds: this.#debtSeconds };
    this.#parts.set(view, count, this.bucket, this.piece, own);
    if (this.isInPieces) for (const figures of [this.expected, this.returnable]) figures.expectNothing();
    this.threshold = this.isInPieces ? piece / 2 : this.#thresholdOf(this.bucket, count, 1);
    // Costs become known together, which shows no common demand.
    const alike = this.isInPieces || this.#countsCosts ? 1 : (this.#coherence?.among(count) ?? 1);
    this.#takenMost = alike === 1 ? this.threshold : this.#thresholdOf(this.bucket, count, alike);
    this.takenThreshold = this.#takenMost;
    // A tenth of a piece, unpublished, keeps the node from its next one.
    this.shortThreshold = this.isInPieces ? 0.1 * piece : this.#shortThresholdOf(this.bucket);
  }

  #boundDebt(bucket: ClusterBucket): void {
    this.#debtLeast = debtMaxOf(bucket);
    this.#debtMost = Math.max(this.#debtMost, this.#debtLeast);
  }

  /** Tests if this number of nodes keeps all expected use. The nodes with rows stay the same. */
  isSameFor(nodes: number): boolean {
    const { bucket, piece } = this;
    if (bucket === null) return this.blocked === null;
    // In pieces a debt is in proportion to the nodes.
    return this.#isMet && !this.isInPieces && !this.#needsPieces(bucket, piece, nodes);
  }

  /** Tests if units are given in whole pieces. */
  #needsPieces(bucket: ClusterBucket, piece: number, nodes: number): boolean {
    const { total, isAnyMet } = this.expected;
    const wanted = { total, isAnyMet, leastStock: this.#leastStock };
    if (!isInPieces(bucket, piece, nodes) || isFarAbove(bucket, piece, nodes, wanted)) return false;
    const isCalm = this.#isMet && this.settledTokens >= bucket.depth / 2;
    return !(isCalm && isFarBelow(bucket, piece, nodes, total));
  }

  /**
   * Lets time pass at this node.
   * @param taken units since the last call; negative where more was given back
   * @param aheadMs log time since the log was settled, extrapolated
   */
  flow(taken: number, seconds: number, aheadMs: number, nodes: number, now: FlowNow, read: ReadSoFar): void {
    const { bucket } = this;
    const isBlocked = this.blocked !== null;
    const counted = this.#isUncounted ? 0 : taken;
    this.#isUncounted = bucket === null && !isBlocked;
    if (bucket === null) {
      // Since the last flow, units may have been taken before the quota was blocked.
      if (isBlocked) this.account.take(counted);
      return;
    }
    const isAtRest = seconds > AT_REST_SECONDS && !this.#isAlone;
    if (isAtRest) {
      this.tokens = this.tokensAfter(Math.max(0, aheadMs - CREDIT_MS));
      this.#count(bucket, 0, seconds - CREDIT_SECONDS, 0, 0, read);
      this.#tokensBefore = this.tokens;
    }
    this.tokens = this.tokensAfter(aheadMs);
    const latelySeconds = isAtRest ? CREDIT_SECONDS : seconds;
    // A node alone charges unrefusable work as any other: nobody else needs the tokens.
    const unrefused = nodes > 1 ? read.unrefused : 0;
    this.#count(bucket, counted, latelySeconds, read.mayOwe + read.unrefused - unrefused, unrefused, read);
    this.room = Math.max(0, bucket.depth - this.tokens + this.account.unread);
    this.#requestSize = read.requestSize;
    this.#isAlone = this.#ownsAll(nodes);
    this.#give(bucket, nodes, now, read.isHeldBack);
    this.#tokensBefore = this.tokens;
    this.#isViewed = false;
  }

  /** Tests if all of the bucket is this node's: then it counts as one bucket does. */
  #ownsAll(nodes: number): boolean {
    return nodes === 1 && this.expected.isMember && !this.isInPieces && !this.#countsCosts;
  }

  /**
   * Counts the bucket of a node alone exactly. What the log expected of it is the inflow less the rise of the tokens:
   *
   *     stock = tokens − unread = min(depth, stock before + inflow) − taken
   */
  #countAlone(bucket: ClusterBucket, taken: number, seconds: number): void {
    const { account, tokens } = this;
    const expected = usedOver(bucket, tokens - this.#tokensBefore, seconds);
    const least = tokens - bucket.depth;
    account.setUnread(Math.max(least, Math.max(least, account.unread - expected) + taken), taken);
  }

  /**
   * Computes this node's expected use over a time, as others count it: its part of the inflow less the rise of the
   * tokens. The rate at the begin is higher while a deep bucket falls; the rest would be given back as unused.
   *
   * *Worked:* 20/s, depth 1,000, 480 tokens fall to 363 within 0.5 s: 254/s, and 480/s at the begin.
   */
  #useOver(bucket: ClusterBucket, seconds: number): number {
    if (this.#isViewed || seconds <= 0) return this.#use;
    const used = usedOver(bucket, this.tokens - this.#tokensBefore, seconds);
    return this.expected.ownAt(Math.max(0, used / seconds));
  }

  /** Charges, owes or loses the units taken. @param mayOwe and `unrefused`: see ReadSoFar */
  #count(
    bucket: ClusterBucket,
    taken: number,
    seconds: number,
    mayOwe: number,
    unrefused: number,
    { ownSlot, ms }: ReadSoFar,
  ): void {
    const { account } = this;
    if (this.#isAlone) {
      this.#countAlone(bucket, taken, seconds);
    } else {
      // Losses of a full bucket before some units were taken do not pay for them.
      account.payBySlack(this.#slack * seconds);
      account.take(taken);
      account.pass(seconds, this.#useOver(bucket, seconds), this.#creditMax);
    }
    account.pay(-account.unpublished);
    if (this.tokens >= bucket.depth) this.#payByOverflow(bucket, seconds);
    if (!this.#isAlone) account.loseAbove(bucket.depth - this.tokens);
    this.#owe(bucket, mayOwe, unrefused);
    this.#parts.pass(seconds, taken);
    this.#keepToReturnable(bucket, ownSlot, ms);
  }

  /** Pays a debt with the loss of a full bucket, without report. */
  #payByOverflow(bucket: ClusterBucket, seconds: number): void {
    const { account, expected } = this;
    const slack = account.unread > 0 ? 0 : this.#slack;
    const perSecond = this.isInPieces ? bucket.perSecond * expected.part : slack;
    account.owed = Math.max(0, account.owed - perSecond * seconds);
  }

  /**
   * Charges unrefusable work to the cluster within this node's bounds; the rest is its debt.
   *
   * *Worked:* two nodes share 300/s, one consumes 10,000/s. Its share of 150/s is expected of it, and it is given the
   * bucket's tokens above the set point; of the rest it owes a minute of 150/s, and 9,850/s are let off. The other node
   * has its 150/s.
   *
   * *Why:* if each report brought the bucket a second into debt, the other node would get nothing.
   */
  #owe(bucket: ClusterBucket, mayOwe: number, unrefused: number): void {
    const { account, expected } = this;
    const owedByShare = this.#debtSeconds * Math.max(expected.share, bucket.perSecond * expected.part);
    const unrefusedMax = Math.max(0, owedByShare - Math.max(0, this.#fromCluster));
    // A debtor pays as `#payable` says: else clumps would take the tokens below the set point.
    this.letOff += account.owe(unrefused, account.owed > 0 ? 0 : this.#fromCluster, unrefusedMax);
    const owedMax = Math.max(0, this.#debtSeconds * expected.share - this.#debtLeast);
    this.letOff += account.owe(mayOwe, this.tokens + this.#debtMost, owedMax);
  }

  /** Computes the units that may be taken from now on. */
  #give(bucket: ClusterBucket, nodes: number, now: FlowNow, isHeldBack: boolean): void {
    const { account } = this;
    const most = isHeldBack ? Math.min(this.threshold, this.takenThreshold) : Infinity;
    if (this.isInPieces) this.#giveInPieces(bucket, nodes, now, most);
    else this.#giveAtRates(bucket, nodes, now.isReadLate, most);
    this.leftPerSecond = this.perSecond;
    if (this.#isAlone) this.#giveAll(bucket, most);
    this.takeable -= account.pay(this.#payable(bucket)) + account.owed;
    this.#parts.bind(this, this.expected.isMember);
    // All units given back are kept until they are taken.
    this.depth = Math.max(this.depth, this.takeable);
    const isFull = this.#isFull(bucket);
    if (isFull && !isHeldBack) this.depth = this.takeable;
    this.#boundLargest(bucket, isFull);
    if (!this.#isAlone) this.#waitForDebt(bucket);
  }

  /**
   * Bounds work above `depth` in a bucket that is not full: by what is in a slow one. Of others whoever asked for more
   * than there was asks again once that is paid.
   */
  #boundLargest(bucket: ClusterBucket, isFull: boolean): void {
    const { account, tokens, comesBackPerSecond } = this;
    const isBySize = isSlow(bucket);
    const ownUnits = Math.max(0, account.unread) + account.owed;
    if (isFull || (!isBySize && tokens >= 0)) this.largest = Infinity;
    else this.largest = isBySize ? tokens - account.unread : 0;
    this.largestPerSecond = isBySize ? Math.min(bucket.perSecond, comesBackPerSecond) : 0;
    this.anyInMs = isBySize ? Infinity : (1000 * (bucket.depth - tokens + ownUnits)) / bucket.perSecond;
  }

  /**
   * Computes the units that pay a debt: whole pieces, and nothing below the set point, which is there for met nodes.
   */
  #payable(bucket: ClusterBucket): number {
    const most = Math.min(this.takeable, this.tokens - Math.max(0, this.account.unread) - setPointOf(bucket));
    return this.isInPieces ? this.piece * Math.floor(most / this.piece) : most;
  }

  /**
   * Tests if no more units will come: then larger work is admitted (buckets.ts). Unused expected use is in the bucket.
   */
  #isFull({ depth }: ClusterBucket): boolean {
    return this.room <= ROUNDING_ERROR * depth && this.expected.isMember && this.takeable >= this.piece;
  }

  /** This node's part of a full bucket; 0 for one given up by the log. */
  #wholeOf(part: number): number {
    return this.expected.isMember ? part * this.tokens : 0;
  }

  /** True = a report is due if work is refused. */
  get isShort(): boolean {
    return this.bucket !== null && this.account.unpublished >= this.#shortFrom(this.bucket);
  }

  /**
   * Units beyond the expected use until the next look is due: at `#shortFrom`, from where on a report is due if work is
   * refused, then at `takenThreshold`, where it is due in any case.
   */
  get untilPublished(): number {
    const { bucket, takenThreshold } = this;
    const { unpublished } = this.account;
    if (bucket === null || unpublished >= takenThreshold) return Infinity;
    const shortFrom = this.#shortFrom(bucket);
    return (unpublished < shortFrom ? Math.min(shortFrom, takenThreshold) : takenThreshold) - unpublished;
  }

  /**
   * Units taken, unpublished, from which on refused work makes a report due. A met node may take its noise; a throttled
   * one, while the bucket fills although work is refused, its part above the set point. Otherwise it would be given
   * that part for ever, and the others would go on leaving it the tokens for a spike at one node.
   */
  #shortFrom(bucket: ClusterBucket): number {
    const { account, tokens, shortThreshold } = this;
    if (!this.expected.isThrottled || this.isInPieces) return shortThreshold;
    // Until others can have read the last record, another one would add little.
    const isOnItsWay = account.unread > account.unpublished;
    if (isOnItsWay || tokens < (setPointOf(bucket) + bucket.depth) / 2) return shortThreshold;
    return Math.min(
      shortThreshold,
      Math.max(NEARLY_ALL_RATIO * this.piece, UNPUBLISHED_SHORT_RATIO * this.#fromCluster),
    );
  }

  /** True = unused units make a report due before the next look. */
  get isReturnNear(): boolean {
    const { bucket, account } = this;
    if (bucket === null || this.#use === 0 || account.unpublished >= 0) return false;
    // A full bucket takes nothing, so nothing is published.
    return this.tokens < bucket.depth && this.#use * AT_REST_SECONDS - account.unpublished >= this.threshold;
  }

  /** Keeps the charge above the bound that others compute from the log. */
  #keepToReturnable(bucket: ClusterBucket, slot: number, readMs: number): void {
    const { account, returnable } = this;
    if (account.unread >= 0 && account.unpublished >= 0) return;
    let most = account.hasEntry ? returnable.of(slot) : 0;
    if (account.hasEntry && account.unread < -most && readMs > 0) {
      most = returnable.later(slot, this.#passed(bucket, readMs, this.tokensAfter(readMs)));
    }
    account.keepTo(most, bucket.depth);
  }

  /** Makes clients wait until a debt that blocks all is paid. */
  #waitForDebt(bucket: ClusterBucket): void {
    const missing = nothingBelow(bucket) - this.tokens;
    // In pieces `takeable` contains the debt.
    if (this.isInPieces || missing <= 0 || this.takeable >= this.piece) return;
    this.takeable -= (missing / bucket.perSecond) * this.comesBackPerSecond;
  }

  /**
   * Computes the units that may stay unpublished: a depth of all nodes together, or noise. What N nodes
   * charge alike (Coherence) adds up: then it is a third of the depth, or 1/√N of their noise, else traffic spread in
   * turn would exceed the quota. Unused units are not counted as alike: published earlier, they would let demand that
   * comes and goes at all nodes exceed it.
   *
   * @param alike how many nodes charge alike
   */
  #thresholdOf({ perSecond, depth }: ClusterBucket, nodes: number, alike: number): number {
    const noise = Math.sqrt((UNPUBLISHED_NOISE_SECONDS / alike) * this.expected.ownAt(perSecond) * this.piece);
    const part = depth / (nodes + ADVANCE_DEPTHS * (alike - 1));
    return Math.max(NEARLY_ALL_RATIO * this.piece, part, Math.min(UNPUBLISHED_NOISE_DEPTHS * depth, noise));
  }

  /** Units after which a met node publishes if work is refused: before its noise is used up. */
  #shortThresholdOf({ perSecond }: ClusterBucket): number {
    if (this.expected.isThrottled || this.#countsCosts) return this.threshold;
    const noise = noiseOf(this.expected.ownAt(perSecond), this.piece);
    return Math.max(NEARLY_ALL_RATIO * this.piece, Math.min(this.threshold, UNPUBLISHED_SHORT_RATIO * noise));
  }

  /** Bounds the expected use that may be taken later without a report. */
  #creditMaxOf({ depth }: ClusterBucket, nodes: number): number {
    const creditSeconds = this.#countsCosts ? CREDIT_SECONDS_OF_COSTS : CREDIT_SECONDS;
    const least = Math.max(2 * this.piece, creditSeconds * this.#use);
    if (this.#countsCosts) return least;
    return Math.max(least, Math.min((UNPUBLISHED_DEPTHS * depth) / nodes, noiseOf(this.#use, this.piece)));
  }

  /** @param atMost units of the cluster's bucket */
  #giveAtRates(bucket: ClusterBucket, nodes: number, isReadLate: boolean, atMost: number): void {
    const { account, expected, piece } = this;
    const rate = correctedRate(bucket, this.tokens);
    const used = Math.min(expected.total, rate);
    const slack = Math.max(0, Math.min(rate, bucket.perSecond) - used) * expected.part;
    this.#use = expected.ownAt(rate);
    // A refill of the cluster's bucket pays for nothing else.
    this.#slack = this.tokens >= bucket.depth ? slack : 0;
    this.#creditMax = this.#creditMaxOf(bucket, nodes);
    const use = { expected, used, ownUse: this.#use, piece, isDivided: this.#isDivided || isReadLate };
    const most = expected.isMember ? Math.min(atMost, fromCluster(bucket, this.tokens, nodes, use)) : 0;
    this.#fromCluster = most;
    // A node that reports only when it may take no more is refused while others leave tokens; where a node is throttled
    // there are none.
    const isLate = expected.total < bucket.perSecond && most < this.#takenMost;
    const isEarly = (isDeep(bucket, this.tokens) || isLate) && !this.#countsCosts && this.tokens < bucket.depth;
    const early = isEarly ? NEARLY_ALL_RATIO * Math.max(piece, most) : Infinity;
    this.takenThreshold = Math.min(this.#takenMost, early);
    const part = wholeOf(nodes, use.isDivided);
    const takeable = account.takeable(most, this.#wholeOf(part), part * bucket.depth);
    // No node takes more at once than a full bucket holds, except its expected use, and units that cost less.
    const atOnce = this.#countsCosts ? Infinity : Math.max(bucket.depth, this.#creditMax);
    this.takeable = Math.min(atOnce, takeable);
    // Work as large as the bucket waits until the bucket is full, not until a node may take the few tokens there.
    const whole = used < bucket.perSecond / 2 && !this.#countsCosts ? part * bucket.depth : 0;
    this.depth = Math.min(atOnce, Math.max(most + this.#creditMax, whole));
    this.perSecond = this.#use + (account.unread > 0 ? this.#slack : 0);
    this.comesBackPerSecond = Math.max(this.perSecond, expected.share);
  }

  /** Gives a node alone all there is: nobody else needs what is below the set point. */
  #giveAll({ depth, perSecond }: ClusterBucket, atMost: number): void {
    this.takeable = Math.min(atMost, this.tokens - this.account.unread);
    this.depth = depth;
    this.perSecond = perSecond;
    this.comesBackPerSecond = perSecond;
  }

  /**
   * Returns a piece of this node's requests' size, at most an advance. Every node may take one at once, also where the
   * bucket holds no more: all of it stays within three depths.
   */
  #pieceOf({ depth }: ClusterBucket, nodes: number): number {
    return Math.max(this.piece, Math.min(this.#requestSize, wholeOf(nodes, false) * depth));
  }

  #giveInPieces(bucket: ClusterBucket, nodes: number, now: FlowNow, atMost: number): void {
    const turn: PieceTurn = {
      recent: this.#recent,
      own: now.own,
      logMs: now.logMs,
      roundTripMs: now.roundTripMs,
      isDivided: this.#isDivided,
      nodes,
      piece: this.piece,
      isOwing: this.account.owed > 0,
      crowdsOut: this.expected.crowdsOut,
    };
    const piece = this.#pieceOf(bucket, nodes);
    this.isKnown = this.#recent.isKnown(now.own, now.logMs, bucket);
    const pieces = this.expected.isMember ? wholePieces(bucket, this.tokens, piece, turn) : 0;
    const most = Math.min(atMost, pieces);
    this.#fromCluster = this.piece * Math.floor(most / this.piece);
    this.#use = 0;
    // As at rates: the loss of a full bucket pays for unpublished use.
    const isFull = this.tokens >= bucket.depth;
    this.#slack = isFull ? bucket.perSecond * this.expected.part : 0;
    this.takenThreshold = Math.max(this.threshold, isFull ? (UNPUBLISHED_DEPTHS * bucket.depth) / nodes : 0);
    this.#creditMax = 0;
    const part = wholeOf(nodes, turn.isDivided);
    this.takeable = this.account.takeable(most, this.#wholeOf(part), part * bucket.depth);
    // Work larger than this node's part of a full bucket waits until the bucket is full.
    this.depth = Math.max(piece, most, wholePieces(bucket, bucket.depth, piece, turn));
    // Until another record is read, the inflow makes up the next piece.
    const isFilling = pieces < piece && this.expected.isMember && atMost === Infinity;
    this.perSecond = isFilling ? bucket.perSecond : 0;
    this.comesBackPerSecond = bucket.perSecond;
  }
}

/** The alive nodes, and the participant of this node; −1 = the log counts it as dead. */
export interface Viewed {
  readonly alive: readonly AliveNode[];
  readonly own: number;
}

interface FlowNow extends Pick<PieceTurn, 'own' | 'logMs' | 'roundTripMs'> {
  /** True = others read this node's records late: a full bucket is divided. */
  readonly isReadLate: boolean;
}

/** Log time read since the slot was settled, and this node's use. */
export interface ReadSoFar {
  /** Units of refusable work that may be owed, since the last flow. Late costs may not (docs/decisions/0022). */
  readonly mayOwe: number;
  /** Units of unrefusable work taken since the last flow. */
  readonly unrefused: number;
  readonly ms: number;
  readonly ownSlot: number;
  /** True = the node's budget holds back the lane's due report. */
  readonly isHeldBack: boolean;
  /** Units of this node's requests lately, where the bucket is in pieces. */
  readonly requestSize: number;
}

/** Computes the units that all nodes used over a time: the inflow less the rise of the tokens. */
function usedOver({ perSecond }: ClusterBucket, rise: number, seconds: number): number {
  return perSecond * seconds - rise;
}

const CREDIT_SECONDS = CREDIT_MS / 1000;
/** A third where costs count: use left at a cost of 1 may come at 10, half a second of the quota. */
const CREDIT_SECONDS_OF_COSTS = CREDIT_MS / 3000;
/**
 * Seconds until a lane is at rest (LookList). Its units are of just now: earlier expected use does not pay for them.
 * With less, a lane that takes turns with many others passes for one at rest.
 */
const AT_REST_SECONDS = AT_REST_MS / 1000;
