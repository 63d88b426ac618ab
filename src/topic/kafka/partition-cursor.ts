import type { ReadRecord } from '../../base/ports/report-topic.js';
import type { FetchedPartition } from './fetch-response.js';

const NOT_KNOWN = -1;

/** Tracks how far one partition of one log is read. Pure; another log gets another. */
export class PartitionCursor {
  readonly partition: number;
  /** Offset to fetch next, as Kafka counts; null = not located yet. */
  #nextOffset: number | null = null;
  /** Leader epoch of the broker; −1 = unknown. */
  leaderEpoch = NOT_KNOWN;
  #lastReadEpoch = NOT_KNOWN;
  /** End of the log at the first answer; reaching it is caught up. */
  #goal: number | null = null;
  /** High watermark of the last answer if that was empty below it; else null. */
  #emptyBelow: number | null = null;

  constructor(partition: number) {
    this.partition = partition;
  }

  get nextOffset(): number | null {
    return this.#nextOffset;
  }

  /** Leader epoch of the record before the next offset; −1 = unknown. */
  get lastReadEpoch(): number {
    return this.#lastReadEpoch;
  }

  get isCaughtUp(): boolean {
    return this.#nextOffset !== null && this.#goal !== null && this.#nextOffset >= this.#goal;
  }

  /** Notes the log's begin and end; returns what they mean for a refused offset. */
  locate(earliest: number, end: number): 'started' | 'kept' | 'skipped' | 'shortened' {
    const nextOffset = this.#nextOffset;
    if (nextOffset === null) {
      this.#nextOffset = earliest;
      return 'started';
    }
    if (nextOffset >= earliest && nextOffset <= end) return 'kept';
    if (nextOffset > end) return 'shortened';
    // Retention or a deletion took them: newer ones superseded them, or the next reports repair it.
    this.#nextOffset = earliest;
    this.#lastReadEpoch = NOT_KNOWN;
    this.#emptyBelow = null;
    return 'skipped';
  }

  /** Returns a fetch's unread records. @param alone the answer held no record batch of any partition */
  accept(fetched: FetchedPartition, alone: boolean): ReadRecord[] {
    const records: ReadRecord[] = [];
    let nextOffset = this.#nextOffset ?? 0;
    this.#goal ??= fetched.highWatermark;
    for (const recordBatch of fetched.recordBatches) {
      for (const record of recordBatch.records) {
        // A fetch begins with the whole record batch of the offset, so earlier records may come first.
        if (record.offset >= nextOffset) records.push(record);
      }
      nextOffset = Math.max(nextOffset, recordBatch.nextOffset);
      this.#lastReadEpoch = recordBatch.leaderEpoch;
    }
    this.#nextOffset = this.#beyondGap(nextOffset, fetched, alone);
    return records;
  }

  /**
   * Moves past a compacted gap at the end: no record batch answers there. Two empty answers below the high watermark
   * show one; a single one may have lacked room.
   */
  #beyondGap(nextOffset: number, fetched: FetchedPartition, alone: boolean): number {
    const isEmpty = alone && nextOffset < fetched.highWatermark;
    const before = this.#emptyBelow;
    this.#emptyBelow = isEmpty ? fetched.highWatermark : null;
    if (!isEmpty || before === null || before <= nextOffset) return nextOffset;
    this.#lastReadEpoch = this.leaderEpoch;
    return before;
  }
}
