import type { ClusterUnderTest } from '../cluster-under-test.js';
import { EventQueue } from '../event-queue.js';
import { arrivalStreams, clientPools } from '../load/arrival-streams.js';
import { type Ask, playClients, playStream } from '../load/play-arrivals.js';
import { Random } from '../random.js';
import type { RunResult } from '../run-result.js';
import type { QuotaRates, Scenario } from '../scenario/scenario.js';
import { type System, shortName } from '../systems.js';
import { judge } from '../verdict/judge.js';
import { judgeExpectations } from './expectations.js';
import { FairReference } from './fair-reference.js';
import { playHappenings } from './play-happenings.js';
import { Presence } from './presence.js';
import { Recorder, TICK_MS } from './recorder.js';
import { seriesOf } from './series.js';

/**
 * Plays a scenario on a system: the same scenario, system and seed give the same result, byte for byte. The seed feeds
 * streams apart from each other for each load and for the network, so that all systems see the same arrivals.
 */
export function runScenario(
  scenario: Scenario,
  system: System,
  seed: number,
  onProgress: (part: number) => void = () => undefined,
): RunResult {
  const run = new Run(scenario, system, seed);
  for (let nowMs = 0; nowMs < scenario.durationMs; nowMs += PROGRESS_MS) {
    onProgress(nowMs / scenario.durationMs);
    run.queue.runUntil(Math.min(scenario.durationMs, nowMs + PROGRESS_MS));
  }
  return run.result();
}

const PROGRESS_MS = 5000;

class Run {
  readonly queue = new EventQueue();
  readonly #scenario: Scenario;
  readonly #system: System;
  readonly #seed: number;
  readonly #cluster: ClusterUnderTest;
  readonly #recorder: Recorder;
  readonly #reference: FairReference;
  readonly #presence: Presence;
  readonly #happened: { readonly atMs: number; readonly says: string }[] = [];
  #quota: readonly [number, number];

  constructor(scenario: Scenario, system: System, seed: number) {
    const { delays, faults, quota, nodes, settings, durationMs } = scenario;
    this.#scenario = scenario;
    this.#system = system;
    this.#seed = seed;
    this.#quota = [quota.messagesPerSecond, quota.bytesPerSecond];
    const random = Random.stream(seed, 'network');
    this.#cluster = system.create({ queue: this.queue, random, delays, quota, nodes: nodes.length, settings });
    this.#cluster.setFaults(faults);
    this.#recorder = new Recorder(nodes.length, durationMs, this.#quota);
    this.#reference = new FairReference(scenario);
    this.#presence = new Presence(nodes.length);
    this.#begin();
  }

  result(): RunResult {
    const { durationMs, nodes, settlePointsMs, settleMs } = this.#scenario;
    const { faults } = this.#presence;
    const derived = [...this.#reference.stepsMs, ...faults.map(({ untilMs }) => untilMs)].filter(
      (at) => at < durationMs,
    );
    const stepsMs = settlePointsMs ?? [...new Set(derived)].sort((one, other) => one - other);
    const { records, bytes } = this.#cluster.sent;
    const verdict = judge(this.#recorder, { stepsMs, faults }, { nodes: nodes.length, settleMs, records, bytes });
    return {
      scenario: this.#scenario.name,
      seed: this.#seed,
      system: this.#cluster.name,
      durationMs,
      sampleMs: this.#recorder.sampleMs,
      nodes,
      series: seriesOf(this.#recorder, nodes),
      happenings: this.#happened,
      verdict,
      expectations: judgeExpectations(this.#scenario.expectations.get(shortName(this.#system.name)) ?? [], verdict),
    };
  }

  #begin(): void {
    playHappenings({
      scenario: this.#scenario,
      queue: this.queue,
      cluster: this.#cluster,
      presence: this.#presence,
      setQuota: (quota) => this.#setQuota(quota),
      tell: (says) => this.#happened.push({ atMs: this.queue.nowMs, says }),
    });
    this.queue.at(0, () => this.#tick());
    const stage = { queue: this.queue, seed: this.#seed, ask: this.#asker() };
    for (const stream of arrivalStreams(this.#scenario)) playStream(stream, stage);
    for (const pool of clientPools(this.#scenario)) playClients(pool, stage);
  }

  #asker(): Ask {
    const [cluster, recorder, queue, nodes] = [this.#cluster, this.#recorder, this.queue, this.#scenario.nodes];
    return (node, messages, bytes, retry) => {
      const admitted = cluster.tryAcquire(nodes[node]!, messages, bytes, retry);
      recorder.attempted(queue.nowMs, node, messages, bytes, retry, admitted);
      return admitted;
    };
  }

  /** Looks at the quota, the fair shares and the limits, every 20 ms. */
  #tick(): void {
    const { nowMs } = this.queue;
    if (nowMs >= this.#scenario.durationMs) return;
    const [recorder, reference, presence, cluster] = [this.#recorder, this.#reference, this.#presence, this.#cluster];
    const names = this.#scenario.nodes;
    reference.update(nowMs, presence.isMoved, this.#quota, (node) => presence.canServe(node, nowMs));
    presence.isMoved = false;
    recorder.granted(nowMs, this.#quota);
    recorder.errors[nowMs / TICK_MS] = reference.errorOf((node, dimension) => cluster.limitOf(names[node]!, dimension));
    const sample = Math.floor(nowMs / recorder.sampleMs);
    const isLastOfSample = (nowMs + TICK_MS) % recorder.sampleMs === 0;
    for (let node = 0; node < names.length; node++) {
      const cell = node * recorder.samples + sample;
      recorder.isBelowFair[node] = reference.isBelowFair(node) ? 1 : 0;
      const fair = (reference.fair.rates[node]! * TICK_MS) / 1000;
      const [messages, bytes] = recorder.columns;
      messages.fair[cell] = messages.fair[cell]! + fair;
      bytes.fair[cell] = bytes.fair[cell]! + fair * reference.wanted.sizes[node]!;
      if (!isLastOfSample) continue;
      messages.limit[cell] = cluster.limitOf(names[node]!, 0);
      bytes.limit[cell] = cluster.limitOf(names[node]!, 1);
    }
    this.queue.after(TICK_MS, () => this.#tick());
  }

  #setQuota({ messagesPerSecond, bytesPerSecond }: Partial<Record<keyof QuotaRates, number | null>>): void {
    const [messages, bytes] = [messagesPerSecond ?? this.#quota[0], bytesPerSecond ?? this.#quota[1]];
    this.#quota = [messages, bytes];
    this.#cluster.setQuota(messages, bytes);
    this.#recorder.buckets[0].setQuota(messages, this.queue.nowMs);
    this.#recorder.buckets[1].setQuota(bytes, this.queue.nowMs);
    this.#presence.isMoved = true;
  }
}
