import type { RedisTopicConfig } from '../../config/resolved-config.js';
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
import { AppendRefused } from './redis-failure.js';
import { type RedisTopicHooks, type RedisTopicOptions, redisTopicOptions } from './redis-topic-options.js';
import { TopicSupervisor } from './topic-supervisor.js';

/** Of which log: a server may hold those of many clusters, two of each. */
export interface RedisLogName {
  readonly cluster: string;
  readonly log: 'reports' | 'registry';
}

/**
 * Reports in Redis: a stream in order, and a hash with the newest record per key (scripts.ts has the keys).
 *
 *     TopicSupervisor                        keeps a TopicLink to the master, and begins again when it ends
 *        └─ TopicLink                        two connections of ioredis that die with their first error
 *             ├─ LogReader                   the newest per key, then the stream
 *             ├─ LogWriter                   appends what waits in the Outbox
 *             └─ restoreLog, LogMemory       what Redis forgets (FLUSHALL, failover), the nodes put back
 */
export class RedisReportTopic implements ReportTopic {
  readonly counters: TopicCounters = createTopicCounters();
  readonly partitions = 1;
  readonly #options: RedisTopicOptions;
  readonly #log: TopicLog;
  readonly #outbox = new Outbox();
  readonly #appends: PendingAppends;
  #listener: GuardedListener | undefined;
  #health: TopicHealth | undefined;
  #supervisor: TopicSupervisor | undefined;
  #rejectOpen: (error: Error) => void = () => {};
  #isClosed = false;

  constructor({ cluster, log }: RedisLogName, config: RedisTopicConfig, hooks: RedisTopicHooks = {}) {
    this.#options = redisTopicOptions(cluster, log, config, hooks);
    this.#log = hooks.log ?? (() => {});
    this.#appends = new PendingAppends(this.#options.topic, config.appendTimeoutMs, this.#outbox);
  }

  open(listener: ReportTopicListener): Promise<void> {
    if (this.#isClosed) return Promise.reject(this.#closedError());
    invariant(this.#supervisor === undefined, 'a topic is opened once');
    const { topic } = this.#options;
    this.#listener = new GuardedListener(listener, this.#log);
    this.#health = new TopicHealth(this.#listener, this.counters, { store: 'Redis', topic }, this.#log);
    this.#health.partitionsKnown(this.partitions);
    const supervisor = new TopicSupervisor({
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
    if (records.length === 0) return;
    for (const { partition } of records) invariant(partition === 0, 'the only partition is 0', { partition });
    // Copies: the writer may reuse its buffers while the record waits, and what is said again is said as it was.
    const own = records.map((record) => ({ ...record, value: record.value && Uint8Array.from(record.value) }));
    try {
      await this.#appends.append(own, (error) => this.#answered(error));
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
    this.#appends.rejectAll(reason);
    this.#supervisor?.stop(reason);
    this.#rejectOpen(reason);
  }

  #answered(error: Error | null): void {
    if (error === null) this.#health?.appended();
    else if (error instanceof AppendRefused) this.#health?.appendRefused(error.message);
    else if (error instanceof TopicUnusable) {
      this.#health?.appendRefused(error.message);
      this.#supervisor?.tellFailure(error);
    }
  }

  /** The supervisor has ended: before the topic was open, or by a defect. */
  #fail(error: unknown): void {
    this.#log('error', `Redis topic given up: ${reasonOf(error)}`, { topic: this.#options.topic });
    const failure = error instanceof Error ? error : new QuotameshError('UNEXPECTED', { reason: String(error) });
    this.#rejectOpen(failure);
    if (!(error instanceof QuotameshError)) this.#listener?.onFailed(failure);
    void this.close();
  }

  #closedError(): QuotameshError {
    return new QuotameshError('TOPIC_CLOSED', { topic: this.#options.topic });
  }
}
