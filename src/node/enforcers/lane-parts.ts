import { addHiddenDemand } from '../../core/account/parts/hidden-demand.js';
import { splitLimit } from '../../core/account/parts/split-limit.js';
import { LEAST_CLAIM } from '../../core/base/claims.js';
import { DIMENSION_COUNT, slotOf } from '../../core/base/vocabulary.js';
import type { EnforcersParts } from './enforcers.js';
import type { EnforcerMembership } from './membership.js';

/**
 * The enforcers of one lane, and the division of the node's limit among them and the node's own requests.
 *
 * Own requests need not be told their part: they take what the charges of the enforcers leave in the lane's bucket.
 */
export class LaneParts {
  readonly members = new Set<EnforcerMembership>();
  /** Units per second that the node's own requests want. */
  readonly #ownDemand = new Float64Array(DIMENSION_COUNT);
  readonly #ownPart = new Float64Array(DIMENSION_COUNT);
  /** Units that the lane has counted, less those charged for enforcers. */
  readonly #ownAttempted = new Float64Array(DIMENSION_COUNT);
  readonly #charged = new Float64Array(DIMENSION_COUNT);
  /** Units per second that enforcers and own requests want together. */
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
  }

  /** False just after a division among many: what they report within a moment is divided once. */
  isDue(nowMs: number): boolean {
    return nowMs - this.#dividedMs >= GAP_MS_PER_MEMBER * (this.members.size - FEW);
  }

  /** Whether the group refuses nothing, so that its enforcers are told no limit. */
  #isShadow(): boolean {
    return this.#parts.groups.ofLane(this.#lane).mode === 'shadow';
  }

  /** Charges what the enforcers admit, and divides the limit anew. */
  update(nowMs: number): void {
    // A lane without arrivals is given up after a while, and an idle enforcer would have no limit for a moment.
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
    for (const member of this.members) {
      // What refuses nothing holds nobody back: who says so has not heard of it yet.
      isHeldBack ||= member.isHeldBack && !isShadow;
      const due = member.due(nowMs);
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
   * Evenly over the time since the last charge. All at once, a bucket would first be filled for that time, lose what is
   * above its depth, and then be charged for what that had been spent on: a round that comes late would make a debt.
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

  /** @param seconds since the last look; 0 = there was none */
  #readOwn(seconds: number): void {
    const { limiter } = this.#parts;
    const lane = this.#lane;
    const weight = 1 - Math.exp(-seconds / OWN_SECONDS);
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const attempted = limiter.attempted.at(slotOf(lane, dimension)) - this.#charged[dimension];
      // The limiter sets its counters to 0 now and then (`keepExact`).
      const arrived = Math.max(0, attempted - this.#ownAttempted[dimension]);
      this.#ownAttempted[dimension] = attempted;
      const demand = this.#ownDemand[dimension];
      if (seconds > 0) this.#ownDemand[dimension] = demand + weight * (arrived / seconds - demand);
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
    const count = this.members.size + 1;
    if (wanted.length < count) [wanted, divided] = [new Float64Array(2 * count), new Float64Array(2 * count)];
    const [demands, parts] = [wanted.subarray(0, count), divided.subarray(0, count)];
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const limit = limits[dimension];
      demands[0] = ownWanted[dimension];
      let at = 1;
      for (const { demand } of this.members) demands[at++] = demand[dimension];
      this.#wantedTogether[dimension] = demands.reduce((all, one) => all + one, 0);
      splitLimit(parts, limit, demands, floorRatio);
      this.#ownPart[dimension] = parts[0];
      const depthPerRate = this.#depthPerRate(dimension, limit);
      at = 1;
      for (const { part } of this.members) {
        const rate = parts[at++];
        part.isKnown = isKnown;
        part.rate[dimension] = rate;
        part.depth[dimension] = depthOf(rate, depthPerRate);
      }
    }
    this.#dividedMs = nowMs;
  }

  /** Sets `ownWanted`, and the demands of members that are held back. */
  #raiseDemands(): void {
    const count = this.members.size + 1;
    ownWanted.set(this.#ownDemand);
    if (this.#isOwnHeldBack) addHiddenDemand(ownWanted, claimsOf(this.#ownPart, count, 1));
    for (const { usage, demand, isHeldBack, had, growth } of this.members) {
      if (!isHeldBack) continue;
      demand.set(usage);
      addHiddenDemand(demand, claimsOf(had, count, growth));
    }
  }

  /**
   * The node's limit, less what pays its debt back. Without that, enforcers that take all of the limit would never pay
   * for what they have admitted too much.
   */
  #limitOf(dimension: number, nowMs: number): number {
    const { limiter, loop } = this.#parts;
    const { coordinator } = loop;
    const slot = slotOf(this.#lane, dimension);
    if (this.#isShadow()) return Infinity;
    if (coordinator === null || !coordinator.lanes.has(this.#lane)) return Infinity;
    const share = coordinator.shares.limit[slot];
    if (share === Infinity) return share;
    const limit = Math.max(share, this.#fromTokens(dimension));
    return Math.max(limit * LEAST_IN_DEBT, limit - limiter.buckets.debt(this.#lane, dimension, nowMs) / DEBT_SECONDS);
  }

  /**
   * Where tokens are shared, units per second that spend soon what the node may take of the cluster's bucket. A node
   * that told of little demand has a small share, and takes from the bucket when it wants more. Held to that share,
   * enforcers said that they were held back, got half of the quota by it, gave it up, and so on for 6 s.
   */
  #fromTokens(dimension: number): number {
    const lane = this.#parts.loop.coordinator?.lanes.get(this.#lane);
    const tokens = lane?.isLimitedByTokens === true ? lane.tokens?.slots[dimension] : undefined;
    if (tokens === undefined || tokens.bucket === null) return 0;
    const isWaitedFor = this.#parts.limiter.heldBackElsewhere.has(this.#lane);
    return tokens.perSecond + tokens.takeable / (isWaitedFor ? SPENT_SECONDS : IDLE_SPENT_SECONDS);
  }

  /** Seconds of a rate that the lane's bucket holds; Infinity where there is no limit. */
  #depthPerRate(dimension: number, limit: number): number {
    if (limit === Infinity) return Infinity;
    const depth = this.#parts.loop.coordinator?.shares.depth[slotOf(this.#lane, dimension)] ?? 0;
    return limit === 0 ? 0 : depth / limit;
  }
}

/** A part of the lane's depth, and at least one unit: nothing would ever pass a bucket that holds less. */
function depthOf(rate: number, depthPerRate: number): number {
  if (depthPerRate === Infinity) return Infinity;
  return rate === 0 ? 0 : Math.max(1, rate * depthPerRate);
}

/**
 * What somebody claims who has `part` of `limits`, which `count` share. Who has little does not claim an equal part at
 * once: one that wants 20/s is held back now and then by chance, and took half of 1,000/s from a busy one by it each
 * time, so that 830 to 920 of 1,000/s were used. It doubles instead, and is at an equal part after four reports.
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
/** Short beside the time in which a bucket fills up, 50 ms by default. */
const PIECE_MS = 10;
/** What comes later than that was not admitted in that time. */
const SPREAD_MS_MAX = 1000;
const DEBT_SECONDS = 1;
/**
 * Part of the limit that is left to who pays a debt back. With nothing, a broker that had taken a burst got none of 190
 * messages a second for two seconds: who takes nothing seems to want nothing.
 */
const LEAST_IN_DEBT = 0.5;
/** In so much time what the cluster's bucket holds would be spent while nobody waits for it. */
const IDLE_SPENT_SECONDS = 1;
/**
 * The same while work is held back. What another one claimed and left lies there, and the bucket
 * holds a tenth of a second's worth by default: spent within a second, most of it was lost.
 */
const SPENT_SECONDS = 0.25;
/** A division takes less than 1 µs per member, so reports take at most about 2 % of a core per lane for it. */
const GAP_MS_PER_MEMBER = 0.05;
/** Among so few every report is answered by a division of its own. */
const FEW = 20;

/** Scratch of a division: a lane has up to thousands of members, and is divided every round. */
const limits = new Float64Array(DIMENSION_COUNT);
const claims = new Float64Array(DIMENSION_COUNT);
const ownWanted = new Float64Array(DIMENSION_COUNT);
let wanted = new Float64Array(0);
let divided = new Float64Array(0);
