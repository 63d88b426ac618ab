import type { ReadRecord } from '../../base/ports/report-topic.js';
import type { FetchedPartition } from './fetch-response.js';

const NOT_KNOWN = -1;

/** How far one partition of one log has been read. Pure. Another log gets another cursor. */
export class PartitionCursor {
  readonly partition: number;
  /** The offset to fetch next, as Kafka counts; null = not located yet. */
  #nextOffset: number | null = null;
  /** The leader epoch of the asked broker; −1 = not known. */
  leaderEpoch = NOT_KNOWN;
  #lastReadEpoch = NOT_KNOWN;
  /** The end of the log when the first fetch was answered. The reader has caught up when it reaches this offset. */
  #goal: number | null = null;
  /** The high watermark of the last answer, if that answer was empty below it; null otherwise. */
  #emptyBelow: number | null = null;

  constructor(partition: number) {
    this.partition = partition;
  }

  get nextOffset(): number | null {
    return this.#nextOffset;
  }

  /** The leader epoch in which the record before the next offset was written; −1 = not known. */
  get lastReadEpoch(): number {
    return this.#lastReadEpoch;
  }

  get isCaughtUp(): boolean {
    return this.#nextOffset !== null && this.#goal !== null && this.#nextOffset >= this.#goal;
  }

  /** Takes note of where the log begins and ends now. Returns what that means for the offset that Kafka has refused. */
  locate(earliest: number, end: number): 'started' | 'kept' | 'skipped' | 'shortened' {
    const nextOffset = this.#nextOffset;
    if (nextOffset === null) {
      this.#nextOffset = earliest;
      return 'started';
    }
    if (nextOffset >= earliest && nextOffset <= end) return 'kept';
    if (nextOffset > end) return 'shortened';
    // Retention or a deletion took these records: newer ones had superseded them, or the next reports repair the loss.
    this.#nextOffset = earliest;
    this.#lastReadEpoch = NOT_KNOWN;
    this.#emptyBelow = null;
    return 'skipped';
  }

  /**
   * Returns the records of a fetch that have not been read before.
   *
   * @param alone the answer held no record batch of any partition
   */
  accept(fetched: FetchedPartition, alone: boolean): ReadRecord[] {
    const records: ReadRecord[] = [];
    let nextOffset = this.#nextOffset ?? 0;
    this.#goal ??= fetched.highWatermark;
    for (const recordBatch of fetched.recordBatches) {
      for (const record of recordBatch.records) {
        // A fetch begins with the whole record batch that holds the asked offset, so earlier records may come first.
        if (record.offset >= nextOffset) records.push(record);
      }
      nextOffset = Math.max(nextOffset, recordBatch.nextOffset);
      this.#lastReadEpoch = recordBatch.leaderEpoch;
    }
    this.#nextOffset = this.#beyondGap(nextOffset, fetched, alone);
    return records;
  }

  /**
   * Compaction may leave nothing between our next offset and the end, and such a log never answers with a record batch.
   * Two empty answers in a row below the high watermark are taken for that. One alone may be a partition that got no
   * room in an answer full of others.
   */
  #beyondGap(nextOffset: number, fetched: FetchedPartition, alone: boolean): number {
    const isEmpty = alone && nextOffset < fetched.highWatermark;
    const before = this.#emptyBelow;
    this.#emptyBelow = isEmpty ? fetched.highWatermark : null;
    if (!isEmpty || before === null || before <= nextOffset) return nextOffset;
    // The leader that has just told the end vouches for it. In the log of an older leader epoch the end may be before
    // the gap.
    this.#lastReadEpoch = this.leaderEpoch;
    return before;
  }
}
