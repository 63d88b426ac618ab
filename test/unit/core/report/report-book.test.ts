import { describe, expect, test } from 'vitest';
import { groupIdOf, nodeKeyOf } from '../../../../src/core/ids.js';
import { partitionOf, ReportBook } from '../../../../src/core/report/report-book.js';

function bookWith({ partitions = 1, groupsPerRecord = 3, forcedReportMs = 300_000 } = {}) {
  return new ReportBook(nodeKeyOf('demo', 'a'), partitions, groupsPerRecord, forcedReportMs);
}

function groupId(group: number): number {
  return groupIdOf('demo', `group-${group}`);
}

function assign(book: ReportBook, ...groups: readonly number[]): number[] {
  return groups.map((group) => book.bucketOf(group, groupId(group)).number);
}

describe('report book', () => {
  test('fills a bucket before it opens the next, and stays with it', () => {
    const book = bookWith();
    expect(assign(book, 10, 11, 12, 13, 10, 12)).toEqual([0, 0, 0, 1, 0, 0]);
    expect(book.buckets.map(({ groups }) => groups)).toEqual([[10, 11, 12], [13]]);
  });

  test('a group belongs to one partition, and so does its bucket', () => {
    const book = bookWith({ partitions: 4 });
    for (let group = 0; group < 200; group++) {
      expect(book.bucketOf(group, groupId(group)).partition).toBe(partitionOf(groupId(group), 4));
    }
    expect(new Set(book.buckets.map(({ partition }) => partition)).size).toBe(4);
    expect(Math.max(...book.buckets.map(({ groups }) => groups.length))).toBe(3);
    expect(new Set(book.buckets.map(({ key }) => key)).size).toBe(book.buckets.length);
  });

  test('a released place is taken by the next group, and no bucket ever holds too many', () => {
    const book = bookWith();
    assign(book, 0, 1, 2, 3, 4, 5, 6);
    book.release(1);
    book.release(0);
    book.release(4);
    expect(new Set(assign(book, 20, 21, 22, 23, 24)).size).toBeGreaterThan(1);
    expect(book.buckets.every(({ groups }) => groups.length <= 3)).toBe(true);
    expect(book.buckets.flatMap(({ groups }) => groups).sort()).toEqual([2, 20, 21, 22, 23, 24, 3, 5, 6]);
    expect(book.buckets).toHaveLength(3);
  });

  test('releasing twice, or what was never assigned, is nothing', () => {
    const book = bookWith();
    assign(book, 0);
    book.release(0);
    book.release(0);
    book.release(77);
    expect(assign(book, 5)).toEqual([0]);
  });

  test('finds a bucket by its key', () => {
    const book = bookWith();
    const bucket = book.bucketOf(1, groupId(1));
    bucket.dirty = false;
    book.markDirtyOn(bucket.partition, 'other');
    book.markDirtyOn(bucket.partition + 1, bucket.key);
    expect(bucket.dirty).toBe(false);
    book.markDirtyOn(bucket.partition, bucket.key);
    expect(bucket.dirty).toBe(true);
  });

  test('forced reports come within the last tenth of their period, not all at once', () => {
    const book = bookWith({ groupsPerRecord: 1 });
    assign(book, ...Array.from({ length: 100 }, (_, group) => group));
    for (const bucket of book.buckets) book.published(bucket, 1000);
    const dueMs = book.buckets.map(({ forcedAtMs }) => forcedAtMs);
    expect(Math.min(...dueMs)).toBeGreaterThanOrEqual(271_000);
    expect(Math.max(...dueMs)).toBeLessThanOrEqual(301_000);
    expect(new Set(dueMs).size).toBe(100);
  });
});
