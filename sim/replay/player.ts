import { depthGiven } from '../../src/core/base/settings.js';
import { directionIndex, type Rates, UNLIMITED } from '../../src/core/base/vocabulary.js';
import type { AskedCluster, ClusterUnderTest } from '../cluster/cluster-under-test.js';
import { EventQueue } from '../cluster/event-queue.js';
import { Random } from '../cluster/random.js';
import { LOCAL_KAFKA } from '../cluster/world.js';
import { OWN_SYSTEMS } from '../systems.js';
import { FoldingSeries } from './folding-series.js';
import type { ReplayOptions } from './play-trace.js';
import { fillSeconds, type ReplayedSystem } from './replayed-system.js';
import { RunningVerdict, traceVerdict } from './running-verdict.js';
import type { TraceArrival } from './trace.js';
import type { TraceRun } from './trace-run.js';

/** Milliseconds to join and fill the bucket before the trace. */
const HEAD_START_MS = 3000;
const SPARES = 16;
const PUBLISH = directionIndex('publish');

/** Plays one system; refused work is lost unless its row retries. */
export class Player {
  readonly #system: ReplayedSystem;
  readonly #options: ReplayOptions;
  readonly #queue = new EventQueue();
  readonly #random: Random;
  readonly #retryRandom: Random;
  readonly #clusters: Cluster[] = [];
  /** Systems for keys to come, set up before use. */
  #spares: Cluster[] = [];
  /** Units/s of the nodes. */
  readonly #quota: Rates;
  readonly #maxRequest: Rates;
  readonly #names: readonly string[];
  readonly #series: FoldingSeries;
  readonly #fillSeconds: number;
  readonly #headStartMs: number;
  readonly #keys = new Map<string, Keyed>();
  #tooLarge = 0;
  /** Time of the last answer. */
  #lastMs = 0;
  #open = 0;

  constructor(system: ReplayedSystem, options: ReplayOptions) {
    const { nodes, seed, quota, speed } = options;
    this.#system = system;
    this.#options = options;
    this.#random = new Random(seed);
    this.#retryRandom = Random.stream(seed, 'retries');
    this.#quota = [quota[0] * speed, quota[1] * speed];
    const [messagesPerSecond, bytesPerSecond] = this.#quota;
    this.#fillSeconds = fillSeconds({ quota: { messagesPerSecond, bytesPerSecond }, settings: options.settings });
    this.#headStartMs = HEAD_START_MS + this.#fillSeconds * 1000;
    this.#maxRequest = OWN_SYSTEMS.some((own) => own === system) ? options.maxRequest : UNLIMITED;
    this.#names = Array.from({ length: nodes }, (_, at) => `n${at}`);
    this.#series = new FoldingSeries(nodes);
    this.#clusters.push(this.#startCluster());
    if (options.isPerKey === true && !this.#hasQuotaPerKey) {
      this.#spares = Array.from({ length: SPARES }, () => this.#startCluster());
    }
    this.#queue.runUntil(this.#headStartMs);
  }

  play(arrival: TraceArrival): void {
    const { atMs, node, messages, bytes } = arrival;
    this.#runUntil(atMs);
    const keyed = this.#keys.get(arrival.key) ?? this.#addKey(arrival.key);
    keyed.offered[0] += messages;
    keyed.offered[1] += bytes;
    keyed.verdict.want(atMs, messages, bytes);
    this.#series.want(node, messages, bytes);
    if (messages > this.#maxRequest[0] || bytes > this.#maxRequest[1]) {
      this.#tooLarge++;
      this.#answered({ ...arrival, retryAfterMs: 0 }, keyed, false, { nowMs: atMs, retriesLeft: 0 });
      return;
    }
    this.#ask(arrival, keyed, atMs, this.#options.retries ?? 0);
  }

