import { DIMENSION_COUNT, slotOf } from '../core/base/vocabulary.js';
import { addHiddenDemand } from '../core/parts/hidden-demand.js';
import { splitLimit } from '../core/parts/split-limit.js';
import type { EnforcersParts } from './enforcers.js';
import type { Membership } from './membership.js';

/**
 * The enforcers of one lane, and the division of the node's limit among them and the node's own requests.
 *
 * Own requests need not be told their part: they take what the charges of the enforcers leave in the lane's bucket.
 */
export class LaneParts {
  readonly members = new Set<Membership>();
  /** Units per second that the node's own requests want. */
  readonly #ownDemand = new Float64Array(DIMENSION_COUNT);
  readonly #ownPart = new Float64Array(DIMENSION_COUNT);
  /** Units that the lane has counted, less those charged for enforcers. */
  readonly #ownAttempted = new Float64Array(DIMENSION_COUNT);
  readonly #charged = new Float64Array(DIMENSION_COUNT);
  readonly #lane: number;
  readonly #parts: EnforcersParts;
  #lookedMs: number;
  #retryRefusals: number;
  #isOwnHeldBack = false;

  constructor(lane: number, parts: EnforcersParts) {
    this.#lane = lane;
    this.#parts = parts;
    this.#lookedMs = parts.clock();
    this.#retryRefusals = parts.limiter.retryRefusals.at(lane);
    this.#readOwn(0);
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
    const { limiter, groups } = this.#parts;
    const { debtMs } = groups.ofLane(this.#lane);
    let isHeldBack = false;
    for (const member of this.members) {
      isHeldBack ||= member.isHeldBack;
      const [messages = 0, bytes = 0] = member.due(nowMs);
      if (messages === 0 && bytes === 0) continue;
      limiter.consumePieces(this.#lane, messages, bytes, debtMs, nowMs);
      this.#charged[0] = (this.#charged[0] as number) + messages;
      this.#charged[1] = (this.#charged[1] as number) + bytes;
    }
    if (isHeldBack) limiter.heldBackElsewhere.add(this.#lane);
    else limiter.heldBackElsewhere.delete(this.#lane);
  }

  /** @param seconds since the last look; 0 = there was none */
  #readOwn(seconds: number): void {
    const { limiter } = this.#parts;
    const lane = this.#lane;
    const weight = 1 - Math.exp(-seconds / OWN_SECONDS);
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const attempted = limiter.attempted.at(slotOf(lane, dimension)) - (this.#charged[dimension] as number);
      // The limiter sets its counters to 0 now and then (`keepExact`).
      const arrived = Math.max(0, attempted - (this.#ownAttempted[dimension] as number));
      this.#ownAttempted[dimension] = attempted;
      const demand = this.#ownDemand[dimension] as number;
      if (seconds > 0) this.#ownDemand[dimension] = demand + weight * (arrived / seconds - demand);
    }
    const refusals = limiter.retryRefusals.at(lane);
    this.#isOwnHeldBack = refusals > this.#retryRefusals || (limiter.heldBack[lane] as number) > 0;
    this.#retryRefusals = refusals;
  }

  #divide(nowMs: number): void {
    const { limiter, loop, groups } = this.#parts;
    const lane = this.#lane;
    const members = [...this.members];
    const isKnown = loop.isReady && nowMs <= limiter.validUntilMs.at(lane);
    const { floorRatio } = groups.ofLane(lane);
    const limits = Array.from({ length: DIMENSION_COUNT }, (_, dimension) => this.#limitOf(dimension, nowMs));
    const wanted = this.#demands(members, limits);
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const limit = limits[dimension] as number;
      const demands = Float64Array.from(wanted, (demand) => demand[dimension] as number);
      const parts = new Float64Array(demands.length);
      splitLimit(parts, limit, demands, floorRatio);
      this.#ownPart[dimension] = parts[0] as number;
      members.forEach(({ part }, at) => {
        const rate = parts[at + 1] as number;
        part.isKnown = isKnown;
        part.rate[dimension] = rate;
        part.depth[dimension] = this.#depthOf(dimension, rate, limit);
      });
    }
  }

  /** Demands of the own requests, then of the members. */
  #demands(members: readonly Membership[], limits: readonly number[]): Float64Array[] {
    const own = this.#ownDemand.slice();
    if (this.#isOwnHeldBack) addHiddenDemand(own, claimsOf(this.#ownPart, limits, members.length + 1));
    for (const { usage, demand, isHeldBack, told } of members) {
      if (!isHeldBack) continue;
      // By what it was told: the part alone would double every round, and not every report.
      demand.set(usage);
      addHiddenDemand(demand, claimsOf(told.rate, limits, members.length + 1));
    }
    return [own, ...members.map(({ demand }) => demand)];
  }

  /**
   * The node's limit, less what pays its debt back. Without that, enforcers that take all of the limit would never pay
   * for what they have admitted too much.
   */
  #limitOf(dimension: number, nowMs: number): number {
    const { limiter, loop } = this.#parts;
    const { coordinator } = loop;
    const slot = slotOf(this.#lane, dimension);
    if (coordinator === null || !coordinator.lanes.has(this.#lane)) return Number.POSITIVE_INFINITY;
    const limit = coordinator.shares.limit[slot] as number;
    if (limit === Number.POSITIVE_INFINITY) return limit;
    return Math.max(0, limit - limiter.buckets.debt(this.#lane, dimension, nowMs) / DEBT_SECONDS);
  }

  /** A part of the lane's depth, and at least one unit: nothing would ever pass a bucket that holds less. */
  #depthOf(dimension: number, rate: number, limit: number): number {
    if (limit === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY;
    if (rate === 0) return 0;
    const depth = this.#parts.loop.coordinator?.shares.depth[slotOf(this.#lane, dimension)] ?? 0;
    return Math.max(1, (depth * rate) / limit);
  }
}

function claimsOf(part: Float64Array, limits: readonly number[], count: number): Float64Array {
  return part.map((rate, dimension) => Math.max(rate, (limits[dimension] as number) / count));
}

const OWN_SECONDS = 0.5;
/** In so much time a debt is paid back. */
const DEBT_SECONDS = 1;
