import { setTimeout as sleep } from 'node:timers/promises';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { CommitGate } from './commit-gate.js';
import { payloadBytes } from './log-entry.js';
import { toTopicError } from './topic-error.js';

/** Most records that wait; further appends are refused at once. */
const WAITING_RECORDS_MAX = 20_000;
const WAITING_BYTES_MAX = 32 * 1024 * 1024;
/** Most records of a transaction, unless one append is larger: others wait for it, and LogStore keeps room. */
const COMMIT_RECORDS_MAX = 2000;
const COMMIT_BYTES_MAX = 4 * 1024 * 1024;

export interface AppendQueueOptions {
  readonly topic: string;
  readonly appendTimeoutMs: number;
  readonly gate: CommitGate;
  /** Writes all entries in one transaction, or none. */
  readonly commit: (entries: readonly Buffer[]) => Promise<void>;
  /** Called after every transaction; an empty one, too, shows that the log works. */
  readonly onCommitted: (records: number, bytes: number) => void;
  readonly onAppendFailed: () => void;
  /** Called with every failure. */
  readonly onLost: (reason: string) => void;
}

interface WaitingAppend {
  readonly entries: readonly Buffer[];
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: QuotameshError) => void;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Appends in the order of calls. One transaction at a time takes all that wait when the gate opens. An append that
 * takes too long is rejected, and forgotten unless under way.
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

  get busy(): boolean {
    return this.#working !== undefined;
  }

  append(entries: readonly Buffer[]): Promise<void> {
    const bytes = sum(entries, (entry) => entry.length);
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

  /** Rejects waiting appends with `failure`; gives the transaction `graceMs`. It may stay `busy`. */
  async close(graceMs: number, failure: (topic: string) => QuotameshError): Promise<void> {
    this.#stopping.abort();
    for (const append of this.#take(Infinity, Infinity)) this.#reject(append, failure);
    await Promise.race([this.#working, sleep(graceMs, undefined, { ref: false })]);
    for (const append of this.#committing) this.#reject(append, failure);
  }

  async #work(): Promise<void> {
    const { gate } = this.#options;
    try {
      do {
        const hold = await gate.enter(this.#stopping.signal);
        if (!hold) return;
        try {
          // Goes on even if all appends timed out: an empty transaction shows that the log works.
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
    const entries = appends.flatMap((append) => append.entries);
    const failure = await this.#options.commit(entries).then(
      () => undefined,
      (error: unknown) => toTopicError(this.#options.topic, error),
    );
    this.#committing = [];
    if (failure) {
      for (const append of appends) this.#reject(append, () => failure);
      this.#options.onLost(failure.message);
    } else {
      this.#options.onCommitted(entries.length, sum(entries, payloadBytes));
      for (const append of appends) this.#resolve(append);
    }
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

  /** Resolves an append; a rejected one is written all the same. */
  #resolve(append: WaitingAppend): void {
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

function sum(entries: readonly Buffer[], size: (entry: Buffer) => number): number {
  return entries.reduce((total, entry) => total + size(entry), 0);
}
