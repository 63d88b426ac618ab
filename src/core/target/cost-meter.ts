import { ID_LENGTH } from '../base/ids.js';
import type { BackendCost, LaneCosts } from '../base/protocol/record.js';
import type { CostMeterSettings } from '../base/settings.js';
import type { BackendId } from '../base/vocabulary.js';
import { CostSampler } from './cost-sampler.js';
import { SmoothedRate } from './smoothed-rate.js';

/** Cost that belongs to no backend whose health is known. */
export const NO_BACKEND: BackendId = 'A'.repeat(ID_LENGTH);

/** Backends that a record names per lane; what the others cost stands under NO_BACKEND, so that the sum is exact. */
export const BACKENDS_PER_LANE = 16;

/**
 * A lane keeps the costs of this many backends apart. Further names count as NO_BACKEND, so invented ones take no
 * memory.
 */
const BACKENDS_TRACKED = 256;

interface Tracked {
  /** Counts of the same pieces of work, for the average cost and for the rate. */
  readonly transactions: SmoothedRate;
  readonly pace: SmoothedRate;
  readonly backends: Map<BackendId, SmoothedRate>;
  /** Since `takeNews` was called last. */
  readonly news: CostNews;
  /** Null where all costs are counted. */
  readonly sampler: CostSampler | null;
  readonly sinceMs: number;
  touchedMs: number;
}

/** Costs reported in a while, as they were. */
export interface CostNews {
  units: number;
  transactions: number;
}

/**
 * Costs that the traffic side reports after the fact, per lane and backend, at this node
 * (docs/background/foundationdb-tag-throttling.md, stat collection).
 *
 * Smoothed here, at the node that measures, on the local clock that measures every other rate of a record: the records
 * carry smooth figures, so the target is a function of the newest record per key, and a node that joins after
 * compaction computes what the others compute. A node that dies takes its costs with it (FoundationDB kept them until
 * 2023).
 *
 * The average cost comes from costs and transactions with the same filter, so that it is right from the first report
 * on; the rate from one twice as fast, and costs/s = average · rate. FoundationDB divides figures of different filters
 * (cost 10 s, transactions Holt 2 s): after one second of steady work these say 9.5 % and some 2 to 39 %, so its first
 * averages are wrong by factors, and it admits 1.76 × the quota in the first minute. Half of 10 s for the rate, because
 * what a saturated backend can bear is rate · ratio: with a queue that follows in 10 s the loop is then just damped
 * enough not to swing (critical at 6.4 s), and settles in two thirds of the time.
 */
export class CostMeter {
  readonly #settings: CostMeterSettings;
  readonly #random: () => number;
  readonly #lanes = new Map<number, Tracked>();

  /** @param random draws uniformly from [0, 1); a core has no chance of its own */
  constructor(settings: CostMeterSettings, random = settings.random ?? (() => 0.5)) {
    this.#settings = settings;
    this.#random = random;
  }

  get smoothingMs(): number {
    return this.#settings.smoothingMs;
  }

  get laneCount(): number {
    return this.#lanes.size;
  }

  has(lane: number): boolean {
    return this.#lanes.has(lane);
  }

