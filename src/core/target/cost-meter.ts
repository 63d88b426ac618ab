import { ID_LENGTH } from '../base/ids.js';
import type { BackendCost, LaneCosts } from '../base/protocol/record.js';
import type { CostMeterSettings } from '../base/settings.js';
import type { BackendId } from '../base/vocabulary.js';
import { BACKENDS_PER_LANE, BACKENDS_TRACKED, LEAST_PACE, PACE_RATIO } from './constants/constants.js';
import { CostSampler } from './cost-sampler.js';
import { SmoothedRate } from './smoothed-rate.js';

/** Stands for no backend: none that a record names, or none of known health. */
export const NO_BACKEND: BackendId = 'A'.repeat(ID_LENGTH);

interface Tracked {
  /** The same pieces of work, smoothed for the average and the rate. */
  readonly transactions: SmoothedRate;
  readonly pace: SmoothedRate;
  readonly backends: Map<BackendId, SmoothedRate>;
  /** Costs since the last call of `takeNews`. */
  readonly news: CostNews;
  /** Null where all costs are counted. */
  readonly sampler: CostSampler | null;
  readonly sinceMs: number;
  touchedMs: number;
}

/** Unsmoothed costs that were reported in a while. */
export interface CostNews {
  units: number;
  transactions: number;
}

/**
 * Counts the costs that the traffic side reports, per lane and backend.
 *
 *     costs/s = average · rate        average = costs/transactions, both smoothed with τ;  rate smoothed with τ/2
 *
 * *Why:* docs/background/foundationdb-tag-throttling.md (stat collection). The node that measures also smooths, on the
 * local clock of every other rate of a record. So the target is a function of the newest record per key, and a node
 * that joins after compaction computes the same. A node that dies takes its costs with it (FoundationDB kept them until
 * 2023).
 *
 * Costs and transactions of the average have one filter, so the average is right from the first report on. FoundationDB
 * divides figures of different filters (cost 10 s, transactions Holt 2 s), which makes its first averages wrong by
 * factors. The rate has half the time constant: a saturated backend can bear rate · ratio, and a slow rate lets that
 * loop swing.
 */
export class CostMeter {
  readonly #settings: CostMeterSettings;
  readonly #random: () => number;
  readonly #lanes = new Map<number, Tracked>();

  /** @param random draws uniformly from [0, 1); the core has no randomness of its own */
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

  hasRoomFor(lanes: readonly number[]): boolean {
    const added = lanes.filter((lane) => !this.#lanes.has(lane)).length;
    return this.#lanes.size + added <= this.#settings.maxLanes;
  }

  /**
   * Counts work of a lane that has cost `units` on a backend. Each piece of work counts once: `transactions` is 0 for
   * all its backends but one. Returns false, having counted nothing, if a new lane finds the table full. Pieces and
   * news are never sampled.
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

  /** Takes the costs reported since the last call; null = none. */
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
    if (transactions < LEAST_PACE) return null;
    const all = Array.from(tracked.backends, ([backend, rate]) => {
      return { backend, cost: (rate.rate(nowMs, smoothingMs, ageMs) / counted) * transactions };
    });
    return { transactions, backends: largestOf(all) };
  }

  /** Forgets the lanes that have been silent for too long. */
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