  /** Waits for the last answers; returns the last's time. */
  finish(playedMs: number): number {
    this.#lastMs = Math.max(this.#lastMs, playedMs);
    for (let nowMs = playedMs; this.#open > 0; nowMs++) this.#runUntil(nowMs);
    return this.#lastMs;
  }

  /** @param endMs the last answer of all systems */
  result(endMs: number): TraceRun {
    this.#runUntil(endMs);
    this.#runUntil(this.#series.endMs);
    const { name, seed, quota, speed, isPerKey = false } = this.#options;
    const keyed = [...this.#keys.values()];
    for (const { verdict } of keyed) verdict.end(this.#lastMs);
    const sum = (read: (each: Keyed) => number) => keyed.reduce((total, each) => total + read(each), 0);
    const series = this.#series.series(this.#names, isPerKey ? UNLIMITED : quota, speed);
    const sampleMs = this.#series.sampleMs * speed;
    return {
      scenario: name,
      seed,
      system: this.#system.name,
      nodes: this.#names,
      happenings: [],
      series,
      sampleMs,
      durationMs: (series[0]?.quota.length ?? 0) * sampleMs,
      verdict: { ...traceVerdict(keyed.map(({ verdict }) => verdict)), ...this.#sent() },
      offered: sum(({ offered }) => offered[0]),
      admitted: sum(({ admitted }) => admitted[0]),
      offeredBytes: sum(({ offered }) => offered[1]),
      admittedBytes: sum(({ admitted }) => admitted[1]),
      tooLarge: this.#tooLarge,
      keys: [...this.#keys].map(([key, { offered, admitted }]) => ({
        key,
        offered: offered[0],
        admitted: admitted[0],
        offeredBytes: offered[1],
        admittedBytes: admitted[1],
      })),
    };
  }

  #ask(arrival: TraceArrival, keyed: Keyed, nowMs: number, retriesLeft: number): void {
    const { messages, bytes } = arrival;
    const { cluster, index } = keyed;
    const retry = nowMs > arrival.atMs;
    const name = this.#names[arrival.node];
    if ('ask' in cluster) {
      this.#open++;
      cluster.ask(name, messages, bytes, (isAdmitted) => {
        this.#open--;
        this.#answered(arrival, keyed, isAdmitted, { nowMs: this.#queue.nowMs - this.#headStartMs, retriesLeft });
      });
      return;
    }
    const isAdmitted =
      index === 0 || cluster.tryAcquireOf === undefined
        ? cluster.tryAcquire(name, messages, bytes, retry)
        : cluster.tryAcquireOf(index, name, messages, bytes, retry);
    this.#answered(arrival, keyed, isAdmitted, { nowMs, retriesLeft });
  }

  #answered(arrival: TraceArrival, keyed: Keyed, isAdmitted: boolean, { nowMs, retriesLeft }: Answer): void {
    const { node, messages, bytes, retryAfterMs } = arrival;
    this.#lastMs = nowMs;
    if (!isAdmitted && retriesLeft > 0 && retryAfterMs > 0) {
      this.#open++;
      this.#queue.after(retryAfterMs * this.#retryRandom.between(0.5, 1.5), () => {
        this.#open--;
        const againMs = this.#queue.nowMs - this.#headStartMs;
        keyed.verdict.want(againMs, messages, bytes);
        this.#ask(arrival, keyed, againMs, retriesLeft - 1);
      });
      return;
    }
    this.#series.answer(node, messages, bytes, isAdmitted);
    if (!isAdmitted) return;
    keyed.admitted[0] += messages;
    keyed.admitted[1] += bytes;
    keyed.verdict.admit(nowMs, messages, bytes);
  }

  /** Sets the system up for a further key. */
  #addKey(key: string): Keyed {
    const index = this.#keys.size;
    const cluster = index === 0 || this.#hasQuotaPerKey ? this.#first : this.#takeSpare();
    const verdict = new RunningVerdict(this.#quota, this.#fillSeconds);
    const keyed: Keyed = { index, cluster, verdict, offered: [0, 0], admitted: [0, 0] };
    this.#keys.set(key, keyed);
    return keyed;
  }

  get #first(): Cluster {
    return this.#clusters[0];
  }

  /** Tests if one cluster has a quota per key; else each key has a cluster. */
  get #hasQuotaPerKey(): boolean {
    return 'tryAcquireOf' in this.#first && this.#first.tryAcquireOf !== undefined;
  }

  #takeSpare(): Cluster {
    this.#spares.push(this.#startCluster());
    const cluster = this.#spares.shift() as Cluster;
    this.#clusters.push(cluster);
    return cluster;
  }

  #startCluster(): Cluster {
    const { nodes, settings, delays = LOCAL_KAFKA, quotaPerMs } = this.#options;
    const [messagesPerSecond, bytesPerSecond] = this.#quota;
    const burst = settings.groups[0]?.burst;
    const cluster = this.#system.create({
      queue: this.#queue,
      random: this.#random,
      delays,
      quota: { messagesPerSecond, bytesPerSecond },
      ...(quotaPerMs && { quotaPerMs }),
      ...(burst && { burst: [depthGiven(burst, PUBLISH, 0), depthGiven(burst, PUBLISH, 1)] as const }),
      nodes,
      settings,
    });
    for (const name of this.#names) cluster.start(name);
    return cluster;
  }

  #runUntil(atMs: number): void {
    for (let endMs = this.#series.endMs; endMs <= atMs; endMs = this.#series.endMs) {
      this.#queue.runUntil(this.#headStartMs + endMs);
      this.#endSample();
    }
    this.#queue.runUntil(this.#headStartMs + atMs);
  }

  #endSample(): void {
    const limitOf = (node: number, dimension: 0 | 1) => this.#first.limitOf(this.#names[node], dimension);
    this.#series.end(this.#options.isPerKey === true ? () => Infinity : limitOf);
    for (const cluster of this.#clusters) if ('forgetPast' in cluster) cluster.forgetPast?.();
  }

  #sent(): { readonly records: number; readonly bytes: number } {
    let [records, bytes] = [0, 0];
    for (const { sent } of this.#clusters) {
      records += sent.records;
      bytes += sent.bytes;
    }
    return { records, bytes };
  }
}

type Cluster = ClusterUnderTest | AskedCluster;

interface Answer {
  readonly nowMs: number;
  readonly retriesLeft: number;
}

interface Keyed {
  /** Index by arrival of keys. */
  readonly index: number;
  readonly cluster: Cluster;
  readonly verdict: RunningVerdict;
  readonly offered: [messages: number, bytes: number];
  readonly admitted: [messages: number, bytes: number];
}