  /** Tests if costs of all these lanes can be counted. */
  hasRoomFor(lanes: readonly number[]): boolean {
    const added = lanes.filter((lane) => !this.#lanes.has(lane)).length;
    return this.#lanes.size + added <= this.#settings.maxLanes;
  }

  /**
   * Work of a lane has cost `units` on a backend. Its pieces are counted once: `transactions` is 0 with all backends of
   * a piece of work but one. Returns false, having counted nothing, when a new lane finds the table full. Pieces, and
   * the news for whoever charges costs to tokens, are never sampled.
   */
  report(lane: number, backend: BackendId, units: number, transactions: number, nowMs: number): boolean {
    const tracked = this.#lanes.get(lane) ?? this.#track(lane, nowMs);
    if (tracked === null) return false;
    const { smoothingMs } = this.#settings;
    tracked.touchedMs = nowMs;
    tracked.news.units += units;
    tracked.news.transactions += transactions;
    tracked.transactions.count(transactions, nowMs, smoothingMs);
    tracked.pace.count(transactions, nowMs, smoothingMs * PACE_RATIO);
    const counted = tracked.sampler === null ? units : tracked.sampler.take(units);
    if (counted === 0) return true;
    const known = tracked.backends.has(backend) || tracked.backends.size < BACKENDS_TRACKED ? backend : NO_BACKEND;
    let rate = tracked.backends.get(known);
    if (rate === undefined) {
      rate = new SmoothedRate();
      tracked.backends.set(known, rate);
    }
    rate.count(counted, nowMs, smoothingMs);
    return true;
  }

  /** Takes what has been reported of a lane since the last call; null = nothing. */
  takeNews(lane: number): CostNews | null {
    const tracked = this.#lanes.get(lane);
    if (tracked === undefined) return null;
    const { units, transactions } = tracked.news;
    tracked.news.units = 0;
    tracked.news.transactions = 0;
    return units === 0 && transactions === 0 ? null : { units, transactions };
  }

  /** Returns the costs for the lane's record; null = none. */
  costsOf(lane: number, nowMs: number): LaneCosts | null {
    const tracked = this.#lanes.get(lane);
    if (tracked === undefined) return null;
    const ageMs = nowMs - tracked.sinceMs;
    const { smoothingMs } = this.#settings;
    const counted = tracked.transactions.rate(nowMs, smoothingMs, ageMs);
    if (counted === 0) return null;
    const transactions = tracked.pace.rate(nowMs, smoothingMs * PACE_RATIO, ageMs);
    if (transactions < LEAST_RATE) return null;
    const all = Array.from(tracked.backends, ([backend, rate]) => {
      return { backend, cost: (rate.rate(nowMs, smoothingMs, ageMs) / counted) * transactions };
    });
    return { transactions, backends: largestOf(all) };
  }

  /** Forgets the lanes that have been silent for too long; nothing else forgets lanes. */
  removeSilent(nowMs: number): void {
    for (const [lane, { touchedMs }] of this.#lanes) {
      if (nowMs - touchedMs > this.#settings.forgetAfterMs) this.#lanes.delete(lane);
    }
  }

  #track(lane: number, nowMs: number): Tracked | null {
    const { maxLanes, sampleUnits } = this.#settings;
    if (this.#lanes.size >= maxLanes) return null;
    const tracked = {
      transactions: new SmoothedRate(),
      pace: new SmoothedRate(),
      backends: new Map(),
      news: { units: 0, transactions: 0 },
      sampler: sampleUnits > 0 ? new CostSampler(sampleUnits, this.#random) : null,
      sinceMs: nowMs,
      touchedMs: nowMs,
    };
    this.#lanes.set(lane, tracked);
    return tracked;
  }
}

/** Pieces of work per second that are worth a place in a record; reached about a minute after the last of 100/s. */
const LEAST_RATE = 1e-3;
/** The rate's time constant as a part of that of the average. */
const PACE_RATIO = 0.5;

function largestOf(costs: BackendCost[]): readonly BackendCost[] {
  const named = costs.filter(({ backend, cost }) => backend !== NO_BACKEND && cost > 0);
  named.sort((one, other) => other.cost - one.cost || (one.backend < other.backend ? -1 : 1));
  const kept = named.slice(0, BACKENDS_PER_LANE);
  const rest = costs.reduce((sum, one) => sum + one.cost, 0) - kept.reduce((sum, one) => sum + one.cost, 0);
  return rest > 0 ? [...kept, { backend: NO_BACKEND, cost: rest }] : kept;
}

export function sumOfCosts({ backends }: LaneCosts): number {
  return backends.reduce((sum, { cost }) => sum + cost, 0);
}
