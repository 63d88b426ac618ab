import { setTimeout as sleep } from 'node:timers/promises';
import { Backoff } from '../remote/backoff.js';
import type { SupervisedParts, Supervisor } from '../remote/remote-report-topic.js';
import { reasonOf, TopicUnusable } from '../remote/topic-unusable.js';
import { type BrokerAddress, BrokerLink, nameOf } from './broker-link.js';
import type { FetchedBatch } from './fetch-response.js';
import type { KafkaTopicOptions } from './kafka-topic-options.js';
import type { Kafkajs } from './kafkajs-internals.js';
import { LeaderReader, type ReaderSink } from './leader-reader.js';
import { LeaderWriter } from './leader-writer.js';
import { PartitionCursor } from './partition-cursor.js';
import { PartitionLeader } from './partition-leader.js';
import { TopicDiscovery } from './topic-discovery.js';
import { isLeaderless, NoLeader, unusable } from './topic-failure.js';
import type { TopicMetadata } from './topic-metadata.js';

/** A broker that has just started may not know its topics yet; after this time the topic counts as deleted. */
const MISSING_PATIENCE_MS = 10_000;
/** The leaders of a topic that was created just now refuse requests for a moment: no loss before it was ever open. */
const SETTLING_PATIENCE_MS = 3_000;

export interface SupervisorParts extends SupervisedParts {
  readonly kafkajs: Kafkajs;
  readonly options: KafkaTopicOptions;
}

/**
 * Keeps a working leader for every partition: finds them, starts them, and begins again with what has failed. Any error
 * ends the leader it belongs to, with its connections; nothing is repaired in place. Others go on meanwhile.
 */
