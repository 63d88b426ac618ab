import { createHistogram } from 'node:perf_hooks';
import { jainIndex as jainOf } from '../../../../sim/verdict/fairness.js';
import { BYTES, MESSAGES, type Rates } from '../../../core/base/vocabulary.js';
import { maxMin } from '../../../core/convergence/max-min.js';
import { createLaneView } from '../../../core/convergence/strategy.js';
import { SlidingPeak } from './sliding-peak.js';

/** Counts of one node's clients since the start: [messages, bytes]. Waiting = arrived − admitted − gave up. */
export interface ClientTally {
  readonly arrived: [messages: number, bytes: number];
  readonly admitted: [messages: number, bytes: number];
  readonly gaveUp: [messages: number, bytes: number];
}

/** Figures of a run; ratios are parts of the quota. */
export interface Measurement {
  readonly seconds: number;
  readonly utilisation: number;
  /** Seconds of full quota that were due. */
  readonly dueSeconds: number;
  /** (Largest 5 s window ÷ 5 s of quota) − 1; negative = none was full. The worse dimension counts. */
  readonly overAdmission: number;
  /** Largest sliding second ÷ quota, of the worse dimension. */
  readonly worstSecond: number;
  /** Part of the seconds in which new arrivals alone exceeded the quota. */
  readonly secondsAboveQuota: number;
  /** Part of the seconds in which bytes were the tighter dimension. Only seconds with excess demand count. */
  readonly secondsBytesTighter: number;
  readonly jain: number;
  readonly acquires: number;
  readonly acquireP50Ms: number;
  readonly acquireP99Ms: number;
  readonly nodes: readonly ClientTally[];
}

const SECOND_MS = 1000;
const OVER_ADMISSION_WINDOW_MS = 5000;

/** Measures at the clients from the first moment: arrivals, admissions, and who gave up. */
export class Meter {
  readonly nodes: readonly ClientTally[];
  readonly #quota: Rates;
  readonly #utilisation: Utilisation;
  readonly #seconds: readonly SlidingPeak[];
  readonly #windows: readonly SlidingPeak[];
  readonly #latencyUs = createHistogram();
  #secondEndMs = SECOND_MS;
  #secondBegan: readonly ClientTally[];
  #secondCount = 0;
  #arrivalsAboveQuota = 0;
  #demandAboveQuota = 0;
  #bytesTighter = 0;
  readonly #jain: number[] = [];

  constructor(quotaPerSecond: Rates, nodeCount: number) {
    this.#quota = quotaPerSecond;
    this.nodes = Array.from({ length: nodeCount }, () => ({ arrived: [0, 0], admitted: [0, 0], gaveUp: [0, 0] }));
    this.#secondBegan = structuredClone(this.nodes);
    this.#utilisation = new Utilisation(quotaPerSecond);
    this.#seconds = [new SlidingPeak(SECOND_MS), new SlidingPeak(SECOND_MS)];
    this.#windows = [new SlidingPeak(OVER_ADMISSION_WINDOW_MS), new SlidingPeak(OVER_ADMISSION_WINDOW_MS)];
  }

  /** Counts an arrival; milliseconds since the start never go back. */
  arrived(node: number, bytes: number, atMs: number): void {
    this.advance(atMs);
    add(this.nodes[node].arrived, 1, bytes);
    this.#utilisation.arrived(bytes, atMs);
  }

