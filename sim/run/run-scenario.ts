import type { ClusterUnderTest } from '../cluster/cluster-under-test.js';
import { EventQueue } from '../cluster/event-queue.js';
import { Random } from '../cluster/random.js';
import { arrivalStreams, clientPools } from '../load/arrival-streams.js';
import { type ArrivalBatch, type Arrive, playClients, playStream } from '../load/play-arrivals.js';
import { heldBefore } from '../load/rate-profile.js';
import type { QuotaRates, Scenario } from '../scenario/scenario.js';
import { type System, shortName } from '../systems.js';
import { judge } from '../verdict/judge.js';
import { Recorder, TICK_MS } from '../verdict/recorder.js';
import type { RunResult } from '../verdict/run-result.js';
import { judgeExpectations } from './expectations.js';
import { FairReference } from './fair-reference.js';
import { playHappenings } from './play-happenings.js';
import { Presence } from './presence.js';
import { ScenarioTime } from './scenario-time.js';
import { seriesOf } from './series.js';

/** Plays a scenario: same inputs, same bytes, and the same arrivals for all systems. */
export function runScenario(
  scenario: Scenario,
  system: System,
  seed: number,
  onProgress: (part: number) => void = () => undefined,
): RunResult {
  return play(new Run(scenario, seed, simulated(scenario, system, seed, 0)), scenario.durationMs, onProgress);
}

/** Plays after a warm-up of `warmMs`, which is not judged. */
export function runScenarioWarm(scenario: Scenario, system: System, seed: number, warmMs: number): RunResult {
  const run = new Run(scenario, seed, simulated(scenario, system, seed, warmMs), warmMs);
  return play(run, warmMs + scenario.durationMs, () => undefined);
}

/** Makes a run's nodes and load, simulated or recorded. */
export interface Player {
  /** System whose expectations count. */
  readonly judgedAs: string;
  create(queue: EventQueue): ClusterUnderTest;
  beginLoad(queue: Pick<EventQueue, 'nowMs' | 'at' | 'after'>, cluster: ClusterUnderTest, recorder: Recorder): void;
}

export function playRun(scenario: Scenario, seed: number, player: Player): RunResult {
  return play(new Run(scenario, seed, player), scenario.durationMs, () => undefined);
}

const PROGRESS_MS = 5000;

function play(run: Run, durationMs: number, onProgress: (part: number) => void): RunResult {
  for (let nowMs = 0; nowMs < durationMs; nowMs += PROGRESS_MS) {
    onProgress(nowMs / durationMs);
    run.queue.runUntil(Math.min(durationMs, nowMs + PROGRESS_MS));
  }
  return run.result();
}

function simulated(scenario: Scenario, system: System, seed: number, warmMs: number): Player {
  const { delays, faults, quota, nodes, settings } = scenario;
  return {
    judgedAs: shortName(system.name),
    create: (queue) => {
      const random = Random.stream(seed, 'network');
      const cluster = system.create({ queue, random, delays, quota, nodes: nodes.length, settings });
      cluster.setFaults(faults);
      return cluster;
    },
    beginLoad: (queue, cluster, recorder) => {
      const arrive: Arrive = (node, messages, bytes, retry) => {
        const admitted = cluster.tryAcquire(nodes[node], messages, bytes, retry);
        if (queue.nowMs >= 0) recorder.attempted(queue.nowMs, node, messages, bytes, retry, admitted);
        return admitted;
      };
      const arriveAsBatch: ArrivalBatch = (node, messages, reader) => {
        const got = cluster.takeBatch?.(nodes[node], messages, reader);
        for (let at = 0; at < messages; at++) {
          if (got === undefined) arrive(node, 1, 0, false);
          else if (queue.nowMs >= 0) recorder.attempted(queue.nowMs, node, 1, 0, false, at < got);
        }
      };
      for (const stream of arrivalStreams(scenario)) {
        const profile = heldBefore(stream.profile, warmMs);
        playStream({ ...stream, profile }, { queue, seed, arrive, arriveAsBatch });
      }
      for (const pool of clientPools(scenario)) {
        const fromMs = pool.fromMs === 0 ? -warmMs : pool.fromMs;
        playClients({ ...pool, fromMs }, { queue, seed, arrive });
      }
    },
  };
}

class Run {
  readonly queue = new EventQueue();
  readonly #time: ScenarioTime;
  readonly #warmMs: number;
  readonly #scenario: Scenario;
  readonly #player: Player;
  readonly #seed: number;
  readonly #cluster: ClusterUnderTest;
  readonly #recorder: Recorder;
  readonly #reference: FairReference;
  readonly #presence: Presence;
  readonly #happened: { readonly atMs: number; readonly says: string }[] = [];
  #quota: readonly [number, number];
  /** Sent until time 0. */
  #sentBefore = { records: 0, bytes: 0 };

