import { addHiddenDemand } from '../../core/account/parts/hidden-demand.js';
import { splitLimit } from '../../core/account/parts/split-limit.js';
import { LEAST_CLAIM } from '../../core/base/constants.js';
import { DIMENSION_COUNT, MESSAGES, slotOf } from '../../core/base/vocabulary.js';
import { createLaneRates, estimate } from '../../core/report/sample/estimate.js';
import { MEDIUM } from '../../core/report/sample/lane-sample.js';
import { AssignedMembership } from './assigned-membership.js';
import type { EnforcersParts } from './enforcers.js';
import type { LaneMember } from './membership.js';

/**
 * Divides a node's limit of a lane among enforcers and own requests. Own requests get no part: they take what the
 * enforcers' charges leave in the bucket.
 */
export class LaneParts {
  readonly members = new Set<LaneMember>();
  /** Units/s that the node's own requests want. */
  readonly #ownDemand = new Float64Array(DIMENSION_COUNT);
  readonly #ownPart = new Float64Array(DIMENSION_COUNT);
  /** Units attempted in the lane, less enforcers' charges. */
  readonly #ownAttempted = new Float64Array(DIMENSION_COUNT);
  readonly #charged = new Float64Array(DIMENSION_COUNT);
  /** Units of own requests that were refused. */
  readonly #refused = new Float64Array(DIMENSION_COUNT);
  /** Units/s that enforcers and own requests want together. */
  readonly #wantedTogether = new Float64Array(DIMENSION_COUNT);
  readonly #lane: number;
  readonly #parts: EnforcersParts;
  #lookedMs: number;
  #chargedMs: number;
  #dividedMs = -Infinity;
  #retryRefusals: number;
  #isOwnHeldBack = false;

  constructor(lane: number, parts: EnforcersParts) {
    this.#lane = lane;
    this.#parts = parts;
    this.#lookedMs = parts.clock();
    this.#chargedMs = this.#lookedMs;
    this.#retryRefusals = parts.limiter.retryRefusals.at(lane);
    parts.limiter.wantedElsewhere.set(lane, this.#wantedTogether);
    this.#readOwn(0);
    this.#beginOwn();
  }

  /** Tests if a division is due: among many, reports of one moment share one. */
  isDue(nowMs: number): boolean {
    return nowMs - this.#dividedMs >= GAP_MS_PER_MEMBER * (this.members.size - FEW);
  }

  /** True = the group refuses nothing, and its enforcers get no limit. */
  #isShadow(): boolean {
    return this.#parts.groups.ofLane(this.#lane).mode === 'shadow';
  }

