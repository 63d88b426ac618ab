import { StrictFold } from './strict-fold.js';
import type { StrictQuota } from './strict-quota.js';
import type { StrictRead } from './strict-record.js';
import { unwrittenState } from './strict-state.js';

/** A row of the log, as its reader keeps it. */
export interface LaneRow<Value> {
  /** Key of the record in its lane (strict-record.ts). */
  readonly key: string;
  readonly offset: number;
  readonly appendMs: number;
  readonly value: Value;
}

/**
 * Keeps the rows that the log has of one keyed lane. A checkpoint takes the place of
 * the rows before it; they are named until their deletions have been read back.
 *
 * *Worked:* rows 3, 4 and 5, then a checkpoint after all up to 4, at 6: 5 and 6 count, 3 and 4 are to be deleted.
 */
export class LaneRows<Value> {
  /** Rows that count, in order. */
  rows: LaneRow<Value>[] = [];
  /** Own time at which the last row was read. */
  readMs = -Infinity;
  /** Keys of rows that a checkpoint has replaced, in order. */
  readonly #replaced = new Set<string>();
  #checkpointKey = '';
  /** Offset up to which the checkpoint says all; −1 = there is none. */
  checkpointAt = -1;

  read(row: LaneRow<Value>, nowMs: number): void {
    this.readMs = nowMs;
    this.#replaced.delete(row.key);
    this.rows.push(row);
    const at = offsetOf(row.key);
    if (at === null || at <= this.checkpointAt) return;
    this.#checkpointKey = row.key;
    this.checkpointAt = at;
    for (const { key, offset } of this.rows) if (offset <= at) this.#replaced.add(key);
    this.rows = this.rows.filter(({ offset }) => offset > at);
  }

  deleted(key: string): void {
    this.#replaced.delete(key);
    if (this.rows.some((row) => row.key === key)) this.rows = this.rows.filter((row) => row.key !== key);
    if (key === this.#checkpointKey) this.#checkpointKey = '';
  }

  /** True = the log has nothing of the lane. */
  get isEmpty(): boolean {
    return this.rows.length + this.#replaced.size === 0;
  }

  /** Keys of rows that say nothing any more. */
  get replaced(): readonly string[] {
    return [...this.#replaced];
  }

  /**
   * Tests if the rows stand in the order that counted. The reader has seen each as it was written, or it is the
   * checkpoint. A repeated row of before stands in its last place alone.
   *
   * @param liveFrom offset of the last record that the log had when the reader began
   */
  isSure(liveFrom: number): boolean {
    return this.rows.every(({ key, offset }) => offset > liveFrom || key === this.#checkpointKey);
  }

  /** True = one checkpoint says all. */
  get isWhole(): boolean {
    return this.rows.length === 1 && this.rows[0].key === this.#checkpointKey;
  }

  /** True = the newest row says that the lane ends. */
  get mayBeOver(): boolean {
    return this.rows.at(-1)?.key.startsWith('end/') === true;
  }

  /** Returns what the rows say, read one after the other. */
  fold(quota: StrictQuota, decode: (row: LaneRow<Value>) => StrictRead | null): StrictFold {
    const reads = this.reads(decode);
    const checkpoint = reads.find(({ record }) => record.kind === 'state' && record.at === this.checkpointAt)?.record;
    const fold = new StrictFold(checkpoint?.kind === 'state' ? checkpoint.state : unwrittenState(quota));
    for (const read of reads) fold.apply(read);
    return fold;
  }

  reads(decode: (row: LaneRow<Value>) => StrictRead | null): readonly StrictRead[] {
    return this.rows.flatMap((row) => decode(row) ?? []);
  }
}

/** Returns the offset up to which a row says all; null = it is no checkpoint. */
function offsetOf(key: string): number | null {
  return key.startsWith('state/') ? Number(key.slice('state/'.length)) : null;
}
