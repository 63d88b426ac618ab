import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type {
  AppendRecord,
  ReadRecord,
  ReportTopic,
  ReportTopicListener,
  TopicCounters,
} from '../../base/ports/report-topic.js';
import { invariant } from '../../core/base/invariant.js';
import { countAppended, countRead, createTopicCounters } from '../topic-counters.js';
import type { MemoryLog } from './memory-log.js';

const DEFAULT_APPEND_TIMEOUT_MS = 2000;

interface WaitingAppend {
  readonly records: readonly AppendRecord[];
  readonly resolve: () => void;
  readonly reject: (error: QuotameshError) => void;
  readonly timer: NodeJS.Timeout;
}

/** Attaches one participant to a `MemoryLog`; delivers asynchronously (a microtask), as all adapters. */
export class MemoryTopic implements ReportTopic {
  readonly counters: TopicCounters = createTopicCounters();
  readonly #log: MemoryLog;
  readonly #appendTimeoutMs: number;
  #listener: ReportTopicListener | undefined;
  #closed = false;
  #lost = false;
  #caughtUp = false;
  #deliveryQueued = false;
  #epoch: string | null = null;
  readonly #nextOffsets: number[];
  #waiting: WaitingAppend[] = [];

  constructor(log: MemoryLog, options: { readonly appendTimeoutMs?: number } = {}) {
    this.#log = log;
    this.#appendTimeoutMs = options.appendTimeoutMs ?? DEFAULT_APPEND_TIMEOUT_MS;
    this.#nextOffsets = new Array<number>(log.partitions).fill(0);
  }

  get partitions(): number {
    return this.#log.partitions;
  }

  async open(listener: ReportTopicListener): Promise<void> {
    if (this.#closed) throw this.#closedError();
    invariant(this.#listener === undefined, 'a topic is opened once');
    this.#listener = listener;
    this.#log.attach(this);
    this.logGrew();
  }

  async append(records: readonly AppendRecord[]): Promise<void> {
    if (this.#closed || !this.#listener) throw this.#closedError();
    if (records.length === 0) return;
    if (this.#log.paused) await this.#untilResumed(records);
    else this.#write(records);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#log.detach(this);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const append of waiting) {
      clearTimeout(append.timer);
      append.reject(this.#closedError());
    }
  }

  /** Returns the next offset; records from there on survive compaction. */
  nextOffsetOf(partition: number): number {
    return this.#nextOffsets[partition];
  }

  logGrew(): void {
    if (this.#deliveryQueued) return;
    this.#deliveryQueued = true;
    queueMicrotask(() => this.#deliver());
  }

  appendsResumed(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const append of waiting) {
      clearTimeout(append.timer);
      this.#write(append.records);
      append.resolve();
    }
    if (!this.#lost) return;
    this.#lost = false;
    this.counters.reconnects++;
    this.#listener?.onRecovered();
  }

  /** Delivers records again, a fault for tests (guarantee 5). */
  deliverAgain(records: readonly ReadRecord[]): void {
    const own = records.filter((record) => record.offset < this.#nextOffsets[record.partition]);
    if (own.length > 0) this.#hand(own);
  }

  #write(records: readonly AppendRecord[]): void {
    this.#log.append(records);
    countAppended(this.counters, records);
  }

  #untilResumed(records: readonly AppendRecord[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((append) => append.timer !== timer);
        this.counters.appendsFailed++;
        const error = new QuotameshError('APPEND_TIMED_OUT', { topic: 'memory', timeoutMs: this.#appendTimeoutMs });
        reject(error);
        this.#lose(error.message);
      }, this.#appendTimeoutMs);
      this.#waiting.push({ records, resolve, reject, timer });
    });
  }

  #lose(reason: string): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#listener?.onLost(reason);
  }

  #deliver(): void {
    this.#deliveryQueued = false;
    if (this.#closed || !this.#listener) return;
    if (this.#epoch !== this.#log.epoch) this.#beginEpoch(this.#log.epoch);
    const records: ReadRecord[] = [];
    for (let partition = 0; partition < this.partitions; partition++) {
      for (const record of this.#log.read(partition, this.#nextOffsets[partition])) records.push(record);
      this.#nextOffsets[partition] = this.#log.endOffset(partition);
    }
    if (records.length > 0) this.#hand(records);
    if (this.#caughtUp || this.#closed) return;
    this.#caughtUp = true;
    this.#listener.onCaughtUp();
  }

  #beginEpoch(epoch: string): void {
    this.#epoch = epoch;
    this.#nextOffsets.fill(0);
    this.#caughtUp = false;
    this.#listener?.onEpoch(epoch);
  }

  #hand(records: readonly ReadRecord[]): void {
    countRead(this.counters, records);
    this.#listener?.onRecords(records);
  }

  #closedError(): QuotameshError {
    return new QuotameshError('TOPIC_CLOSED', { topic: 'memory' });
  }
}
