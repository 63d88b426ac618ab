import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { AppendRecord, ReportTopic, ReportTopicListener, TopicCounters } from '../../base/ports/report-topic.js';
import { invariant } from '../../core/base/invariant.js';
import { countAppended, createTopicCounters } from '../topic-counters.js';
import { AnswerFaults } from './answer-faults.js';
import type { Backoff } from './backoff.js';
import { GuardedListener } from './guarded-listener.js';
import { Outbox } from './outbox.js';
import { PendingAppends } from './pending-appends.js';
import { ThrottleWatch } from './throttle-watch.js';
import { ToldFailure } from './told-failure.js';
import { TopicHealth } from './topic-health.js';
import type { TopicLog, TopicVoice } from './topic-log.js';
import { AppendRefused, reasonOf, TopicUnusable } from './topic-unusable.js';

/** Keeps the connections of an adapter, and begins again when they end. */
export interface Supervisor {
  /** Partitions; 0 = unknown yet. */
  readonly partitions: number;
  /** Partitions in the store now; absent = constant. */
  readonly partitionsFound?: number;
  /** Absent = nobody can change them; see ReportTopic. */
  readonly settingsMistake?: string | null;
  /** Runs until stopped or failed for good; calls `opened` once. */
  run(opened: () => void): Promise<void>;
  stop(reason: Error): void;
}

/** Parts of any supervisor. */
export interface SupervisedParts extends TopicVoice {
  readonly health: TopicHealth;
  readonly told: ToldFailure;
  readonly outbox: Outbox;
  readonly faults: AnswerFaults;
  readonly throttle: ThrottleWatch;
}

/** Opens a topic. The caller of `open` goes on first, to know the partitions before the first record. */
export async function beginReading(opened: () => void, listener: GuardedListener, epoch: () => string): Promise<void> {
  opened();
  await new Promise((resolve) => setImmediate(resolve));
  listener.onEpoch(epoch());
}

/** Notes an answer for a partition; once all works, attempts begin with short waits again. */
export function noteReading({ health, told }: SupervisedParts, backoff: Backoff, partition: number): void {
  health.reading(partition);
  if (health.isLost) return;
  backoff.reset();
  told.allWorks();
}

export interface RemoteTopicOptions {
  /** Name in messages: Kafka. */
  readonly store: string;
  readonly topic: string;
  readonly appendTimeoutMs: number;
  readonly log: TopicLog;
  readonly supervise: (parts: SupervisedParts) => Supervisor;
}

/** Runs topics on servers: an outbox of appends, and a supervisor that empties it. */
export class RemoteReportTopic implements ReportTopic {
  readonly counters: TopicCounters = createTopicCounters();
  readonly #options: RemoteTopicOptions;
  readonly #outbox = new Outbox();
  readonly #appends: PendingAppends;
  #parts: SupervisedParts | undefined;
  #supervisor: Supervisor | undefined;
  #rejectOpen: (error: Error) => void = () => {};
  #isClosed = false;

  constructor(options: RemoteTopicOptions) {
    this.#options = options;
    this.#appends = new PendingAppends(options.topic, options.appendTimeoutMs, this.#outbox);
  }

  get partitions(): number {
    return this.#supervisor?.partitions ?? 0;
  }

  get partitionsFound(): number {
    return this.#supervisor?.partitionsFound ?? this.partitions;
  }

  get settingsMistake(): string | null {
    return this.#supervisor?.settingsMistake ?? null;
  }

  get throttled(): string | null {
    return this.#parts?.throttle.reason ?? null;
  }

  open(listener: ReportTopicListener): Promise<void> {
    if (this.#isClosed) return Promise.reject(this.#closedError());
    invariant(this.#supervisor === undefined, 'a topic is opened once');
    const { store, topic, log, supervise } = this.#options;
    const { counters } = this;
    const voice = { store, topic, log, counters, listener: new GuardedListener(listener, { counters, log }) };
    const parts: SupervisedParts = {
      ...voice,
      health: new TopicHealth(voice),
      told: new ToldFailure(voice),
      outbox: this.#outbox,
      faults: new AnswerFaults(voice),
      throttle: new ThrottleWatch(voice),
    };
    const supervisor = supervise(parts);
    this.#parts = parts;
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
    countAppended(this.counters, records);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const reason = this.#closedError();
    this.#parts?.listener.end();
    this.#parts?.throttle.close();
    this.#supervisor?.stop(reason);
    this.#appends.rejectAll(reason);
    this.#rejectOpen(reason);
  }

  #answered(error: Error | null): void {
    if (error === null) this.#parts?.health.appended();
    else if (error instanceof AppendRefused && !error.isOwnFault) this.#parts?.health.appendRefused(error.message);
    else if (error instanceof TopicUnusable) {
      this.#parts?.health.appendRefused(reasonOf(error));
      this.#parts?.told.tell(error);
    }
  }

  #fail(error: unknown): void {
    const { store, topic, log } = this.#options;
    log('error', `${store} topic given up: ${reasonOf(error)}`, { topic });
    const failure = error instanceof Error ? error : new QuotameshError('UNEXPECTED', { reason: String(error) });
    this.#rejectOpen(failure);
    if (!(error instanceof QuotameshError)) this.#parts?.listener.onFailed(failure);
    void this.close();
  }

  #closedError(): QuotameshError {
    return new QuotameshError('TOPIC_CLOSED', { topic: this.#options.topic });
  }
}
