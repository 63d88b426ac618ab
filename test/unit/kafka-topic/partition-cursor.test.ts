import { describe, expect, it } from 'vitest';
import type { FetchedPartition, FetchedRecordBatch } from '../../../src/topic/kafka/fetch-response.js';
import { PartitionCursor } from '../../../src/topic/kafka/partition-cursor.js';

const LEADER_EPOCH = 4;

/** A batch that spans `from` … `to` and holds the records at `offsets`, as compaction left them. */
function batch(from: number, to: number, offsets: readonly number[] = []): FetchedRecordBatch {
  const records = offsets.map((offset) => ({
    partition: 3,
    offset,
    appendMs: 1000 + offset,
    key: `key-${offset}`,
    value: Uint8Array.of(offset),
  }));
  return { firstOffset: from, nextOffset: to + 1, leaderEpoch: LEADER_EPOCH, records, unreadable: null };
}

function answer(highWatermark: number, ...recordBatches: FetchedRecordBatch[]): FetchedPartition {
  return { partition: 3, errorCode: 0, highWatermark, hasDiverged: false, recordBatches };
}

function startedAt(offset: number): PartitionCursor {
  const cursor = new PartitionCursor(3);
  cursor.locate(offset, offset);
  return cursor;
}

describe('reading on', () => {
  it('delivers records as they are in the log and moves behind them', () => {
    const cursor = startedAt(0);
    const records = cursor.accept(answer(3, batch(0, 0, [0]), batch(1, 2, [1, 2])), false);
    expect(records[0]).toEqual({
      partition: 3,
      offset: 0,
      appendMs: 1000,
      key: 'key-0',
      value: Uint8Array.of(0),
    });
    expect(records.map(({ offset }) => offset)).toEqual([0, 1, 2]);
    expect(cursor.nextOffset).toBe(3);
  });

  it('leaves out what a whole batch brings again from before the offset asked for', () => {
    const cursor = startedAt(2);
    const records = cursor.accept(answer(4, batch(0, 3, [0, 1, 2, 3])), false);
    expect(records.map(({ offset }) => offset)).toEqual([2, 3]);
  });
});

describe('catching up', () => {
  it('is done at once in an empty log', () => {
    const cursor = startedAt(0);
    expect(cursor.isCaughtUp).toBe(false);
    cursor.accept(answer(0), true);
    expect(cursor.isCaughtUp).toBe(true);
  });

  it('needs what was there at the first answer, not what came later', () => {
    const cursor = startedAt(0);
    cursor.accept(answer(2, batch(0, 0, [0])), false);
    expect(cursor.isCaughtUp).toBe(false);
    cursor.accept(answer(9, batch(1, 1, [1])), false);
    expect(cursor.isCaughtUp).toBe(true);
  });

  it('counts batches without a record: marks of transactions, and what compaction emptied', () => {
    const cursor = startedAt(0);
    expect(cursor.accept(answer(8, batch(0, 7)), false)).toEqual([]);
    expect(cursor.nextOffset).toBe(8);
    expect(cursor.isCaughtUp).toBe(true);
  });

  it('steps over a gap at the end only when it was found twice, alone', () => {
    const cursor = startedAt(5);
    cursor.accept(answer(9), true);
    expect(cursor.nextOffset).toBe(5);
    cursor.accept(answer(9), false);
    cursor.accept(answer(9), true);
    expect(cursor.nextOffset).toBe(5);
    cursor.accept(answer(12), true);
    expect(cursor.nextOffset).toBe(9);
  });
});

describe('a nextOffset that Kafka refuses', () => {
  it('moves to the start of the log when records were deleted; offsets stay those of the log', () => {
    const cursor = startedAt(5);
    expect(cursor.locate(20, 30)).toBe('skipped');
    expect(cursor.accept(answer(30, batch(20, 20, [20])), false)[0].offset).toBe(20);
  });

  it('stays where it is possible after all', () => {
    const cursor = startedAt(5);
    expect(cursor.locate(0, 5)).toBe('kept');
    expect(cursor.nextOffset).toBe(5);
  });

  it('says that the log was shortened when it ends before it', () => {
    const cursor = startedAt(5);
    cursor.accept(answer(7, batch(5, 6, [5, 6])), false);
    expect(cursor.locate(0, 3)).toBe('shortened');
  });
});

describe('the epoch of the leader that wrote what was read', () => {
  it('is that of the last batch, and not known before the first', () => {
    const cursor = startedAt(0);
    expect(cursor.lastReadEpoch).toBe(-1);
    cursor.accept(answer(3, batch(0, 0, [0]), { ...batch(1, 2, [1, 2]), leaderEpoch: 9 }), false);
    expect(cursor.lastReadEpoch).toBe(9);
    cursor.accept(answer(3), true);
    expect(cursor.lastReadEpoch).toBe(9);
  });

  it('behind a gap at the end is that of the leader that told the end: an older one may have ended before', () => {
    const cursor = startedAt(0);
    cursor.leaderEpoch = 12;
    cursor.accept(answer(9, batch(0, 4, [0])), false);
    cursor.accept(answer(9), true);
    cursor.accept(answer(9), true);
    expect(cursor.nextOffset).toBe(9);
    expect(cursor.lastReadEpoch).toBe(12);
  });

  it('is not known where the log begins behind what was read', () => {
    const cursor = startedAt(0);
    cursor.accept(answer(5, batch(0, 4, [0])), false);
    cursor.locate(20, 30);
    expect(cursor.lastReadEpoch).toBe(-1);
  });
});
