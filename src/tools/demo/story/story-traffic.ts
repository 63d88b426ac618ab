import { createHistogram } from 'node:perf_hooks';
import { PlainLimiter } from '../../../../sim/baselines/plain-limiter.js';
import type { ClientTally } from '../measure/meter.js';
import { type Answer, CLIENT_PATIENCE_MS, type Work } from '../traffic/node-clients.js';
import { STORY_BURST, STORY_QUOTA, type Stretch } from './acts.js';
import { System, type SystemTally } from './system.js';

export interface ActTallies {
  readonly ours: SystemTally;
  readonly split: SystemTally;
  readonly central: SystemTally;
  /** Milliseconds of the cluster's answers, refusals included. */
  readonly answerMs: { readonly median: number; readonly p99: number };
}

interface StoryTrafficOptions {
  readonly acquire: readonly ((work: Work) => Promise<Answer>)[];
  readonly random: () => number;
}

/** Milliseconds for waiting work to end after an act. */
const DRAIN_MS = CLIENT_PATIENCE_MS + 200;
/** Milliseconds between deliveries of due arrivals. */
const TICK_MS = 5;

/** Sends each request to three systems: the cluster, a static split, a central bucket. */
export class StoryTraffic {
  readonly #systems: { readonly ours: System; readonly split: System; readonly central: System };
  readonly #others: readonly BucketSystem[];
  readonly #random: () => number;
  readonly #beganMs = performance.now();
  #alive: readonly number[];
  #answersUs = createHistogram();
  #timer: NodeJS.Timeout | undefined;

  constructor({ acquire, random }: StoryTrafficOptions) {
    const nowMs = () => this.elapsedMs;
    const [split, central] = [BucketSystem.split(acquire.length, nowMs), BucketSystem.central(acquire.length, nowMs)];
    const ours = acquire.map((ask) => (work: Work) => this.#timed(ask, work));
    const system = (ask: typeof acquire) => new System({ acquire: ask, random, nowMs });
    this.#systems = { ours: system(ours), split: system(split.acquire), central: system(central.acquire) };
    this.#others = [split, central];
    this.#random = random;
    this.#alive = acquire.map((_, node) => node);
    this.setQuota(STORY_QUOTA);
  }

  get elapsedMs(): number {
    return performance.now() - this.#beganMs;
  }

  get nodes(): readonly ClientTally[] {
    return this.#systems.ours.nodes;
  }

  async play(stretches: readonly Stretch[]): Promise<ActTallies> {
    const { ours, split, central } = this.#systems;
    this.#answersUs = createHistogram();
    for (const system of this.#all) system.beginAct();
    await this.#deliver(stretches);
    const { count } = this.#answersUs;
    const answerMs = (percentile: number) => (count === 0 ? 0 : this.#answersUs.percentile(percentile) / 1000);
    return {
      ours: ours.tally,
      split: split.tally,
      central: central.tally,
      answerMs: { median: answerMs(50), p99: answerMs(99) },
    };
  }

  nodeGone(node: number): void {
    this.#alive = this.#alive.filter((each) => each !== node);
    for (const system of this.#all) system.nodeGone(node, this.#alive);
  }

  nodeBack(node: number): void {
    this.#alive = [...this.#alive, node].sort((one, other) => one - other);
  }

  setQuota(messagesPerSecond: number): void {
    for (const other of this.#others) other.setQuota(messagesPerSecond);
  }

  end(): void {
    clearInterval(this.#timer);
    for (const system of this.#all) system.end();
  }

  get #all(): readonly System[] {
    return Object.values(this.#systems);
  }

  #deliver(stretches: readonly Stretch[]): Promise<void> {
    const arrivals = arrivalsOf(stretches, this.#random);
    const endMs = stretches.reduce((total, { forMs }) => total + forMs, DRAIN_MS);
    const beganMs = this.elapsedMs;
    let next = 0;
    return new Promise((resolve) => {
      this.#timer = setInterval(() => {
        const actMs = this.elapsedMs - beganMs;
        for (; next < arrivals.length && arrivals[next].atMs <= actMs; next++) this.#arrive(arrivals[next].node, next);
        if (actMs < endMs) return;
        clearInterval(this.#timer);
        resolve();
      }, TICK_MS);
    });
  }

  /** Delivers requests; an absent node's clients take turns at the others. */
  #arrive(wanted: number, turn: number): void {
    const node = this.#alive.includes(wanted) ? wanted : this.#alive[turn % this.#alive.length];
    if (node !== undefined) for (const system of this.#all) system.arrive(node);
  }

  async #timed(ask: (work: Work) => Promise<Answer>, work: Work): Promise<Answer> {
    const sentMs = performance.now();
    const answer = await ask(work);
    this.#answersUs.record(Math.max(1, Math.round((performance.now() - sentMs) * 1000)));
    return answer;
  }
}

export interface Arrival {
  readonly atMs: number;
  readonly node: number;
}

/** Draws an act's requests by a Poisson process per node. They are in time order. */
export function arrivalsOf(stretches: readonly Stretch[], random: () => number): readonly Arrival[] {
  const arrivals: Arrival[] = [];
  let beganMs = 0;
  for (const { forMs, perSecond, atOnce } of stretches) {
    for (let request = 0; request < (atOnce?.requests ?? 0); request++) {
      arrivals.push({ atMs: beganMs, node: atOnce?.node ?? 0 });
    }
    for (const [node, rate] of perSecond.entries()) {
      if (rate === 0) continue;
      const gapMs = () => (-Math.log(1 - random()) * 1000) / rate;
      for (let atMs = gapMs(); atMs < forMs; atMs += gapMs()) arrivals.push({ atMs: beganMs + atMs, node });
    }
    beganMs += forMs;
  }
  return arrivals.sort((one, other) => one.atMs - other.atMs);
}

const RETRY_AFTER_MS = 20;

/**
 * Limits by one bucket without distance or outages: the best that a central store can give. Or as a static split, with
 * a bucket of quota and burst ÷ nodes each.
 */
class BucketSystem {
  readonly acquire: readonly ((work: Work) => Promise<Answer>)[];
  readonly #buckets: readonly PlainLimiter[];
  readonly #nowMs: () => number;

  private constructor(nodes: number, buckets: number, nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#buckets = Array.from({ length: buckets }, () => new PlainLimiter());
    this.acquire = Array.from({ length: nodes }, (_, node) => async ({ refusedBefore }: Work): Promise<Answer> => {
      const bucket = this.#buckets[node % buckets];
      const granted = bucket.tryAcquire(1, 0, refusedBefore, nowMs());
      return granted ? { kind: 'granted' } : { kind: 'refused', retryAfterMs: RETRY_AFTER_MS };
    });
  }

  static central(nodes: number, nowMs: () => number): BucketSystem {
    return new BucketSystem(nodes, 1, nowMs);
  }

  static split(nodes: number, nowMs: () => number): BucketSystem {
    return new BucketSystem(nodes, nodes, nowMs);
  }

  /** Changes the quota everywhere at once; the burst stays. */
  setQuota(messagesPerSecond: number): void {
    const parts = this.#buckets.length;
    const rates = { messagesPerSecond: messagesPerSecond / parts, bytesPerSecond: Infinity };
    for (const bucket of this.#buckets) bucket.setRates(rates, this.#nowMs(), [STORY_BURST / parts, null]);
  }
}