  admitted(node: number, bytes: number, atMs: number): void {
    this.advance(atMs);
    add(this.nodes[node].admitted, 1, bytes);
    this.#utilisation.admitted(bytes, atMs);
    for (const peaks of [this.#seconds, this.#windows]) {
      peaks[MESSAGES].add(1, atMs);
      peaks[BYTES].add(bytes, atMs);
    }
  }

  gaveUp(node: number, bytes: number, atMs: number): void {
    this.advance(atMs);
    add(this.nodes[node].gaveUp, 1, bytes);
    this.#utilisation.gaveUp(bytes, atMs);
  }

  /** Moves waiting work between nodes' clients. */
  moved(from: number, to: number, bytes: number): void {
    add(this.nodes[from].arrived, -1, -bytes);
    add(this.nodes[to].arrived, 1, bytes);
  }

  answered(tookMs: number): void {
    this.#latencyUs.record(Math.max(1, Math.round(tookMs * 1000)));
  }

  advance(nowMs: number): void {
    this.#utilisation.advance(nowMs);
    while (nowMs >= this.#secondEndMs) {
      this.#endSecond();
      this.#secondEndMs += SECOND_MS;
    }
  }

  measurement(nowMs: number): Measurement {
    this.advance(nowMs);
    return {
      seconds: nowMs / SECOND_MS,
      utilisation: this.#utilisation.ratio,
      dueSeconds: this.#utilisation.dueSeconds,
      overAdmission: this.#fullest(this.#windows, OVER_ADMISSION_WINDOW_MS) - 1,
      worstSecond: this.#fullest(this.#seconds, SECOND_MS),
      secondsAboveQuota: this.#arrivalsAboveQuota / Math.max(1, this.#secondCount),
      secondsBytesTighter: this.#bytesTighter / Math.max(1, this.#demandAboveQuota),
      jain: this.#jain.reduce((sum, index) => sum + index, 0) / this.#jain.length,
      acquires: this.#latencyUs.count,
      acquireP50Ms: this.#latencyUs.percentile(50) / 1000,
      acquireP99Ms: this.#latencyUs.percentile(99) / 1000,
      nodes: structuredClone(this.nodes),
    };
  }

  #fullest(peaks: readonly SlidingPeak[], windowMs: number): number {
    const seconds = windowMs / SECOND_MS;
    return Math.max(
      peaks[MESSAGES].peak / (this.#quota[MESSAGES] * seconds),
      peaks[BYTES].peak / (this.#quota[BYTES] * seconds),
    );
  }

  #endSecond(): void {
    const before = this.#secondBegan;
    const now = structuredClone(this.nodes);
    this.#secondBegan = now;
    this.#secondCount++;
    const arrivals = totalOf(now.map(({ arrived }, at) => minus(arrived, before[at].arrived)));
    if (this.#isAboveQuota(arrivals)) this.#arrivalsAboveQuota++;
    const nodes = now.map((tally, at) => ({
      demand: minus(minus(tally.arrived, before[at].admitted), before[at].gaveUp),
      admitted: minus(tally.admitted, before[at].admitted),
    }));
    // Met demand leaves nothing to divide.
    if (!this.#isAboveQuota(totalOf(nodes.map(({ demand }) => demand)))) return;
    this.#demandAboveQuota++;
    const [messages, bytes] = totalOf(nodes.map(({ admitted }) => admitted));
    if (bytes / this.#quota[BYTES] > messages / this.#quota[MESSAGES]) this.#bytesTighter++;
    const index = jainIndex(this.#quota, nodes);
    if (!Number.isNaN(index)) this.#jain.push(index);
  }

  #isAboveQuota(amounts: Rates): boolean {
    return amounts[MESSAGES] > this.#quota[MESSAGES] || amounts[BYTES] > this.#quota[BYTES];
  }
}

function minus(left: Rates, right: Rates): Rates {
  return [left[MESSAGES] - right[MESSAGES], left[BYTES] - right[BYTES]];
}

function totalOf(amounts: readonly Rates[]): Rates {
  return amounts.reduce<Rates>((sum, each) => [sum[MESSAGES] + each[MESSAGES], sum[BYTES] + each[BYTES]], [0, 0]);
}

/** One node's wants and admissions in one second: [messages, bytes]. */
interface NodeSecond {
  readonly demand: Rates;
  readonly admitted: Rates;
}

/**
 * Computes Jain's index of one second: how evenly nodes came by their max-min amounts, 1 = exactly.
 *
 *     xᵢ = admittedᵢ ÷ what a max-min division of the quota by this second's demand lets node i admit
 *
 * Nodes without demand do not count; NaN below two.
 */
export function jainIndex(quota: Rates, nodes: readonly NodeSecond[]): number {
  const parts = fairMessages(quota, nodes).flatMap((fair, at) =>
    fair > 0 ? [nodes[at].admitted[MESSAGES] / fair] : [],
  );
  return jainOf(parts) ?? Number.NaN;
}

function fairMessages(quota: Rates, nodes: readonly NodeSecond[]): number[] {
  const round = createLaneView(nodes.length);
  round.count = nodes.length;
  round.target.set(quota);
  for (const [at, { demand }] of nodes.entries()) {
    round.weight[at] = 1;
    round.demand[MESSAGES][at] = demand[MESSAGES];
    round.demand[BYTES][at] = demand[BYTES];
  }
  maxMin.converge(round);
  return nodes.map(({ demand }, at) => {
    const messages = round.share[MESSAGES][at] / demand[MESSAGES];
    const bytes = round.share[BYTES][at] / demand[BYTES];
    return demand[MESSAGES] > 0 ? demand[MESSAGES] * Math.min(1, messages, bytes) : 0;
  });
}

/** Milliseconds of a step, a bucket's depth and more; finer borrows quota from before. */
const DUE_STEP_MS = 100;
const STEPS_PER_SECOND = 10;

/**
 * Measures utilisation of min(quota, demand):
 *
 *     due  = Σ over steps of 100 ms of min(quota · 100 ms, what arrived in the step + what was waiting when it
 *     began)
 *     used = Σ over whole seconds of what was admitted
 *     utilisation = used ÷ due
 *
 * Both are parts of the quota, of the fuller dimension, as both limit the same work. Waiting work is demand again in
 * each step: unused quota is lost while somebody waits. Admissions add up over seconds, because the fuller dimension of
 * small steps flatters. An ideal limiter measures 100 % ± 1 (test/unit/demo/utilisation.test.ts).
 *
 * *Worked:* quota 300/s; 30 wait throughout, 24 are admitted in each 100 ms → 80 %.
 */
export class Utilisation {
  readonly #quota: Rates;
  readonly #waiting = [0, 0];
  /** Demand of the current step. */
  readonly #demand = [0, 0];
  readonly #admitted = [0, 0];
  #dueInSecond = 0;
  #steps = 0;
  #usedSeconds = 0;
  #dueSeconds = 0;

  constructor(quotaPerSecond: Rates) {
    this.#quota = quotaPerSecond;
  }

  /** Ratio over whole seconds, about 1 at best plus saved tokens; NaN before anything was due. */
  get ratio(): number {
    return this.#usedSeconds / this.#dueSeconds;
  }

  /** Due so far, in seconds of full quota. */
  get dueSeconds(): number {
    return this.#dueSeconds;
  }

  arrived(bytes: number, atMs: number): void {
    this.advance(atMs);
    add(this.#waiting, 1, bytes);
    add(this.#demand, 1, bytes);
  }

  admitted(bytes: number, atMs: number): void {
    this.advance(atMs);
    add(this.#admitted, 1, bytes);
    add(this.#waiting, -1, -bytes);
  }

  gaveUp(bytes: number, atMs: number): void {
    this.advance(atMs);
    add(this.#waiting, -1, -bytes);
  }

  /** Ends the steps and seconds that are over. */
  advance(nowMs: number): void {
    while (nowMs >= (this.#steps + 1) * DUE_STEP_MS) {
      this.#steps++;
      this.#dueInSecond += Math.min(1 / STEPS_PER_SECOND, this.#fuller(this.#demand));
      this.#demand.splice(0, 2, ...this.#waiting);
      if (this.#steps % STEPS_PER_SECOND === 0) this.#endSecond();
    }
  }

  #endSecond(): void {
    this.#dueSeconds += this.#dueInSecond;
    this.#usedSeconds += this.#fuller(this.#admitted);
    this.#dueInSecond = 0;
    this.#admitted.fill(0);
  }

  #fuller([messages, bytes]: readonly number[]): number {
    return Math.max(messages / this.#quota[0], bytes / this.#quota[1]);
  }
}

function add(amounts: number[], messages: number, bytes: number): void {
  amounts[0] += messages;
  amounts[1] += bytes;
}