  constructor(scenario: Scenario, seed: number, player: Player, warmMs = 0) {
    const { quota, nodes, durationMs } = scenario;
    this.#scenario = scenario;
    this.#player = player;
    this.#seed = seed;
    this.#quota = [quota.messagesPerSecond, quota.bytesPerSecond];
    this.#warmMs = warmMs;
    this.#time = new ScenarioTime(this.queue, warmMs);
    this.#cluster = player.create(this.queue);
    this.#recorder = new Recorder(nodes.length, durationMs, this.#quota);
    this.#reference = new FairReference(scenario);
    this.#presence = new Presence(nodes.length);
    this.#begin();
  }

  result(): RunResult {
    const { durationMs, nodes, settlePointsMs, settleMs } = this.#scenario;
    const { faults } = this.#presence;
    const moved = new Set([...this.#reference.stepsMs, ...faults.map(({ untilMs }) => untilMs)]);
    const derived = [...moved].filter((at) => at < durationMs).sort((one, other) => one - other);
    const steps = settlePointsMs ?? derived;
    // On warm nodes nothing changes at time 0.
    const stepsMs = steps.filter((at) => at > 0 || this.#warmMs === 0);
    const { sent } = this.#cluster;
    const [records, bytes] = [sent.records - this.#sentBefore.records, sent.bytes - this.#sentBefore.bytes];
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
      expectations: judgeExpectations(this.#scenario.expectations.get(this.#player.judgedAs) ?? [], verdict),
    };
  }

  #begin(): void {
    playHappenings({
      scenario: this.#scenario,
      queue: this.#time,
      cluster: this.#cluster,
      presence: this.#presence,
      setQuota: (quota) => this.#setQuota(quota),
      tell: (says) => this.#happened.push({ atMs: this.#time.nowMs, says }),
    });
    if (this.#warmMs > 0) {
      this.#time.at(0, () => {
        const { records, bytes } = this.#cluster.sent;
        this.#sentBefore = { records, bytes };
      });
    }
    this.#time.at(0, () => this.#tick());
    this.#player.beginLoad(this.#time, this.#cluster, this.#recorder);
  }

  /** Looks at quota, fair shares and limits, every 20 ms. */
  #tick(): void {
    const { nowMs } = this.#time;
    if (nowMs >= this.#scenario.durationMs) return;
    const [recorder, reference, presence, cluster] = [this.#recorder, this.#reference, this.#presence, this.#cluster];
    const names = this.#scenario.nodes;
    const quota = this.#rampedQuota(nowMs);
    reference.update(nowMs, presence.isMoved, quota, (node) => presence.canServe(node, nowMs));
    presence.isMoved = false;
    recorder.granted(nowMs, quota);
    recorder.errors[nowMs / TICK_MS] = reference.errorOf((node, dimension) => cluster.limitOf(names[node], dimension));
    const sample = Math.floor(nowMs / recorder.sampleMs);
    const isLastOfSample = (nowMs + TICK_MS) % recorder.sampleMs === 0;
    if (isLastOfSample) {
      for (const dimension of [0, 1] as const) {
        recorder.commonBuckets[dimension][sample] = cluster.bucketOf?.(dimension) ?? null;
      }
    }
    for (let node = 0; node < names.length; node++) {
      const cell = node * recorder.samples + sample;
      recorder.isBelowFair[node] = reference.isBelowFair(node) ? 1 : 0;
      const fair = (reference.fair.rates[node] * TICK_MS) / 1000;
      const [messages, bytes] = recorder.columns;
      messages.fair[cell] += fair;
      bytes.fair[cell] += fair * reference.wanted.sizes[node];
      if (!isLastOfSample) continue;
      messages.limit[cell] = cluster.limitOf(names[node], 0);
      bytes.limit[cell] = cluster.limitOf(names[node], 1);
    }
    this.#time.after(TICK_MS, () => this.#tick());
  }

  /** Returns the admissible quota: a used group climbs its ramp as a line. */
  #rampedQuota(nowMs: number): readonly [number, number] {
    const ramp = this.#scenario.settings.groups[0]?.ramp ?? null;
    if (ramp === null) return this.#quota;
    const usedMs = nowMs + this.#warmMs;
    const top = ramp.toPerSecond ?? this.#quota[0];
    const ceiling = Math.min(top, ramp.fromPerSecond + ((top - ramp.fromPerSecond) * usedMs) / ramp.overMs);
    const messages = Math.min(this.#quota[0], ceiling);
    if (usedMs <= ramp.overMs || nowMs === 0) {
      this.#recorder.buckets[0].setQuota(messages, nowMs);
      this.#presence.isMoved = true;
    }
    return [messages, this.#quota[1]];
  }

  #setQuota({ messagesPerSecond, bytesPerSecond }: Partial<Record<keyof QuotaRates, number | null>>): void {
    const [messages, bytes] = [messagesPerSecond ?? this.#quota[0], bytesPerSecond ?? this.#quota[1]];
    this.#quota = [messages, bytes];
    this.#cluster.setQuota(messages, bytes);
    this.#recorder.buckets[0].setQuota(messages, this.#time.nowMs);
    this.#recorder.buckets[1].setQuota(bytes, this.#time.nowMs);
    this.#presence.isMoved = true;
  }
}
