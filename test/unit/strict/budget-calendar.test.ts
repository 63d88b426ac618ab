import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BudgetCalendar } from '../../../src/node/strict/budget-calendar.js';
import { budgetClock } from '../../../src/node/strict/budget-clock.js';
import '../../property/seed.js';

const HOUR_MS = 3_600_000;

function periodOf(per: 'day' | 'week' | 'month' | 'year', zone: string, at: string) {
  const { fromMs, untilMs } = new BudgetCalendar(per, zone).periodAt(Date.parse(at));
  return [new Date(fromMs).toISOString(), new Date(untilMs as number).toISOString()].map((iso) => iso.slice(0, 16));
}

describe('periods', () => {
  test.each([
    ['day', 'UTC', '2026-11-30T23:59:59.999Z', '2026-11-30T00:00', '2026-12-01T00:00'],
    ['day', 'UTC', '2026-12-01T00:00:00.000Z', '2026-12-01T00:00', '2026-12-02T00:00'],
    ['day', 'Europe/Berlin', '2026-03-29T10:00Z', '2026-03-28T23:00', '2026-03-29T22:00'],
    ['day', 'Europe/Berlin', '2026-10-25T10:00Z', '2026-10-24T22:00', '2026-10-25T23:00'],
    ['month', 'Europe/Berlin', '2026-03-15T00:00Z', '2026-02-28T23:00', '2026-03-31T22:00'],
    ['month', 'Europe/Berlin', '2026-11-30T23:30Z', '2026-11-30T23:00', '2026-12-31T23:00'],
    ['month', 'America/New_York', '2026-12-01T03:00Z', '2026-11-01T04:00', '2026-12-01T05:00'],
    ['month', 'UTC', '2028-02-29T12:00Z', '2028-02-01T00:00', '2028-03-01T00:00'],
    ['year', 'Asia/Kathmandu', '2028-06-01T00:00Z', '2027-12-31T18:15', '2028-12-31T18:15'],
    ['week', 'UTC', '2026-11-29T23:00Z', '2026-11-23T00:00', '2026-11-30T00:00'],
    ['week', 'UTC', '2027-01-01T00:00Z', '2026-12-28T00:00', '2027-01-04T00:00'],
    ['week', 'Australia/Lord_Howe', '2026-04-05T00:00Z', '2026-03-29T13:00', '2026-04-05T13:30'],
    // Midnight does not exist: the day begins at one.
    ['day', 'Africa/Cairo', '2026-04-24T10:00Z', '2026-04-23T22:00', '2026-04-24T21:00'],
    // A day that an island has left out.
    ['day', 'Pacific/Apia', '2011-12-30T09:00Z', '2011-12-29T10:00', '2011-12-30T10:00'],
  ] as const)('of a %s in %s at %s: %s to %s', (per, zone, at, from, until) => {
    expect(periodOf(per, zone, at)).toEqual([from, until]);
  });

  test('follow each other without a gap, in every zone, at any instant', () => {
    const zones = ['UTC', 'Europe/Berlin', 'America/Havana', 'Asia/Kathmandu', 'Pacific/Chatham', 'America/Sao_Paulo'];
    const at = fc.integer({ min: Date.UTC(2015, 0), max: Date.UTC(2040, 0) });
    fc.assert(
      fc.property(at, fc.constantFrom(...zones), fc.constantFrom('day', 'week', 'month', 'year'), (ms, zone, per) => {
        const calendar = () => new BudgetCalendar(per, zone);
        const { fromMs, untilMs } = calendar().periodAt(ms);
        const end = untilMs as number;
        expect(fromMs <= ms && ms < end).toBe(true);
        expect(end - fromMs).toBeGreaterThan(22 * HOUR_MS);
        expect(calendar().periodAt(end).fromMs).toBe(end);
        expect(calendar().periodAt(end - 1)).toEqual({ fromMs, untilMs });
        expect(calendar().periodAt(fromMs - 1).untilMs).toBe(fromMs);
      }),
      { numRuns: 60 },
    );
  });

  test('a total never ends', () => {
    expect(new BudgetCalendar('total', 'UTC').periodAt(Date.now())).toEqual({ fromMs: 0, untilMs: null });
  });
});

test('a wall clock that is set a month ahead while a node runs goes a minute ahead; one that is set back, back', () => {
  let [monotonicMs, wallMs] = [500, 1_790_000_000_000];
  const told = budgetClock(
    () => monotonicMs,
    () => wallMs,
  );
  monotonicMs += HOUR_MS;
  wallMs += HOUR_MS;
  expect(told()).toBe(wallMs);
  wallMs += 31 * 24 * HOUR_MS;
  expect(told()).toBe(1_790_000_000_000 + HOUR_MS + 60_000);
  wallMs = 1_780_000_000_000;
  expect(told()).toBe(wallMs);
});