export class TopicSupervisor implements Supervisor {
  readonly #parts: SupervisorParts;
  readonly #discovery: TopicDiscovery;
  readonly #backoff = new Backoff();
  readonly #links = new Set<BrokerLink>();
  readonly #leaders = new Set<PartitionLeader>();
  readonly #stop = new AbortController();
  #cursors: readonly PartitionCursor[] = [];
  #isOpen = false;
  #wake: () => void = () => {};
  #missingSince: number | null = null;
  #settlingSince: number | null = null;
  readonly #toldUnreadable = new Set<string>();

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
    const { brokers, topic, partitions, replicationFactor, keepsForever, grantee } = parts.options;
    const openLink = (address: BrokerAddress) => this.#openLink(address);
    const wanted = { topic, partitions, replicationFactor, keepsForever, grantee };
    this.#discovery = new TopicDiscovery(parts.kafkajs, wanted, brokers, openLink);
  }

  get partitions(): number {
    return this.#cursors.length;
  }

  /** Until `stop`. `onOpen` is called when all partitions have a leader for the first time; rejects if that can never be. */
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

  /** True when every partition has a leader now. */
  async #attempt(): Promise<boolean> {
    try {
      const metadata = await this.#discovery.find();
      this.#checkExistence(metadata);
      await this.#startLeaders(metadata);
      return true;
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#failed(error);
      return false;
    }
  }

  async #open(onOpen: () => void): Promise<void> {
    this.#isOpen = true;
    onOpen();
    // Whoever awaits `open` goes first: records are delivered to somebody who knows the number of partitions.
    await new Promise((resolve) => setImmediate(resolve));
    this.#parts.listener.onEpoch('kafka');
    for (const leader of this.#leaders) void this.#follow(leader);
  }

  #checkExistence({ exists, leaders }: TopicMetadata): void {
    const { topic } = this.#parts.options;
    if (!exists) {
      this.#missingSince ??= performance.now();
      if (performance.now() - this.#missingSince < MISSING_PATIENCE_MS) throw new NoLeader(`topic ${topic} is missing`);
      throw new TopicUnusable('TOPIC_MISSING', { topic });
    }
    this.#missingSince = null;
    if (this.#cursors.length === 0) {
      this.#cursors = leaders.map((_, partition) => new PartitionCursor(partition));
      this.#parts.health.partitionsKnown(leaders.length);
    }
    if (leaders.length >= this.#cursors.length) return;
    const reason = `it has ${leaders.length} partitions now and had ${this.#cursors.length}; restart the nodes`;
    throw new TopicUnusable('TOPIC_SETTINGS', { topic, reason });
  }

  async #startLeaders({ leaders }: TopicMetadata): Promise<void> {
    const led = new Set([...this.#leaders].flatMap(({ partitions }) => partitions));
    const byAddress = new Map<string, { address: BrokerAddress; cursors: PartitionCursor[] }>();
    const leaderless: number[] = [];
    for (const cursor of this.#cursors.filter(({ partition }) => !led.has(partition))) {
      const address = leaders[cursor.partition];
      if (!address) {
        leaderless.push(cursor.partition);
        continue;
      }
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
    const link = this.#openLink(address);
    const partitions = cursors.map(({ partition }) => partition);
    const reader = new LeaderReader(kafkajs, link, cursors, options, this.#sink(), log);
    const writer = new LeaderWriter(kafkajs, link, partitions, outbox, options);
    const leader = new PartitionLeader(partitions, link, reader, writer);
    try {
      await leader.start();
    } catch (error) {
      this.#discovery.avoid(address);
      link.destroy(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
    this.#leaders.add(leader);
    if (this.#isOpen) void this.#follow(leader);
  }

  async #follow(leader: PartitionLeader): Promise<void> {
    const failure = await leader.run();
    this.#leaders.delete(leader);
    if (this.#stop.signal.aborted) return;
    this.#discovery.avoid(leader.link.address);
    const [name, reason] = [nameOf(leader.link.address), reasonOf(failure)];
    this.#parts.health.disconnected(leader.partitions, reason.includes(name) ? reason : `broker ${name}: ${reason}`);
    this.#failed(failure);
    this.#wake();
  }

  #sink(): ReaderSink {
    const { health, listener, counters } = this.#parts;
    return {
      onReading: (partition) => {
        health.reading(partition);
        if (health.isLost) return;
        this.#backoff.reset();
        this.#parts.told.allWorks();
      },
      onRecords: (records) => {
        counters.recordsRead += records.length;
        for (const { key, value } of records) counters.bytesRead += Buffer.byteLength(key) + (value?.length ?? 0);
        listener.onRecords(records);
      },
      onUnreadable: (partition, batch) => this.#unreadable(partition, batch),
      onProgress: () => {
        if (this.#cursors.every((cursor) => cursor.isCaughtUp)) listener.onCaughtUp();
      },
    };
  }

  /** Throws only before the topic was open: then the caller of `open` is told, instead of the listener. */
  #failed(error: unknown): void {
    const { health, options } = this.#parts;
    const permanent = unusable(error, options, 'Read');
    if (permanent && !this.#isOpen) throw permanent;
    if (this.#isSettling(error)) return;
    health.unreachable(reasonOf(error));
    if (permanent) this.#parts.told.tell(permanent);
  }

  /** Once per cause. */
  #unreadable(partition: number, { unreadable, firstOffset, nextOffset }: FetchedBatch): void {
    const { log, options } = this.#parts;
    if (unreadable === null || this.#toldUnreadable.has(unreadable)) return;
    this.#toldUnreadable.add(unreadable);
    log('error', `Kafka topic holds records that no node can read: ${unreadable}`, {
      ...{ topic: options.topic, partition, fromOffset: firstOffset, toOffset: nextOffset - 1 },
      remedy: 'Only quotamesh may write to its topic, and compression.type of the topic must be producer.',
    });
  }

  #isSettling(error: unknown): boolean {
    if (this.#isOpen || !isLeaderless(error)) return false;
    this.#settlingSince ??= performance.now();
    return performance.now() - this.#settlingSince < SETTLING_PATIENCE_MS;
  }

  #openLink(address: BrokerAddress): BrokerLink {
    const { kafkajs, options, log } = this.#parts;
    const link = new BrokerLink(kafkajs, address, options, log, (destroyed) => this.#links.delete(destroyed));
    this.#links.add(link);
    if (this.#stop.signal.aborted) link.destroy(new Error('stopped'));
    return link;
  }
}
