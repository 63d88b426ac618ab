import type { KafkaTopicConfig } from '../../config/resolved-config.js';
import { invariant } from '../../core/invariant.js';
import { QuotameshError } from '../../errors.js';
import type { AppendRecord, ReportTopic, ReportTopicListener, TopicCounters } from '../../ports/report-topic.js';
import { GuardedListener } from '../remote/guarded-listener.js';
import { Outbox, sizeOf } from '../remote/outbox.js';
import { PendingAppends } from '../remote/pending-appends.js';
import { TopicHealth } from '../remote/topic-health.js';
import type { TopicLog } from '../remote/topic-log.js';
import { reasonOf, TopicUnusable } from '../remote/topic-unusable.js';
import { createTopicCounters } from '../topic-counters.js';
import { type KafkaTopicHooks, type KafkaTopicOptions, kafkaTopicOptions } from './kafka-topic-options.js';
import { type Kafkajs, loadKafkajs } from './kafkajs-internals.js';
import { AppendRefused } from './topic-failure.js';
import { TopicSupervisor } from './topic-supervisor.js';

/**
 * Reports in a compacted Kafka topic, read by everybody from the start, without a consumer group.
 *
 *     TopicSupervisor ── TopicDiscovery      who leads which partition; creates and verifies the topic
 *        └─ PartitionLeader per broker       one BrokerLink: connections of kafkajs that die with their first error
 *             ├─ LeaderReader                a fetch loop; PartitionCursor knows how far
 *             └─ LeaderWriter                produces what waits in the Outbox
 *
 * Beyond the port: after `onFailed` (topic deleted, permission withdrawn) attempts go on, and `onRecovered` follows if
 * somebody repairs it. A topic that is deleted and created again is read from its start, its offsets following on
 * those before; that is noticed by its end lying before our position, so not if it has grown beyond it meanwhile.
 */
export class KafkaReportTopic implements ReportTopic {
  readonly counters: TopicCounters = createTopicCounters();
  readonly #kafkajs: Kafkajs;
  readonly #options: KafkaTopicOptions;
  readonly #log: TopicLog;
  readonly #outbox = new Outbox();
  readonly #appends: PendingAppends;
  #listener: GuardedListener | undefined;
  #health: TopicHealth | undefined;
  #supervisor: TopicSupervisor | undefined;
  #rejectOpen: (error: Error) => void = () => {};
  #isClosed = false;

  /** Throws KAFKAJS_VERSION where another kafkajs is installed. */
  constructor(config: KafkaTopicConfig, hooks: KafkaTopicHooks = {}) {
    this.#kafkajs = loadKafkajs();
    this.#options = kafkaTopicOptions(config, hooks);
    this.#log = hooks.log ?? (() => {});
    this.#appends = new PendingAppends(config.name, config.appendTimeoutMs, this.#outbox);
  }

  get partitions(): number {
    return this.#supervisor?.partitions ?? 0;
  }

  open(listener: ReportTopicListener): Promise<void> {
    if (this.#isClosed) return Promise.reject(this.#closedError());
    invariant(this.#supervisor === undefined, 'a topic is opened once');
    this.#listener = new GuardedListener(listener, this.#log);
    this.#health = new TopicHealth(
      this.#listener,
      this.counters,
      { store: 'Kafka', topic: this.#options.topic },
      this.#log,
    );
    const supervisor = new TopicSupervisor({
      kafkajs: this.#kafkajs,
      options: this.#options,
      log: this.#log,
      listener: this.#listener,
      health: this.#health,
      outbox: this.#outbox,
      counters: this.counters,
    });
    this.#supervisor = supervisor;
    return new Promise((resolve, reject) => {
      this.#rejectOpen = reject;
      supervisor.run(resolve).catch((error: unknown) => this.#fail(error));
    });
  }

  async append(records: readonly AppendRecord[]): Promise<void> {
    if (this.#isClosed || !this.#supervisor) throw this.#closedError();
    for (const { partition } of records) {
      invariant(partition >= 0 && partition < (this.partitions || Infinity), 'no such partition', { partition });
    }
    if (records.length === 0) return;
    try {
      await this.#appends.append(records, (error) => this.#answered(error));
    } catch (error) {
      this.counters.appendsFailed++;
      throw error;
    }
    this.counters.recordsAppended += records.length;
    for (const record of records) this.counters.bytesAppended += sizeOf(record);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const reason = this.#closedError();
    this.#listener?.end();
    this.#supervisor?.stop(reason);
    this.#appends.rejectAll(reason);
    this.#rejectOpen(reason);
  }

  #answered(error: Error | null): void {
    if (error === null) this.#health?.appended();
    else if (error instanceof AppendRefused && !error.isOwnFault) this.#health?.appendRefused(error.message);
    else if (error instanceof TopicUnusable) {
      this.#health?.appendRefused(error.message);
      this.#supervisor?.tellFailure(error);
    }
  }

  /** The supervisor has ended: before the topic was open, or by a defect. */
  #fail(error: unknown): void {
    this.#log('error', `Kafka topic given up: ${reasonOf(error)}`, { topic: this.#options.topic });
    const failure = error instanceof Error ? error : new QuotameshError('UNEXPECTED', { reason: String(error) });
    this.#rejectOpen(failure);
    if (!(error instanceof QuotameshError)) this.#listener?.onFailed(failure);
    void this.close();
  }

  #closedError(): QuotameshError {
    return new QuotameshError('TOPIC_CLOSED', { topic: this.#options.topic });
  }
}
