import type { AppendRecord, ReadRecord } from '../../base/ports/report-topic.js';
import type { Outbox, Parcel } from '../remote/outbox.js';
import { AppendRefused, errorOf } from '../remote/topic-unusable.js';
import { PARTITION } from './redis-entry.js';
import { isAnswer, isOtherEpoch, isPassing, redisUnusable } from './redis-failure.js';
import type { RedisTopicOptions } from './redis-topic-options.js';
import type { OpenedLog, TopicLink } from './topic-link.js';

/** Records of the stream, about: newcomers read all, readers miss nothing within. */
const TAIL_RECORDS = 5_000;
/** Milliseconds for which own records are kept; failovers lose less than a second. */
const SAY_AGAIN_MS = 5_000;

interface Recent {
  readonly record: AppendRecord;
  readonly atMs: number;
  isRead: boolean;
}

/**
 * Writes one parcel at a time, in order. Into another log it first writes this node's records of the last seconds,
 * which a new master may lack; reports alone, as a change of the registry is decided once.
 */
export class LogWriter {
  /** Known epoch in force, into which own records were written again; '' = none. */
  epoch = '';
  /** Epoch that holds all that this node knows; '' = none was opened. */
  wholeEpoch = '';
  readonly #options: RedisTopicOptions;
  readonly #outbox: Outbox;
  readonly #onForgotten: () => void;
  readonly #recent = new Map<string, Recent>();
  #isOther = false;
  #wake: () => void = () => {};

  /** @param onForgotten called when own records were written again: into an epoch other than `wholeEpoch` */
  constructor(options: RedisTopicOptions, outbox: Outbox, onForgotten: () => void) {
    this.#options = options;
    this.#outbox = outbox;
    this.#onForgotten = onForgotten;
  }

  /** Opens the log on a new link, or when it is another. @param readOffset offset that this node has read */
  async open(link: TopicLink, readOffset: number): Promise<OpenedLog> {
    this.#isOther = false;
    const opened = await link.open(readOffset);
    if (this.wholeEpoch === '') this.wholeEpoch = opened.epoch;
    const isWhole = this.wholeEpoch === opened.epoch;
    const forgotten = isWhole ? [] : [...this.#recent.values()].map(({ record }) => record);
    if (forgotten.length > 0) await this.#append(link, opened.epoch, forgotten);
    this.epoch = opened.epoch;
    if (!isWhole) this.#onForgotten();
    return opened;
  }

  /** Forgets keys that somebody has written after this node. */
  read(records: readonly ReadRecord[]): void {
    for (const { key, value } of records) {
      const recent = this.#recent.get(key);
      if (recent === undefined) continue;
      if (isSame(recent.record.value, value)) recent.isRead = true;
      else if (recent.isRead) this.#recent.delete(key);
    }
  }

  openAgain(): void {
    this.#isOther = true;
    this.#wake();
  }

  /** Runs until the link ends or `stopped`. */
  async run(link: TopicLink, readOffset: () => number, stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      if (this.#isOther) await this.open(link, readOffset());
      const parcels = this.#outbox.take([PARTITION]);
      if (parcels.length === 0) await this.#nextPut(stopped);
      for (const parcel of parcels) await this.#write(link, parcel, readOffset);
    }
  }

  #nextPut(stopped: AbortSignal): Promise<void> {
    if (this.#isOther) return Promise.resolve();
    return this.#outbox.nextPut(stopped, (wake) => {
      this.#wake = wake;
    });
  }

  async #write(link: TopicLink, parcel: Parcel, readOffset: () => number): Promise<void> {
    const { topic } = this.#options;
    // Before sending, as it may be read back before the answer.
    this.#remember(parcel.records);
    try {
      try {
        await this.#append(link, this.epoch, parcel.records);
      } catch (error) {
        if (!isOtherEpoch(error)) throw error;
        await this.open(link, readOffset());
        await this.#append(link, this.epoch, parcel.records);
      }
    } catch (error) {
      const failure = errorOf(error);
      const refused = isAnswer(error) && !isPassing(error) && !isOtherEpoch(error);
      parcel.settle(refused ? (redisUnusable(error, topic) ?? new AppendRefused(topic, error)) : failure);
      if (!refused) throw failure;
      return;
    }
    parcel.settle(null);
  }

  #append(link: TopicLink, epoch: string, records: readonly AppendRecord[]): Promise<void> {
    const args = records.flatMap(({ key, value }) => {
      // A view: ioredis takes only Buffers.
      const bytes = value === null ? '' : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      return [key, value === null ? '0' : '1', bytes];
    });
    return link.append([epoch, TAIL_RECORDS, ...args]);
  }

  #remember(records: readonly AppendRecord[]): void {
    if (this.#options.keepsForever) return;
    const nowMs = performance.now();
    for (const record of records) {
      this.#recent.delete(record.key);
      this.#recent.set(record.key, { record, atMs: nowMs, isRead: false });
    }
    for (const [key, { atMs }] of this.#recent) {
      if (nowMs - atMs <= SAY_AGAIN_MS) break;
      this.#recent.delete(key);
    }
  }
}

function isSame(one: Uint8Array | null, other: Uint8Array | null): boolean {
  return one === null || other === null ? one === other : Buffer.compare(one, other) === 0;
}
