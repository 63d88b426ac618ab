import type { ReadRecord } from '../../ports/report-topic.js';
import type { FetchedPartition } from './fetch-response.js';

/**
 * How far one partition has been read. Pure.
 *
 * Offsets are delivered as they are in Kafka, except after the topic was deleted and created again (or lost its end):
 * then they start below what was delivered before, and readers above would take every record for a repetition. From
 * then on a constant is added, so that delivered offsets never go back.
 */
export class PartitionCursor {
  readonly partition: number;
  /** Next offset to fetch, in Kafka's numbers; null = not located yet. */
  #position: number | null = null;
  #shift = 0;
  /** Reaching this offset is having caught up: what was readable when the first fetch was answered. */
  #goal: number | null = null;
  /** High watermark of the last answer, if that one was empty below it. */
  #emptyBelow: number | null = null;

  constructor(partition: number) {
    this.partition = partition;
  }

  get position(): number | null {
    return this.#position;
  }

  get isCaughtUp(): boolean {
    return this.#position !== null && this.#goal !== null && this.#position >= this.#goal;
  }

  /** Where the log begins and ends now. Returns what that means for a position that Kafka has refused. */
  locate(earliest: number, end: number): 'started' | 'kept' | 'skipped' | 'restarted' {
    const position = this.#position;
    if (position === null) {
      this.#position = earliest;
      return 'started';
    }
    if (position >= earliest && position <= end) return 'kept';
    this.#position = earliest;
    this.#emptyBelow = null;
    // Retention or a deletion of records: what is gone was superseded or is repaired by the next reports.
    if (position < earliest) return 'skipped';
    this.#shift += position - earliest;
    this.#goal = null;
    return 'restarted';
  }

  /** The records of a fetch that have not been read before. `alone`: the answer held no batch of any partition. */
  accept(fetched: FetchedPartition, alone: boolean): ReadRecord[] {
    const records: ReadRecord[] = [];
    let position = this.#position ?? 0;
    this.#goal ??= fetched.highWatermark;
    for (const batch of fetched.batches) {
      for (const record of batch.records) {
        // A fetch begins with the whole batch that holds the offset asked for.
        if (record.offset >= position) records.push(this.#delivered(record));
      }
      position = Math.max(position, batch.nextOffset);
    }
    this.#position = this.#beyondGap(position, fetched, alone);
    return records;
  }

  /**
   * Compaction may leave nothing between our position and the end, and a log that ends so never answers with a batch.
   * Two empty answers in a row below the high watermark are taken for that; one may be a partition that got no room
   * in an answer full of others.
   */
  #beyondGap(position: number, fetched: FetchedPartition, alone: boolean): number {
    const isEmpty = alone && position < fetched.highWatermark;
    const before = this.#emptyBelow;
    this.#emptyBelow = isEmpty ? fetched.highWatermark : null;
    return isEmpty && before !== null ? Math.max(position, before) : position;
  }

  #delivered(record: ReadRecord): ReadRecord {
    return this.#shift === 0 ? record : { ...record, offset: record.offset + this.#shift };
  }
}
