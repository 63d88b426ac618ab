import { beforeEach, describe, expect, test } from 'vitest';
import { groupIdOf, nodeKeyOf } from '../../../../src/core/base/ids.js';
import { ReportBook } from '../../../../src/core/report/report-book.js';

function bookWith({ partitions = 1, groupsPerRecord = 3, forcedReportMs = 300_000 } = {}) {
  return new ReportBook(nodeKeyOf('demo', 'a'), { partitions, groupsPerRecord, forcedReportMs }, () => false);
}

function groupId(group: number): string {
  return groupIdOf('demo', `group-${group}`);
}

function assign(book: ReportBook, ...groups: readonly number[]): number[] {
  return groups.map((group) => book.bundleOf(group, groupId(group)).number);
}

describe('report book', () => {
  test('forced reports come within the last tenth of their period, not all at once', () => {
    const book = bookWith({ groupsPerRecord: 1 });
    assign(book, ...Array.from({ length: 100 }, (_, group) => group));
    for (const bundle of book.bundles) book.published(bundle, 1000);
    const dueMs = book.bundles.map(({ forcedAtMs }) => forcedAtMs);
    expect(Math.min(...dueMs)).toBeGreaterThanOrEqual(271_000);
    expect(Math.max(...dueMs)).toBeLessThanOrEqual(301_000);
    expect(new Set(dueMs).size).toBe(100);
  });

  test('keys that may not be in the log are due, on their own partition alone', () => {
    const book = bookWith({ partitions: 4, groupsPerRecord: 1 });
    const bundle = book.bundleOf(1, groupId(1));
    const elsewhere = (bundle.partition + 1) % 4;
    expect([book.has(bundle.partition, 0), book.has(elsewhere, 0), book.has(bundle.partition, 1)]).toEqual([
      true,
      false,
      false,
    ]);
    book.markDirtyOn(elsewhere, bundle.key);
    book.markDirtyOn(bundle.partition, 'other');
    expect(dueAt(book, 0)).toEqual([]);
    book.markDirtyOn(bundle.partition, bundle.key);
    expect(dueAt(book, 0)).toEqual([0]);
  });

  describe('when a bundle is due', () => {
    let book: ReportBook;
    let forcedAtMs: number;
    beforeEach(() => {
      book = bookWith({ groupsPerRecord: 1 });
      assign(book, 1, 2, 3);
      book.changed(1, groupId(1), 'charge');
      book.changed(2, groupId(2), 'charge');
      expect(dueAt(book, 1000)).toEqual([0, 1]);
      for (const bundle of book.bundles) book.published(bundle, 1000);
      forcedAtMs = book.bundles[1].forcedAtMs;
    });

    test('not before it is forced, and again after as long', () => {
      const atMs = (number: number) => book.bundles[number].forcedAtMs;
      const first = [0, 1, 2].sort((one, other) => atMs(one) - atMs(other));
      expect(dueAt(book, atMs(first[0]) - 1)).toEqual([]);
      expect(dueAt(book, atMs(first[0]))).toEqual([first[0]]);
      book.published(book.bundles[first[0]], atMs(first[0]));
      expect(dueAt(book, atMs(first[1]))).toEqual([first[1]]);
    });

    test('sooner where that is asked for, not later', () => {
      book.forceOn(0, book.bundles[1].key, 5000);
      book.forceOn(0, book.bundles[1].key, 9000);
      expect(dueAt(book, 4999)).toEqual([]);
      expect(dueAt(book, 5000)).toEqual([1]);
      book.published(book.bundles[1], 5000);
      expect(book.bundles[1].forcedAtMs).toBeGreaterThan(forcedAtMs);
      book.forceOn(0, book.bundles[1].key, 1e9);
      expect(book.bundles[1].forcedAtMs).toBeLessThan(1e9);
    });

    test('not sooner for another partition, or for a key that is not its own', () => {
      book.forceOn(1, book.bundles[1].key, 5000);
      book.forceOn(0, 'other', 5000);
      expect(dueAt(book, 5000)).toEqual([]);
    });

    test('one that is dirty and was not written is due again at once', () => {
      book.changed(3, groupId(3), 'charge');
      expect(dueAt(book, 2000)).toEqual([2]);
      expect(dueAt(book, 2001)).toEqual([2]);
      book.published(book.bundles[2], 2001);
      expect(dueAt(book, 2002)).toEqual([]);
    });

    test('what made it due first is its reason, or what forces it', () => {
      const [first, second] = book.bundles;
      expect(first.reason).toBe('forced');
      book.forceBy(1, groupId(1), 'rates-far-below', 9000);
      expect(first.reason).toBe('rates-far-below');
      book.changed(1, groupId(1), 'charge');
      book.changed(1, groupId(1), 'refused');
      book.forceBy(1, groupId(1), 'rates-far-below', 5000);
      book.markAllDirty();
      expect([first.reason, second.reason]).toEqual(['charge', 'came-back']);
      book.published(first, 3000);
      expect(first.reason).toBe('forced');
      book.markDirtyOn(first.partition, first.key);
      expect(first.reason).toBe('again');
    });

    test('all of them, when everything may be lost', () => {
      book.markAllDirty();
      expect(dueAt(book, 2000)).toEqual([0, 1, 2]);
    });
  });
});

function dueAt(book: ReportBook, nowMs: number): number[] {
  const due: number[] = [];
  book.forEachDue(nowMs, ({ number }) => due.push(number));
  return due;
}
