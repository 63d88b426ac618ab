import { AGAIN_MS } from './constants.js';
import type { StrictFold } from './strict-fold.js';
import {
  recordKey,
  type StrictDeletion,
  type StrictLife,
  type StrictRead,
  type StrictRecord,
} from './strict-record.js';

/**
 * Keeps the log short: from time to time a node writes the bucket whole, and deletes what is older when that is read
 * back. Until then nothing is overwritten, so who reads the log from its start misses nothing.
 */
export class StrictCheckpoints {
  /** Key → offset of what the log may still hold. */
  readonly #offsets = new Map<string, number>();
  #offset = -1;
  readonly #every: number;
  /** Records since the last checkpoint; many before the first. */
  #since: number;
  #wroteMs = -Infinity;
  /** Offsets up to which own checkpoints say all. */
  readonly #wroteAt = new Set<number>();

  /** @param every records after which the bucket is written whole */
  constructor(every: number) {
    this.#every = every;
    this.#since = every;
  }

  /** Reads on; returns what may go. */
  read({ offset, record }: StrictRead): readonly StrictDeletion[] {
    this.#offset = offset;
    this.#offsets.set(recordKey(record), offset);
    if (record.kind !== 'state') {
      // A budget that begins or is raised is written whole soon.
      const isGift = record.kind === 'period' || record.kind === 'credit';
      this.#since += isGift ? this.#every : 1;
      return [];
    }
    this.#since = 0;
    const older = [...this.#offsets].flatMap(([key, at]) => (at <= record.at ? [key] : []));
    for (const key of older) this.#offsets.delete(key);
    // Its author deletes.
    return this.#wroteAt.delete(record.at) ? older.map((key) => ({ kind: 'delete', key })) : [];
  }

  /** @param rank others come first, by so many records */
  due(fold: StrictFold, own: StrictLife, rank: number, nowMs: number): StrictRecord | null {
    const most = this.#every + rank * RANK_RECORDS;
    return this.#since < most || nowMs - this.#wroteMs < AGAIN_MS ? null : this.write(fold, own, nowMs);
  }

  write(fold: StrictFold, own: StrictLife, nowMs: number): StrictRecord {
    this.#wroteMs = nowMs;
    this.#wroteAt.add(this.#offset);
    return { kind: 'state', ...own, at: this.#offset, state: fold.state };
  }
}

/** Records by which each next holder waits. */
const RANK_RECORDS = 20;
