import { setTimeout as sleep } from 'node:timers/promises';
import type { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { Backoff } from '../remote/backoff.js';
import { beginReading, noteReading, type SupervisedParts, type Supervisor } from '../remote/remote-report-topic.js';
import { errorOf, reasonOf, TopicUnusable } from '../remote/topic-unusable.js';
import { type BrokerAddress, BrokerLink, nameOf } from './broker-link.js';
import type { FetchedRecordBatch } from './fetch-response.js';
import type { KafkaTopicOptions } from './kafka-topic-options.js';
import type { Kafkajs } from './kafkajs-internals.js';
import { LeaderReader, type ReaderSink } from './leader-reader.js';
import { LeaderWriter } from './leader-writer.js';
import { LogEpoch } from './log-epoch.js';
import { PartitionCursor } from './partition-cursor.js';
import { PartitionLeader } from './partition-leader.js';
import { AddedPartitions, SettingsWatch } from './settings-watch.js';
import { TopicDiscovery } from './topic-discovery.js';
import { isLeaderless, kafkaUnusable, LogShortened, NoLeader } from './topic-failure.js';
import { fetchTopicMetadata, type LeadingBroker, type TopicMetadata } from './topic-metadata.js';

/** Milliseconds until a missing topic counts as deleted: a starting broker may not know it yet. */
const MISSING_PATIENCE_MS = 10_000;
/** Milliseconds after creation in which refusals are no loss: leaders refuse for a moment. */
const SETTLING_PATIENCE_MS = 3_000;
/**
 * Milliseconds between looks at what fetches do not show: settings, partitions and, before Kafka 3.1, a recreated
 * topic.
 */
const TOPIC_CHECK_MS = 10_000;

export interface KafkaSupervisorParts extends SupervisedParts {
  readonly kafkajs: Kafkajs;
  readonly options: KafkaTopicOptions;
}

/**
 * Keeps a working leader per partition: finds, starts and replaces them. An error ends its leader with all connections;
 * the others go on.
 */
export class KafkaSupervisor implements Supervisor {
  readonly #parts: KafkaSupervisorParts;
  readonly #discovery: TopicDiscovery;
  readonly #backoff = new Backoff();
  readonly #links = new Set<BrokerLink>();
  readonly #leaders = new Set<PartitionLeader>();
  readonly #stop = new AbortController();
  readonly #epoch = new LogEpoch();
  #topicId: Buffer | null = null;
  /** Logs read so far; what belongs to an older one is ignored. */
  #generation = 0;
  #cursors: readonly PartitionCursor[] = [];
  readonly #added: AddedPartitions;
  readonly #settings: SettingsWatch;
  #isOpen = false;
  #wake: () => void = () => {};
  #missingSince: number | null = null;
  #settlingSince: number | null = null;
  readonly #toldUnreadable = new Set<string>();

  constructor(parts: KafkaSupervisorParts) {
    this.#parts = parts;
    const { brokers, topic, partitions, replicationFactor, keepsForever, strict, grantee } = parts.options;
    this.#added = new AddedPartitions(topic, parts.log);
    this.#settings = new SettingsWatch(parts.kafkajs, { topic, keepsForever, strict }, parts.log);
    const openLink = (address: BrokerAddress) => this.#openLink(address);
    const wanted = { topic, partitions, replicationFactor, keepsForever, strict, grantee };
    this.#discovery = new TopicDiscovery(parts.kafkajs, wanted, brokers, openLink);
  }

  get partitions(): number {
    return this.#cursors.length;
  }

  /** Partitions of the topic now; above `partitions` once some were added. */
  get partitionsFound(): number {
    return this.#added.found;
  }

  /** Wrong settings of the topic in use; null = none. */
  get settingsMistake(): string | null {
    return this.#settings.mistake;
  }

  /** Runs until `stop`. Calls `onOpen` once all partitions have a leader; rejects if they never will. */
  async run(onOpen: () => void): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const broken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const isComplete = await this.#attempt();
      if (isComplete) {
        if (!this.#isOpen) await this.#open(onOpen);
        await broken;
      }
      await sleep(this.#backoff.next(), undefined, { signal: this.#stop.signal }).catch(() => {});
    }
  }

  stop(reason: Error): void {
    this.#stop.abort();
    for (const link of [...this.#links]) link.destroy(reason);
    this.#wake();
  }

  /** Tries to find all leaders; false = some partition has none. */
  async #attempt(): Promise<boolean> {
    try {
      const metadata = await this.#discovery.find();
      this.#found(metadata);
      await this.#startLeaders(metadata);
      return true;
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#failed(error);
      return false;
    }
  }

  async #open(onOpen: () => void): Promise<void> {
    this.#isOpen = true;
    await beginReading(onOpen, this.#parts.listener, () => this.#epoch.name);
    for (const leader of this.#leaders) void this.#follow(leader);
    void this.#watchTopic();
  }

  /** Looks at the topic over a leader's connection; failures show in fetches, too. */
  async #watchTopic(): Promise<void> {
    const { kafkajs, options } = this.#parts;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await sleep(TOPIC_CHECK_MS, undefined, { signal, ref: false }).catch(() => {});
      const [leader] = this.#leaders;
      const metadata = leader && (await fetchTopicMetadata(kafkajs, leader.link, options.topic).catch(() => null));
      if (!metadata?.exists || signal.aborted) continue;
      await this.#settings.look(leader.link, this.partitions).catch(() => {});
      try {
        if (this.#found(metadata)) this.#wake();
      } catch (error) {
        this.#failed(error);
      }
    }
  }

  /** Notes the topic; returns true if it is another. Throws where it cannot be used. */
  #found({ exists, topicId, leaders }: TopicMetadata): boolean {
    const { topic } = this.#parts.options;
    if (!exists) {
      this.#epoch.missing();
      this.#missingSince ??= performance.now();
      if (performance.now() - this.#missingSince < MISSING_PATIENCE_MS) throw new NoLeader(`topic ${topic} is missing`);
      throw new TopicUnusable('TOPIC_MISSING', { topic });
    }
    this.#missingSince = null;
    if (this.#cursors.length === 0) {
      this.#cursors = leaders.map((_, partition) => new PartitionCursor(partition));
      this.#parts.health.partitionsKnown(leaders.length);
    }
    this.#added.heard(leaders.length, this.#cursors.length);
    if (leaders.length < this.#cursors.length) {
      const reason = `it has ${leaders.length} partitions now and had ${this.#cursors.length}; restart the nodes`;
      throw new TopicUnusable('TOPIC_SETTINGS', { topic, reason });
    }
    this.#topicId = topicId;
    const isAnew = this.#epoch.found(topicId?.toString('base64url') ?? null);
    if (isAnew) this.#beginAnew('it was deleted and created again');
    return isAnew;
  }

  /** Reads all partitions from their start: another log began. */
  #beginAnew(reason: string): void {
    const { listener, health, log, options } = this.#parts;
    const ended = [...this.#leaders];
    this.#generation++;
    this.#leaders.clear();
    for (const { link } of ended) link.destroy(new Error(reason));
    this.#cursors = this.#cursors.map(({ partition }) => new PartitionCursor(partition));
    if (!this.#isOpen) return;
    const epoch = this.#epoch.name;
    log('warn', `Kafka topic is another log than was read so far: ${reason}`, { topic: options.topic, epoch });
    health.disconnected(
      this.#cursors.map(({ partition }) => partition),
      `another log begins: ${reason}`,
    );
    listener.onEpoch(epoch);
  }

  async #startLeaders({ leaders }: TopicMetadata): Promise<void> {
    const led = new Set([...this.#leaders].flatMap(({ partitions }) => partitions));
    const byAddress = new Map<string, { address: LeadingBroker; cursors: PartitionCursor[] }>();
    const leaderless: number[] = [];
    for (const cursor of this.#cursors.filter(({ partition }) => !led.has(partition))) {
      const address = leaders[cursor.partition];
      if (!address) {
        leaderless.push(cursor.partition);
        continue;
      }
      cursor.leaderEpoch = address.leaderEpoch;
      const name = nameOf(address);
      const group = byAddress.get(name) ?? { address, cursors: [] };
      group.cursors.push(cursor);
      byAddress.set(name, group);
    }
    const starts = [...byAddress.values()].map(({ address, cursors }) => this.#startLeader(address, cursors));
    const failed = (await Promise.allSettled(starts)).find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
    if (leaderless.length > 0) throw new NoLeader(`partition ${leaderless.join(', ')} has no leader`);
  }

  async #startLeader(address: BrokerAddress, cursors: readonly PartitionCursor[]): Promise<void> {
    const { kafkajs, options, log, outbox } = this.#parts;
    const generation = this.#generation;
    const link = this.#openLink(address);
    const partitions = cursors.map(({ partition }) => partition);
    const settings = { ...options, topicId: this.#topicId };
    const reader = new LeaderReader(kafkajs, link, cursors, settings, this.#sink(generation), log);
    const writer = new LeaderWriter(kafkajs, link, partitions, outbox, options);
    const leader = new PartitionLeader(partitions, link, reader, writer);
    try {
      await leader.start();
      if (generation !== this.#generation) throw new NoLeader('another log has begun meanwhile');
    } catch (error) {
      this.#discovery.avoid(address);
      link.destroy(errorOf(error));
      throw error;
    }
    this.#leaders.add(leader);
    if (this.#isOpen) void this.#follow(leader);
  }

  async #follow(leader: PartitionLeader): Promise<void> {
    const failure = await leader.run();
    const isCurrent = this.#leaders.delete(leader);
    if (!isCurrent || this.#stop.signal.aborted) return;
    if (failure instanceof LogShortened) {
      this.#epoch.shortened(failure.partition, failure.leaderEpoch);
      this.#beginAnew(failure.message);
    } else {
      this.#discovery.avoid(leader.link.address);
      const [name, reason] = [nameOf(leader.link.address), reasonOf(failure)];
      this.#parts.health.disconnected(leader.partitions, reason.includes(name) ? reason : `broker ${name}: ${reason}`);
      this.#failed(failure);
    }
    this.#wake();
  }

  #sink(generation: number): ReaderSink {
    const { listener } = this.#parts;
    // An answer that has arrived is delivered, although its link is destroyed.
    const isStale = () => generation !== this.#generation;
    return {
      onReading: (partition) => {
        if (!isStale()) noteReading(this.#parts, this.#backoff, partition);
      },
      onRecords: (records) => {
        if (!isStale()) listener.onRecords(records);
      },
      onUnreadable: (partition, recordBatch) => this.#unreadable(partition, recordBatch),
      onProgress: () => {
        if (!isStale() && this.#cursors.every((cursor) => cursor.isCaughtUp)) listener.onCaughtUp();
      },
    };
  }

  /** Reports a failure; before the topic is open, throws it to the caller of `open`. */
  #failed(error: unknown): void {
    const { health, options } = this.#parts;
    const permanent = kafkaUnusable(error, options, 'Read');
    if (permanent && !this.#isOpen) throw permanent;
    if (this.#isSettling(error)) return;
    health.unreachable(reasonOf(error));
    if (permanent) this.#parts.told.tell(permanent);
  }

  /** Logs each cause once. */
  #unreadable(partition: number, { unreadable, firstOffset, nextOffset }: FetchedRecordBatch): void {
    const { log, options } = this.#parts;
    if (unreadable === null || this.#toldUnreadable.has(unreadable)) return;
    this.#toldUnreadable.add(unreadable);
    log('error', `Kafka topic holds records that no node can read: ${unreadable}`, {
      topic: options.topic,
      partition,
      fromOffset: firstOffset,
      toOffset: nextOffset - 1,
      remedy: 'Only quotamesh may write to its topic, and compression.type of the topic must be producer.',
    });
  }

  #isSettling(error: unknown): boolean {
    if (this.#isOpen || !isLeaderless(error)) return false;
    this.#settlingSince ??= performance.now();
    return performance.now() - this.#settlingSince < SETTLING_PATIENCE_MS;
  }

  #openLink(address: BrokerAddress): BrokerLink {
    const { kafkajs, options, log, faults, throttle } = this.#parts;
    const ended = (destroyed: BrokerLink, reason: Error) => {
      this.#links.delete(destroyed);
      faults.ended(reason);
    };
    const throttled = (throttleMs: number, error: QuotameshError) => throttle.noted(throttleMs, error);
    const link = new BrokerLink(kafkajs, address, options, log, ended, throttled);
    this.#links.add(link);
    if (this.#stop.signal.aborted) link.destroy(new Error('stopped'));
    return link;
  }
}
