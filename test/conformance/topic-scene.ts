import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { AppendRecord, ReportTopic } from '../../src/base/ports/report-topic.js';
import { RecordingListener } from './recording-listener.js';
import { settled, within } from './topic-expectations.js';

/** One topic that nobody else uses, and what a test may do to it. */
export interface TopicWorld {
  /** A new, unopened instance of the adapter on the one topic of this world. */
  makeTopic(): ReportTopic;
  /** Makes the log drop superseded records now; resolves when it has. */
  compact?(): Promise<void>;
  /** From now on nothing can be appended (and possibly not read) until `healTopic`. */
  breakTopic?(): Promise<void>;
  healTopic?(): Promise<void>;
  /** The log is deleted and made anew, empty, under its readers. */
  makeAnew?(): Promise<void>;
  /** Partition 0 loses what stands at `offset` and behind it; `regrow` may run before any reader has noticed. */
  truncate?(offset: number, regrow: () => Promise<void>): Promise<void>;
  dispose(): Promise<void>;
}

export interface ConformanceOptions {
  /** For what should happen soon; ≥ 5 × what the adapter needs on a busy machine. */
  readonly deadlineMs?: number;
  /** Bounds how long an append may hang while the topic is broken. */
  readonly appendTimeoutMs: number;
}

/** Makes the world of one test. Its topics are configured with the timeout. */
export type MakeWorld = (appendTimeoutMs: number) => Promise<TopicWorld>;

/** Bounds an append to a topic that works: a busy machine may hold it up for seconds. */
const PATIENT_APPEND_MS = 10_000;

export interface OpenTopic {
  readonly topic: ReportTopic;
  readonly listener: RecordingListener;
}

/** The world of the running test, and everything that was opened in it. */
export class Scene {
  readonly options: ConformanceOptions;
  readonly deadlineMs: number;
  readonly #makeWorld: MakeWorld;
  #world: TopicWorld | undefined;
  #topics: ReportTopic[] = [];

  constructor(makeWorld: MakeWorld, options: ConformanceOptions) {
    this.#makeWorld = makeWorld;
    this.options = options;
    this.deadlineMs = options.deadlineMs ?? 10_000;
  }

  get world(): TopicWorld {
    if (!this.#world) throw new Error('the test has no world yet');
    return this.#world;
  }

  async begin(appendTimeoutMs = PATIENT_APPEND_MS): Promise<void> {
    this.#world = await this.#makeWorld(appendTimeoutMs);
    this.#topics = [];
  }

  async end(): Promise<void> {
    await this.#world?.healTopic?.();
    await Promise.all(this.#topics.map((topic) => topic.close()));
    await this.#world?.dispose();
    this.#world = undefined;
  }

  makeTopic(): ReportTopic {
    const topic = this.world.makeTopic();
    this.#topics.push(topic);
    return topic;
  }

  async open(): Promise<OpenTopic> {
    const topic = this.makeTopic();
    const listener = new RecordingListener();
    await within(this.deadlineMs, 'open', () => topic.open(listener));
    return { topic, listener };
  }

  /** Spreads over the partitions by key unless one is given. */
  record(key: string, value: string | null, partition?: number): AppendRecord {
    const spread = [...key].reduce((sum, c) => sum + c.charCodeAt(0), 0) % (this.#topics[0]?.partitions || 1);
    return { partition: partition ?? spread, key, value: value === null ? null : Buffer.from(value) };
  }

  outage(): { breakTopic: () => Promise<void>; healTopic: () => Promise<void> } | undefined {
    const world = this.world;
    const { breakTopic, healTopic } = world;
    if (!breakTopic || !healTopic) return undefined;
    return { breakTopic: () => breakTopic.call(world), healTopic: () => healTopic.call(world) };
  }

  async untilRead({ listener }: OpenTopic, count: number): Promise<void> {
    await listener.until(`${count} records read`, () => listener.records.length >= count, this.deadlineMs);
    expect(listener.records).toHaveLength(count);
  }

  async untilCaughtUp({ listener }: OpenTopic): Promise<void> {
    await listener.until('caught up', () => listener.caughtUpAfter.length > 0, this.deadlineMs);
  }

  /** Right after an outage a first append may still fail; a node would report again, and so does this. */
  async untilAppended({ topic }: OpenTopic, records: readonly AppendRecord[]): Promise<void> {
    const givenUpAt = performance.now() + this.deadlineMs;
    for (;;) {
      const outcome = await settled(topic.append(records));
      if (outcome === 'done') return;
      if (performance.now() > givenUpAt) throw new Error(`append still fails after the outage: ${outcome}`);
      await sleep(50);
    }
  }
}