  /** Charges the enforcers' admissions, and divides the limit anew. */
  update(nowMs: number): void {
    // An idle lane is given up, and an idle enforcer would have no limit for a moment.
    this.#parts.loop.serve(this.#lane);
    this.#charge(nowMs);
    const seconds = (nowMs - this.#lookedMs) / 1000;
    if (seconds > 0) {
      this.#lookedMs = nowMs;
      this.#readOwn(seconds);
    }
    this.#divide(nowMs);
  }

  #charge(nowMs: number): void {
    const { limiter } = this.#parts;
    let [messages, bytes] = [0, 0];
    let isHeldBack = false;
    const isShadow = this.#isShadow();
    const isShared = this.#isUsedHere();
    for (const member of this.members) {
      // An unlimited enforcer that is held back has not read it yet.
      isHeldBack ||= member.isHeldBack && !isShadow;
      const due = member.due(nowMs, isShared);
      messages += due[0];
      bytes += due[1];
    }
    if (messages > 0 || bytes > 0) this.#chargePieces(messages, bytes, nowMs);
    this.#chargedMs = nowMs;
    if (isHeldBack) {
      limiter.enforced.set(this.#lane, nowMs);
      limiter.heldBackElsewhere.add(this.#lane);
    } else {
      limiter.heldBackElsewhere.delete(this.#lane);
    }
  }

  /**
   * Charges evenly over the time since the last charge. *Why:* at once, a full bucket would lose what comes in
   * meanwhile and then be charged for it: a late round would make a debt.
   */
  #chargePieces(messages: number, bytes: number, nowMs: number): void {
    const { limiter, groups, shadows } = this.#parts;
    const { debtMs } = groups.ofLane(this.#lane);
    const forMs = Math.min(SPREAD_MS_MAX, Math.max(0, nowMs - this.#chargedMs));
    const pieces = Math.max(1, Math.ceil(forMs / PIECE_MS));
    const upTo = (units: number, piece: number) => Math.floor((units * piece) / pieces);
    for (let piece = 1; piece <= pieces; piece++) {
      const atMs = nowMs - forMs * (1 - piece / pieces);
      const [some, someBytes] = [
        upTo(messages, piece) - upTo(messages, piece - 1),
        upTo(bytes, piece) - upTo(bytes, piece - 1),
      ];
      const isCharged = shadows.admittedElsewhere(this.#lane, some, someBytes, atMs);
      if (!isCharged) limiter.consumePieces(this.#lane, some, someBytes, debtMs, atMs);
    }
    this.#charged[0] = this.#charged[0] + messages;
    this.#charged[1] = this.#charged[1] + bytes;
  }

  /** Begins with own demand of the last half second, before enforcers. */
  #beginOwn(): void {
    const sample = this.#parts.loop.coordinator?.lanes.get(this.#lane)?.sample;
    if (sample === undefined) return;
    const { demand } = rates;
    demand.fill(0);
    estimate(sample, MEDIUM, rates);
    this.#ownDemand.set(demand);
  }

  /**
   * Reads own demand: smoothed, but for a rise by which requests are refused. *Why:* enforcers have been told what own
   * requests did not want, for seconds.
   *
   * @param seconds since the last look; 0 = there was none
   */
  #readOwn(seconds: number): void {
    const { limiter } = this.#parts;
    const lane = this.#lane;
    const weight = 1 - Math.exp(-seconds / OWN_SECONDS);
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const attempted = limiter.attempted.at(slotOf(lane, dimension)) - this.#charged[dimension];
      // The limiter restarts its counters now and then (`keepExact`).
      const arrived = Math.max(0, attempted - this.#ownAttempted[dimension]);
      this.#ownAttempted[dimension] = attempted;
      const refused = limiter.refused.at(slotOf(lane, dimension));
      const isRefused = refused > this.#refused[dimension];
      this.#refused[dimension] = refused;
      if (seconds === 0) continue;
      const demand = this.#ownDemand[dimension];
      const smoothed = demand + weight * (arrived / seconds - demand);
      this.#ownDemand[dimension] = isRefused ? Math.max(smoothed, arrived / seconds) : smoothed;
    }
    const refusals = limiter.retryRefusals.at(lane);
    this.#isOwnHeldBack = refusals > this.#retryRefusals || limiter.heldBack[lane] > 0;
    this.#retryRefusals = refusals;
  }

  #divide(nowMs: number): void {
    const { limiter, loop, groups } = this.#parts;
    const lane = this.#lane;
    const isKnown = this.#isShadow() || (loop.isReady && nowMs <= limiter.validUntilMs.at(lane));
    const { floorRatio } = groups.ofLane(lane);
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++)
      limits[dimension] = this.#limitOf(dimension, nowMs);
    this.#raiseDemands();
    // Assigned parts last for seconds: they have what nobody else wants.
    const own = this.#isAssigned() && !this.#isUsedHere() ? 0 : 1;
    const count = this.members.size + own;
    if (wanted.length < count) [wanted, divided] = [new Float64Array(2 * count), new Float64Array(2 * count)];
    const [demands, parts] = [wanted.subarray(0, count), divided.subarray(0, count)];
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const limit = limits[dimension];
      if (own === 1) demands[0] = ownWanted[dimension];
      let at = own;
      for (const { demand } of this.members) demands[at++] = demand[dimension];
      this.#wantedTogether[dimension] = demands.reduce((all, one) => all + one, 0);
      splitLimit(parts, limit, demands, floorRatio);
      this.#ownPart[dimension] = own === 1 ? parts[0] : 0;
      const depthPerRate = this.#depthPerRate(dimension, limit);
      at = own;
      for (const { part } of this.members) {
        const rate = parts[at++];
        part.isKnown = isKnown;
        part.rate[dimension] = rate;
        part.depth[dimension] = depthOf(rate, depthPerRate);
      }
    }
    if (own === 1) this.#giveSpare();
    if (this.#isAssigned()) this.#deepen();
    this.#dividedMs = nowMs;
  }

  /**
   * Deepens the buckets of those that want no more than their rate: together by this node's part of half of the group's
   * burst. *Why:* their work comes in clumps, and a tenth of a second of little is some requests. What they do not use
   * in between is all that they can take together; it is charged when they get it.
   *
   * *Worked:* 1,000/s with a burst of 100 on two nodes: 150/s has 15 + 25 requests at once.
   */
  #deepen(): void {
    const slot = this.#slot(MESSAGES);
    if (slot === null || slot.bucket === null) return;
    const nodes = Math.max(1, this.#parts.loop.coordinator?.membership.alive.length ?? 1);
    const met = [...this.members].filter(({ part, demand }) => part.rate[MESSAGES] >= demand[MESSAGES]);
    const more = (DEEPER_RATIO * slot.bucket.depth) / nodes / met.length;
    for (const { part } of met) part.depth[MESSAGES] = part.depth[MESSAGES] + more;
  }

  /**
   * Gives new ones a part of what nobody is known to want. It may exceed the node's share, which rises by its charge.
   * *Why not of the share alone:* that follows own requests, and leaves almost nothing
   * beside them until the second report.
   *
   * *Worked:* of 1,000/s 800 are asked for here: the new one is told 160/s, and no request is refused for it.
   */
  #giveSpare(): void {
    const fresh = [...this.members].filter((member) => member instanceof AssignedMembership && member.isNew);
    const slot = this.#slot(MESSAGES);
    if (fresh.length === 0 || slot === null || slot.bucket === null) return;
    const left = slot.bucket.perSecond - (slot.expected.total - slot.expected.own);
    const equal = limits[MESSAGES] / (this.members.size + 1);
    const spare = (SPARE_RATIO * Math.max(0, left - this.#wantedTogether[MESSAGES])) / fresh.length;
    for (const { part } of fresh) {
      const rate = Math.max(part.rate[MESSAGES], Math.min(equal, spare));
      if (part.rate[MESSAGES] > 0) part.depth[MESSAGES] = (part.depth[MESSAGES] * rate) / part.rate[MESSAGES];
      part.rate[MESSAGES] = rate;
    }
  }

  /** Sets `ownWanted`, and raises demands of members that are held back. */
  #raiseDemands(): void {
    const count = this.members.size + 1;
    ownWanted.set(this.#ownDemand);
    if (this.#isOwnHeldBack) addHiddenDemand(ownWanted, claimsOf(this.#ownPart, count, 1));
    for (const { usage, demand, isHeldBack, isDemandKnown, had, growth } of this.members) {
      if (!isHeldBack || isDemandKnown) continue;
      demand.set(usage);
      addHiddenDemand(demand, claimsOf(had, count, growth));
    }
  }

  /** Returns the node's limit, less what pays its debt; else full enforcers would never pay. */
  #limitOf(dimension: number, nowMs: number): number {
    const { limiter, loop } = this.#parts;
    const { coordinator } = loop;
    const slot = slotOf(this.#lane, dimension);
    if (this.#isShadow()) return Infinity;
    if (coordinator === null || !coordinator.lanes.has(this.#lane)) return Infinity;
    const share = coordinator.shares.applied[slot];
    if (share === Infinity) return share;
    const limit = this.#isAssigned()
      ? share + this.#untilReported(dimension)
      : Math.max(share, this.#fromTokens(dimension));
    return Math.max(limit * LEAST_IN_DEBT, limit - limiter.buckets.debt(this.#lane, dimension, nowMs) / DEBT_SECONDS);
  }

  /**
   * Returns units/s that spend the takeable tokens until the next reports. *Why not at
   * once:* nobody tells sooner that it is spent. Shares alone keep to the quota, whatever others are presumed to use.
   */
  #untilReported(dimension: number): number {
    return this.#takeable(dimension) / REPORTED_EVERY_SECONDS;
  }

  #takeable(dimension: number): number {
    return Math.max(0, this.#slot(dimension)?.takeable ?? 0);
  }

  /** Returns what is known of the cluster's bucket; null = it does not limit. */
  #slot(dimension: number) {
    const lane = this.#parts.loop.coordinator?.lanes.get(this.#lane);
    const tokens = lane?.isLimitedByTokens === true ? lane.tokens?.slots[dimension] : undefined;
    return tokens === undefined || tokens.bucket === null ? null : tokens;
  }

  /** Tests if somebody is told every some seconds; new requests are divided between such reports, too. */
  #isAssigned(): boolean {
    for (const member of this.members) if (member instanceof AssignedMembership) return true;
    return false;
  }

  /** Tests if own requests use the lane. */
  #isUsedHere(): boolean {
    return this.#isOwnHeldBack || this.#ownDemand.some((perSecond) => perSecond > OWN_LEAST);
  }

  /**
   * Answers an assigned part, and charges what its bucket begins with. Its depth stays while half to twice of it is
   * wanted, and rises by what is there to be taken; of that own requests keep their part.
   */
  assign(member: AssignedMembership, nowMs: number): void {
    const { answered, part } = member;
    answered.isKnown = part.isKnown;
    answered.rate.set(part.rate);
    const [had, wanted] = [answered.depth[0], part.depth[0]];
    const isKept = wanted >= had / 2 && wanted <= 2 * had;
    const ratio = part.rate[0] === Infinity ? 1 : part.rate[0] / (part.rate[0] + this.#ownPart[0]);
    const most = had + Math.floor((ratio || 0) * this.#takeable(0));
    const depth = isKept ? had : Math.min(wanted, Math.max(1, most));
    answered.depth.fill(depth, 0, 1);
    const begun = Number.isFinite(depth) ? Math.max(0, Math.floor(depth - had)) : 0;
    if (begun === 0) return;
    member.begin(begun);
    this.#chargePieces(begun, 0, nowMs);
  }

  /**
   * Returns units/s that soon spend this node's part of the cluster's bucket. *Why:* an enforcer held to the small
   * share of a small demand oscillated for 6 s between half of the quota and nothing.
   */
  #fromTokens(dimension: number): number {
    const tokens = this.#slot(dimension);
    if (tokens === null) return 0;
    const isWaitedFor = this.#parts.limiter.heldBackElsewhere.has(this.#lane);
    return tokens.leftPerSecond + tokens.takeable / (isWaitedFor ? SPENT_SECONDS : IDLE_SPENT_SECONDS);
  }

  /** Returns seconds of a rate that the lane's bucket holds; Infinity = unlimited. */
  #depthPerRate(dimension: number, limit: number): number {
    if (limit === Infinity) return Infinity;
    const depth = this.#parts.loop.coordinator?.shares.depth[slotOf(this.#lane, dimension)] ?? 0;
    return limit === 0 ? 0 : depth / limit;
  }
}

/** Returns a part of the lane's depth, at least one unit: with less nothing would ever pass. */
function depthOf(rate: number, depthPerRate: number): number {
  if (depthPerRate === Infinity) return Infinity;
  return rate === 0 ? 0 : Math.max(1, rate * depthPerRate);
}

/**
 * Returns the claim of one of `count` members of `limits`, having `part`. It doubles, up to an equal part after four
 * reports. *Why:* one that is held back by chance would take an equal part from a busy one: 830 to 920 of 1,000/s were
 * used.
 */
function claimsOf(part: Float64Array, count: number, growth: number): Float64Array {
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    const had = part[dimension];
    const equal = limits[dimension] / count;
    claims[dimension] = Math.max(had, Math.min(equal, growth * Math.max(had, LEAST_CLAIM * equal)));
  }
  return claims;
}

const OWN_SECONDS = 0.5;
/** Milliseconds of a piece: short beside the 50 ms in which a bucket fills. */
const PIECE_MS = 10;
/** Milliseconds over which a late charge is spread. */
const SPREAD_MS_MAX = 1000;
const DEBT_SECONDS = 1;
/** Part of the limit left to a debtor; with nothing it would seem to want nothing. */
const LEAST_IN_DEBT = 0.5;
/** Seconds in which the cluster's bucket would be spent while nobody waits. */
const IDLE_SPENT_SECONDS = 1;
/** Seconds in which it would be spent while work is held back; more loses what others left there. */
const SPENT_SECONDS = 0.25;
/** Milliseconds between divisions per member: about 2 % of a core per lane. */
const GAP_MS_PER_MEMBER = 0.05;
const FEW = 20;
/** Seconds between the reports of who is assigned its part. */
const REPORTED_EVERY_SECONDS = 5;
/** Part of the group's burst by which buckets of little are deeper. */
const DEEPER_RATIO = 0.5;
/** Part of what nobody wants that new ones have: own requests vary. */
const SPARE_RATIO = 0.8;
/** Units/s below which own requests count as none. */
const OWN_LEAST = 0.01;

const limits = new Float64Array(DIMENSION_COUNT);
const claims = new Float64Array(DIMENSION_COUNT);
const rates = createLaneRates();
const ownWanted = new Float64Array(DIMENSION_COUNT);
let wanted = new Float64Array(0);
let divided = new Float64Array(0);
