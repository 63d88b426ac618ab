import { QuotameshError } from '../../errors.js';
import type { CommitGate } from './commit-gate.js';
import { payloadBytes } from './log-entry.js';
import { topicClosed, toTopicError } from './topic-error.js';

/** Waiting for the log at most; more than that and an append is refused at once. */
const WAITING_RECORDS_MAX = 20_000;
const WAITING_BYTES_MAX = 32 * 1024 * 1024;
/** In one transaction at most (but always a whole append): others wait for it, and LogStore keeps room for it. */
const COMMIT_RECORDS_MAX = 2000;
const COMMIT_BYTES_MAX = 4 * 1024 * 1024;

export interface AppendQueueOptions {
  readonly topic: string;
  readonly appendTimeoutMs: number;
  readonly gate: CommitGate;
  /** All entries in one transaction, or none. */
  readonly commit: (entries: readonly Buffer[]) => Promise<void>;
  readonly onCommitted: (records: number, bytes: number) => void;
  readonly onAppendFailed: () => void;
  /** Told with every failure; the receiver knows whether it is the first. */
  readonly onLost: (reason: string) => void;
  /** Told with every success. */
  readonly onWorking: () => void;
}

interface WaitingAppend {
  readonly entries: readonly Buffer[];
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: QuotameshError) => void;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Brings appends into the log in the order of their calls: one transaction at a time, for all that wait when the gate
 * opens. An append that takes too long is rejected, and forgotten unless its transaction is already under way.
 */
export class AppendQueue {
  readonly #options: AppendQueueOptions;
  readonly #stopping = new AbortController();
  #waiting: WaitingAppend[] = [];
  #waitingRecords = 0;
  #waitingBytes = 0;
  #committing: readonly WaitingAppend[] = [];
  #working: Promise<void> | undefined;

  constructor(options: AppendQueueOptions) {
    this.#options = options;
  }

  append(entries: readonly Buffer[]): Promise<void> {
    const bytes = entries.reduce((sum, entry) => sum + entry.length, 0);
    if (this.#waitingRecords + entries.length > WAITING_RECORDS_MAX || this.#waitingBytes + bytes > WAITING_BYTES_MAX) {
      this.#options.onAppendFailed();
      const reason = `${this.#waitingRecords} records (${this.#waitingBytes} bytes) are waiting already`;
      return Promise.reject(new QuotameshError('TOPIC_UNREACHABLE', { topic: this.#options.topic, reason }));
    }
    return new Promise((resolve, reject) => {
      const append: WaitingAppend = { entries, bytes, resolve, reject, timer: undefined };
      append.timer = setTimeout(() => this.#timedOut(append), this.#options.appendTimeoutMs);
      this.#waiting.push(append);
      this.#count(append, 1);
      this.#working ??= this.#work();
    });
  }

  /**
   * Rejects what waits, and gives the transaction under way `graceMs` to end.
   * False = it has not: the store must not be closed under it.
   */
  async close(graceMs: number): Promise<boolean> {
    this.#stopping.abort();
    for (const append of this.#take(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY))
      this.#reject(append, topicClosed);
    const idle = await endsWithin(this.#working, graceMs);
    for (const append of this.#committing) this.#reject(append, topicClosed);
    return idle;
  }

  async #work(): Promise<void> {
    const { gate } = this.#options;
    try {
      do {
        const hold = await gate.enter(this.#stopping.signal);
        if (!hold) return;
        try {
          // Also when all of it has timed out meanwhile: an empty transaction shows that the log works again.
          await this.#commit(this.#take(COMMIT_RECORDS_MAX, COMMIT_BYTES_MAX));
        } finally {
          hold.leave();
        }
      } while (this.#waiting.length > 0);
    } finally {
      this.#working = undefined;
    }
  }

  async #commit(appends: readonly WaitingAppend[]): Promise<void> {
    this.#committing = appends;
    try {
      await this.#options.commit(appends.flatMap((append) => append.entries));
      for (const append of appends) this.#succeed(append);
      this.#options.onWorking();
    } catch (error) {
      const failure = toTopicError(this.#options.topic, error);
      for (const append of appends) this.#reject(append, () => failure);
      this.#options.onLost(failure.message);
    }
    this.#committing = [];
  }

  #take(recordsMax: number, bytesMax: number): WaitingAppend[] {
    let [records, bytes, count] = [0, 0, 0];
    while (count < this.#waiting.length) {
      const next = this.#waiting[count];
      if (count > 0 && (records + next.entries.length > recordsMax || bytes + next.bytes > bytesMax)) break;
      records += next.entries.length;
      bytes += next.bytes;
      count++;
    }
    const taken = this.#waiting.splice(0, count);
    for (const append of taken) this.#count(append, -1);
    return taken;
  }

  #timedOut(append: WaitingAppend): void {
    const index = this.#waiting.indexOf(append);
    if (index >= 0) {
      this.#waiting.splice(index, 1);
      this.#count(append, -1);
    }
    const { topic, appendTimeoutMs } = this.#options;
    const error = new QuotameshError('APPEND_TIMED_OUT', { topic, timeoutMs: appendTimeoutMs });
    this.#reject(append, () => error);
    this.#options.onLost(error.message);
  }

  #succeed(append: WaitingAppend): void {
    this.#options.onCommitted(
      append.entries.length,
      append.entries.reduce((sum, entry) => sum + payloadBytes(entry), 0),
    );
    // Rejected before: too late for the caller, yet in the log.
    if (append.timer === undefined) return;
    clearTimeout(append.timer);
    append.timer = undefined;
    append.resolve();
  }

  #reject(append: WaitingAppend, failure: (topic: string) => QuotameshError): void {
    if (append.timer === undefined) return;
    clearTimeout(append.timer);
    append.timer = undefined;
    this.#options.onAppendFailed();
    append.reject(failure(this.#options.topic));
  }

  #count(append: WaitingAppend, sign: 1 | -1): void {
    this.#waitingRecords += sign * append.entries.length;
    this.#waitingBytes += sign * append.bytes;
  }
}

async function endsWithin(work: Promise<void> | undefined, graceMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), graceMs);
  });
  const ended = await Promise.race([Promise.resolve(work).then(() => true), late]);
  clearTimeout(timer);
  return ended;
}
