import { type ArrivalStream, arrivalStreams, type ClientPool, clientPools } from '../load/arrival-streams.js';
import { ProfileCursor } from '../load/rate-profile.js';
import type { Scenario } from '../scenario/scenario.js';
import {
  allocateFairly,
  createAllocation,
  dueOf,
  type FairAllocation,
  type Wanted,
} from '../verdict/fair-allocation.js';

/** Computes fair shares over time, by the scenario's rates and serving nodes. */
export class FairReference {
  readonly fair: FairAllocation;
  readonly wanted: Wanted;
  /** Jumps of the fair shares. */
  readonly stepsMs: number[] = [];
  readonly #sources: readonly Source[];
  readonly #before: Float64Array;
  #nextChangeMs = 0;
  #quota: readonly [number, number] = [0, 0];

  constructor(scenario: Scenario) {
    const count = scenario.nodes.length;
    const weights = scenario.settings.groups[0]?.weights ?? {};
    this.wanted = {
      rates: new Float64Array(count),
      sizes: new Float64Array(count),
      weights: Float64Array.from(scenario.nodes, (name) => weights[name] ?? 1),
    };
    this.fair = createAllocation(count);
    this.#before = new Float64Array(count);
    this.#sources = [...arrivalStreams(scenario), ...clientPools(scenario)].map(sourceOf);
  }

  /** Updates when the world may have changed; `isMoved` says that it has. */
  update(nowMs: number, isMoved: boolean, quota: readonly [number, number], canServe: (node: number) => boolean): void {
    if (!isMoved && nowMs < this.#nextChangeMs) return;
    this.#quota = quota;
    this.#readRates(nowMs, canServe);
    this.#before.set(this.fair.rates);
    allocateFairly(this.wanted, quota, this.fair);
    if (this.#distance(this.#before) > JUMP || nowMs === 0) this.stepsMs.push(nowMs);
  }

  /** Tests if a node wants clearly less than its fair share. */
  isBelowFair(node: number): boolean {
    const rate = this.wanted.rates[node];
    return rate > 0 && rate < BELOW * dueOf(this.fair, this.wanted, node);
  }

  /** Returns Σ |min(limit, wanted) − fair| ÷ quota, of the worse dimension. */
  errorOf(limitOf: (node: number, dimension: 0 | 1) => number): number {
    return this.#distance(this.fair.rates, limitOf);
  }

  #distance(fair: Float64Array, limitOf?: (node: number, dimension: 0 | 1) => number): number {
    const { rates, sizes } = this.wanted;
    let messages = 0;
    let bytes = 0;
    for (let node = 0; node < rates.length; node++) {
      const size = sizes[node];
      let other = this.fair.rates[node];
      if (limitOf !== undefined) {
        const byBytes = size === 0 ? Infinity : limitOf(node, 1) / size;
        other = Math.min(rates[node], limitOf(node, 0), byBytes);
      }
      const apart = Math.abs(other - fair[node]);
      messages += apart;
      bytes += apart * size;
    }
    return Math.max(partOf(messages, this.#quota[0]), partOf(bytes, this.#quota[1]));
  }

  #readRates(nowMs: number, canServe: (node: number) => boolean): void {
    const { rates, sizes } = this.wanted;
    rates.fill(0);
    sizes.fill(0);
    this.#nextChangeMs = Infinity;
    for (const { node, cursor, messages, bytes } of this.#sources) {
      const rate = cursor.rateAt(nowMs);
      this.#nextChangeMs = Math.min(this.#nextChangeMs, cursor.nextChangeMs);
      if (!canServe(node)) continue;
      rates[node] += rate * messages;
      sizes[node] += rate * bytes;
    }
    for (let node = 0; node < rates.length; node++) sizes[node] = rates[node] === 0 ? 0 : sizes[node] / rates[node];
  }
}

interface Source {
  readonly node: number;
  readonly cursor: ProfileCursor;
  readonly messages: number;
  readonly bytes: number;
}

function sourceOf({ node, profile, piece }: ArrivalStream | ClientPool): Source {
  const bytes = (piece.leastBytes + piece.mostBytes) / 2;
  return { node, cursor: new ProfileCursor(profile), messages: piece.messages, bytes };
}

function partOf(amount: number, quota: number): number {
  return quota === 0 || quota === Infinity ? 0 : amount / quota;
}

/** Part of the quota that makes a step. */
const JUMP = 0.05;
/** Part of the water level that arrivals' noise exceeds. */
const BELOW = 0.95;
