import type { ClusterUnderTest } from '../cluster/cluster-under-test.js';
import { EventQueue } from '../cluster/event-queue.js';
import { Random } from '../cluster/random.js';
import { LOCAL_KAFKA, type WorldSettings } from '../cluster/world.js';
import type { PageRun } from '../page/page-runs.js';
import type { System } from '../systems.js';
import { FoldingSeries } from './folding-series.js';
import { RunningVerdict, SLICE_MS, worseOf } from './running-verdict.js';
import type { TraceArrival } from './trace.js';

export interface ReplayOptions {
  /** For titles. */
  readonly name: string;
  readonly systems: readonly System[];
  readonly nodes: number;
  readonly seed: number;
  /** Units per second; Infinity = unlimited. */
  readonly quota: readonly [messages: number, bytes: number];
  readonly settings: WorldSettings;
  /** Told about once per 10,000 arrivals. */
  readonly onProgress?: (arrivals: number, playedMs: number) => void;
}

/** What a replay leaves behind: a page's run with the part of a verdict that a trace allows. */
export interface TraceRun extends PageRun {
  readonly verdict: NonNullable<PageRun['verdict']>;
  readonly offered: number;
  readonly admitted: number;
}

/** Joining takes a second; the trace begins when everybody serves. */
const HEAD_START_MS = 3000;
const PROGRESS_EVERY = 10_000;

/**
 * Plays one stream of arrivals on every system at once, each in a virtual time of its own, and needs no more memory
 * for a long one than for a short one. Work that is refused is lost: a trace does not say who would have tried again.
 */
export async function playTrace(arrivals: AsyncIterable<TraceArrival>, options: ReplayOptions): Promise<TraceRun[]> {
  const players = options.systems.map((system) => new Player(system, options));
  let count = 0;
  let playedMs = 0;
  for await (const arrival of arrivals) {
    for (const player of players) player.play(arrival);
    playedMs = arrival.atMs;
    if (++count % PROGRESS_EVERY === 0) options.onProgress?.(count, playedMs);
  }
  return players.map((player) => player.result(playedMs));
}

class Player {
  readonly #options: ReplayOptions;
  readonly #queue = new EventQueue();
  readonly #cluster: ClusterUnderTest;
  readonly #names: readonly string[];
  readonly #series: FoldingSeries;
  readonly #verdicts: readonly [RunningVerdict, RunningVerdict];
  #nextSliceMs = SLICE_MS;
  #offered = 0;
  #admitted = 0;

  constructor(system: System, options: ReplayOptions) {
    const { nodes, seed, quota, settings } = options;
    this.#options = options;
    this.#names = nodeNames(nodes);
    this.#series = new FoldingSeries(nodes);
    this.#verdicts = [new RunningVerdict(quota[0]), new RunningVerdict(quota[1])];
    this.#cluster = system.create({
      queue: this.#queue,
      random: new Random(seed),
      delays: LOCAL_KAFKA,
      quota: { messagesPerSecond: quota[0], bytesPerSecond: quota[1] },
      nodes,
      settings,
    });
    for (const name of this.#names) this.#cluster.start(name);
    this.#queue.runUntil(HEAD_START_MS);
  }

  play({ atMs, node, messages, bytes }: TraceArrival): void {
    this.#runUntil(atMs);
    const isAdmitted = this.#cluster.tryAcquire(this.#names[node] as string, messages, bytes, false);
    this.#offered += messages;
    if (isAdmitted) this.#admitted += messages;
    this.#series.count(node, messages, bytes, isAdmitted);
    this.#verdicts[0].count(atMs, messages, isAdmitted);
    this.#verdicts[1].count(atMs, bytes, isAdmitted);
  }

  result(endMs: number): TraceRun {
    // The sample under way is finished, so that all columns are of one length.
    this.#runUntil(Math.max(endMs, this.#series.endMs));
    const { name, seed, quota } = this.#options;
    const { records, bytes } = this.#cluster.sent;
    const series = this.#series.series(this.#names, quota);
    return {
      scenario: name,
      seed,
      system: this.#cluster.name,
      nodes: this.#names,
      happenings: [],
      series,
      sampleMs: this.#series.sampleMs,
      durationMs: (series[0]?.quota.length ?? 0) * this.#series.sampleMs,
      verdict: { ...worseOf(this.#verdicts[0].verdict(), this.#verdicts[1].verdict()), records, bytes },
      offered: this.#offered,
      admitted: this.#admitted,
    };
  }

  #runUntil(atMs: number): void {
    while (this.#nextSliceMs <= atMs) {
      this.#queue.runUntil(HEAD_START_MS + this.#nextSliceMs);
      for (const verdict of this.#verdicts) verdict.endSlice();
      if (this.#nextSliceMs >= this.#series.endMs) this.#endSample();
      this.#nextSliceMs += SLICE_MS;
    }
    this.#queue.runUntil(HEAD_START_MS + atMs);
  }

  #endSample(): void {
    this.#series.end((node, dimension) => this.#cluster.limitOf(this.#names[node] as string, dimension));
    this.#cluster.forgetPast?.();
  }
}

export function nodeNames(nodes: number): string[] {
  return Array.from({ length: nodes }, (_, at) => `n${at}`);
}
