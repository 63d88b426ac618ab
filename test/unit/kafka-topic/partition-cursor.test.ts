import { describe, expect, it } from 'vitest';
import type { FetchedBatch, FetchedPartition } from '../../../src/topic/kafka/fetch-response.js';
import { PartitionCursor } from '../../../src/topic/kafka/partition-cursor.js';

/** A batch that spans `from` … `to` and holds the records at `offsets`, as compaction left them. */
function batch(from: number, to: number, offsets: readonly number[] = []): FetchedBatch {
  const records = offsets.map((offset) => ({
    partition: 3,
    offset,
    appendMs: 1000 + offset,
    key: `key-${offset}`,
    value: Uint8Array.of(offset),
  }));
  return { firstOffset: from, nextOffset: to + 1, records, unreadable: null };
}

function answer(highWatermark: number, ...batches: FetchedBatch[]): FetchedPartition {
  return { partition: 3, errorCode: 0, highWatermark, batches };
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
    expect(cursor.position).toBe(3);
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
    expect(cursor.position).toBe(8);
    expect(cursor.isCaughtUp).toBe(true);
  });

  it('steps over a gap at the end only when it was found twice, alone', () => {
    const cursor = startedAt(5);
    cursor.accept(answer(9), true);
    expect(cursor.position).toBe(5);
    cursor.accept(answer(9), false);
    cursor.accept(answer(9), true);
    expect(cursor.position).toBe(5);
    cursor.accept(answer(12), true);
    expect(cursor.position).toBe(9);
  });
});

describe('a position that Kafka refuses', () => {
  it('moves to the start of the log when records were deleted; offsets stay those of the log', () => {
    const cursor = startedAt(5);
    expect(cursor.locate(20, 30)).toBe('skipped');
    expect(cursor.accept(answer(30, batch(20, 20, [20])), false)[0].offset).toBe(20);
  });

  it('stays where it is possible after all', () => {
    const cursor = startedAt(5);
    expect(cursor.locate(0, 5)).toBe('kept');
    expect(cursor.position).toBe(5);
  });

  it('begins anew when the log ends before it, and delivered offsets go on', () => {
    const cursor = startedAt(5);
    cursor.accept(answer(7, batch(5, 6, [5, 6])), false);
    expect(cursor.locate(0, 3)).toBe('restarted');
    expect(cursor.position).toBe(0);
    expect(cursor.accept(answer(2, batch(0, 1, [0, 1])), false).map(({ offset }) => offset)).toEqual([7, 8]);
    expect(cursor.locate(0, 1)).toBe('restarted');
    expect(cursor.accept(answer(1, batch(0, 0, [0])), false).map(({ offset }) => offset)).toEqual([9]);
  });
});
