import { describe, expect, test } from 'vitest';
import { Random } from '../../../../sim/cluster/random.js';
import { groupIdOf, nodeKeyOf } from '../../../../src/core/base/ids.js';
import type { Bundle } from '../../../../src/core/report/report-book.js';
import { ReportBook } from '../../../../src/core/report/report-book.js';
import { ReportBudget } from '../../../../src/core/report/report-budget.js';

const ROUND_MS = 20;

function bookOf(bundles: number): ReportBook {
  const book = new ReportBook(
    nodeKeyOf('demo', 'a'),
    { partitions: 1, groupsPerRecord: 1, forcedReportMs: 300_000 },
    () => false,
  );
  for (let group = 0; group < bundles; group++) change(book, group, 1);
  return book;
}

function change(book: ReportBook, group: number, deviation: number): void {
  book.changed(group, groupIdOf('demo', `group-${group}`), 'charge', deviation);
}

/** Writes what the budget lets a node write in one round. */
function round(book: ReportBook, budget: ReportBudget, nowMs: number): Bundle[] {
  const due: Bundle[] = [];
  book.forEachDue(nowMs, (bundle) => due.push(bundle));
  const written = [...budget.choose(due, nowMs)];
  for (const bundle of written) book.published(bundle, nowMs);
  return written;
}

describe('budget of reports', () => {
  test('holds nothing back, and changes no order, while there is room', () => {
    const book = bookOf(10);
    change(book, 7, 50);
    const budget = new ReportBudget(100);
    expect(round(book, budget, 0).map(({ number }) => number)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(budget).toMatchObject({ waiting: 0, shortSinceMs: Infinity });
  });

  test('any second holds so many reports and a tenth', () => {
    const book = bookOf(50);
    const budget = new ReportBudget(30);
    const writtenMs: number[] = [];
    for (let nowMs = 0; nowMs < 10_000; nowMs += ROUND_MS) {
      for (let group = 0; group < 50; group++) change(book, group, 1);
      for (const _ of round(book, budget, nowMs)) writtenMs.push(nowMs);
    }
    expect(writtenMs.length).toBeGreaterThanOrEqual(299);
    for (const fromMs of writtenMs) {
      expect(writtenMs.filter((atMs) => atMs >= fromMs && atMs < fromMs + 1000).length).toBeLessThanOrEqual(33);
    }
  });

  test('the largest deviation goes first, every fourth report to who has waited for longest', () => {
    const book = bookOf(12);
    const budget = new ReportBudget(10);
    round(book, budget, 0);
    for (let group = 1; group < 12; group++) change(book, group, group);
    const order: number[] = [];
    for (let nowMs = 100; nowMs <= 1100; nowMs += 100) {
      order.push(...round(book, budget, nowMs).map(({ number }) => number));
    }
    expect(order.slice(0, 8)).toEqual([11, 10, 9, 1, 8, 7, 6, 2]);
    expect([...order].sort((one, other) => one - other)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  test('nobody waits for more than four reports of each bundle, whatever the others deviate by', () => {
    const random = Random.stream(5, 'deviations');
    const book = bookOf(20);
    const budget = new ReportBudget(10);
    const changedMs = new Map<number, number>();
    let longestMs = 0;
    for (let nowMs = 0; nowMs < 120_000; nowMs += ROUND_MS) {
      for (let group = 0; group < 20; group++) {
        // The first one is never the largest.
        change(book, group, group === 0 ? 1 : 2 + 1000 * random.next());
        if (!changedMs.has(group)) changedMs.set(group, nowMs);
      }
      for (const { number } of round(book, budget, nowMs)) {
        longestMs = Math.max(longestMs, nowMs - (changedMs.get(number) as number));
        changedMs.delete(number);
      }
    }
    expect(longestMs).toBeLessThanOrEqual((4 * 20 * 1000) / 10);
    expect(longestMs).toBeGreaterThan((20 * 1000) / 10);
  });

  test('says how many wait, how often one had to, and since when', () => {
    const book = bookOf(5);
    const budget = new ReportBudget(1);
    round(book, budget, 1000);
    expect(budget).toMatchObject({ waiting: 4, shortSinceMs: 1000 });
    expect(book.isHeldBack(0)).toBe(false);
    expect(book.isHeldBack(4)).toBe(true);
    for (let nowMs = 1020; nowMs < 6000; nowMs += ROUND_MS) round(book, budget, nowMs);
    expect(budget).toMatchObject({ waiting: 0, shortSinceMs: Infinity });
    expect(book.isHeldBack(4)).toBe(false);
  });
});
