import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { QuotameshError } from '../../src/base/errors/quotamesh-error.js';
import { epochNow } from '../../src/tools/load/epoch-now.js';
import { LoadProcess } from '../../src/tools/load/load-process.js';
import { loadLmdb } from '../../src/topic/embedded/load-lmdb.js';
import { judgeRecording } from '../run/judge-recording.js';
import type { Happening, Scenario } from '../scenario/scenario.js';
import type { RunResult } from '../verdict/run-result.js';
import type { LiveTopicKind } from './check-live.js';
import { growthFromDecisions, limitsFromDecisions } from './decision-file.js';
import { Frozen } from './frozen.js';
import { LiveCluster, untilEpoch } from './live-cluster.js';
import { firstNodes, LiveStory } from './live-story.js';
import { EmbeddedLiveTopic, KafkaLiveTopic, type LiveTopic } from './live-topic.js';
import { attemptsOf, liveConfig, type Punctuality, punctualityOf, trafficPlan } from './live-traffic.js';

interface LiveOptions {
  readonly topic: LiveTopicKind;
  readonly brokers: readonly string[];
  readonly brokerPid: number | null;
  readonly seed: number;
  readonly onProgress?: (part: number) => void;
}

/** Milliseconds from sending the plan to the common time 0. */
const LEAD_MS = 1000;
const TRAFFIC_STOP_PATIENCE_MS = 500;

/** Plays a scenario on real processes over HTTP, judged by the simulator. Call `leave` at the end. */
export class LiveRun {
  readonly #scenario: Scenario;
  readonly #options: LiveOptions;
  readonly #folder: string;
  readonly #traffic = new LoadProcess();
  readonly #frozen: Frozen;
  readonly #topic: LiveTopic;
  #cluster: LiveCluster | undefined;
  #story: LiveStory | undefined;
  #isLeaving = false;
  #progressTimer: NodeJS.Timeout | undefined;

  private constructor(scenario: Scenario, options: LiveOptions, folder: string) {
    this.#scenario = scenario;
    this.#options = options;
    this.#folder = folder;
    this.#frozen = new Frozen((kind, pid) => this.#traffic.tell({ kind, pid }));
    const partitions = scenario.settings.partitions;
    this.#topic =
      options.topic === 'embedded'
        ? new EmbeddedLiveTopic(folder)
        : new KafkaLiveTopic({ ...options, partitions }, this.#frozen);
  }

  static async prepare(scenario: Scenario, options: LiveOptions): Promise<LiveRun> {
    // Once here: each node would log it.
    if (options.topic === 'embedded') await loadLmdb();
    return new LiveRun(scenario, options, await mkdtemp(join(tmpdir(), 'quotamesh-live-')));
  }

  async play(): Promise<{ result: RunResult; punctuality: Punctuality }> {
    const { seed } = this.#options;
    const cluster = await this.#startCluster();
    const beganMs = epochNow() + LEAD_MS;
    const plan = trafficPlan(this.#scenario, seed, cluster.urls, beganMs);
    this.#traffic.play(this.#scenario.name, plan);
    const failed = new Promise<never>((_, reject) => {
      const stage = { scenario: this.#scenario, cluster, topic: this.#topic, frozen: this.#frozen, beganMs };
      this.#story = new LiveStory(stage, reject);
    });
    const story = this.#story as unknown as LiveStory;
    await untilEpoch(beganMs);
    if (this.#isLeaving) throw new Error('left before it began');
    story.begin();
    cluster.count();
    this.#showProgress(beganMs);
    const over = untilEpoch(beganMs + this.#scenario.durationMs);
    await Promise.race([over, failed, cluster.failed, this.#trafficEnded()]);
    const happenings = story.end();
    const sent = await cluster.sent();
    const calls = await this.#traffic.finish();
    const decisions = await readFile(this.#decisionsFile, 'utf8');
    const recording = {
      system: `live ${this.#options.topic}`,
      happenings: countedSince(happenings, growthFromDecisions(decisions, beganMs)),
      attempts: attemptsOf(calls, plan),
      limits: limitsFromDecisions(decisions, beganMs),
      sent,
    };
    return { result: judgeRecording(this.#scenario, recording, seed), punctuality: punctualityOf(calls) };
  }

  async leave(): Promise<string | null> {
    this.#isLeaving = true;
    clearInterval(this.#progressTimer);
    this.#story?.end();
    await Promise.all([this.#cluster?.stop(), this.#traffic.child.stop(TRAFFIC_STOP_PATIENCE_MS)]);
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
    if (this.#cluster === undefined) return null;
    return this.#topic.remove().then(
      () => null,
      (error: Error) => `the topic ${this.#topic.config.name} may still be there: ${error.message}`,
    );
  }

  killAll(): void {
    this.#frozen.thawAll();
    this.#cluster?.killAll();
    this.#traffic.child.signal('SIGKILL');
  }

  async #trafficEnded(): Promise<never> {
    const { child } = this.#traffic;
    await child.ended;
    const reason = `the traffic process ended:\n${child.logEnd()}`;
    throw new QuotameshError('LIVE_FAILED', { scenario: this.#scenario.name, reason });
  }

  async #startCluster(): Promise<LiveCluster> {
    const configFile = join(this.#folder, 'node.yaml');
    await writeFile(configFile, liveConfig(this.#scenario, this.#topic.config, this.#decisionsFile));
    const folder = { configFile, logFile: (name: string) => join(this.#folder, `${name}.log`) };
    const cluster = await LiveCluster.create(this.#scenario.nodes, folder);
    this.#cluster = cluster;
    if (this.#isLeaving) await cluster.stop();
    await Promise.all(firstNodes(this.#scenario).map((node) => cluster.start(node)));
    return cluster;
  }

  #showProgress(beganMs: number): void {
    const { onProgress } = this.#options;
    if (onProgress === undefined) return;
    this.#progressTimer = setInterval(() => {
      onProgress(Math.min(1, Math.max(0, (epochNow() - beganMs) / this.#scenario.durationMs)));
    }, 500);
  }

  get #decisionsFile(): string {
    return join(this.#folder, 'decisions.jsonl');
  }
}

/** Milliseconds within which readiness is seen, polled every 50. */
const SEEN_WITHIN_MS = 250;

/**
 * Dates every start to when the cluster counted the node. That is up to SEEN_WITHIN_MS before it was seen ready; later
 * dates would make right shares wrong (docs/decisions/0013). @param growthMs when somebody saw the cluster grow, in
 * order
 */
export function countedSince(happenings: readonly Happening[], growthMs: readonly number[]): readonly Happening[] {
  const counted = (readyMs: number) =>
    Math.floor(growthMs.find((atMs) => atMs > readyMs - SEEN_WITHIN_MS && atMs <= readyMs) ?? readyMs);
  const dated = happenings.map((happening): Happening => {
    const { what, atMs, values } = happening;
    if (what === 'start') return { ...happening, atMs: counted(atMs) };
    if ((what !== 'leave' && what !== 'crash') || typeof values.forSeconds !== 'number') return happening;
    const forMs = counted(atMs + values.forSeconds * 1000) - atMs;
    return { ...happening, values: { ...values, forSeconds: forMs / 1000 } };
  });
  return dated.sort((one, other) => one.atMs - other.atMs);
}
