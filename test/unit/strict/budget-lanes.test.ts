import { afterEach, expect, test, vi } from 'vitest';
import { examineGroup } from '../../../src/config/read/group-definition.js';
import type { GroupConfig } from '../../../src/config/resolved/resolved-config.js';
import type { BudgetSpent } from '../../../src/node/api/quota-node.js';
import { BudgetLanes } from '../../../src/node/strict/budget-lanes.js';

afterEach(() => {
  vi.useRealTimers();
});

function lanesOf(config: GroupConfig | null, bucket: object, wall: () => number): BudgetLanes {
  const log = { add: () => bucket, remove: () => {}, lost: null, unsafe: null, keyed: { lanes: new Map() } };
  const groups = { at: () => config, isKey: () => false };
  const lanes = new BudgetLanes({ log, cluster: 'c', groups, telemetry: { log: () => {} }, wall, maxKeys: 1 } as never);
  lanes.read(0);
  return lanes;
}

test('each period is begun with what the one before may leave to it: 20 % of 1,003, rounded down', () => {
  vi.useFakeTimers();
  const budget = { messages: 1003, per: 'day', timezone: 'Europe/Berlin', carry: '20%' };
  const { config } = examineGroup('plan', { budget }, '(test)');
  const begun: unknown[] = [];
  const bucket = {
    budget: null,
    state: 'kept',
    beginPeriod: ({ fromMs }: { readonly fromMs: number }, most: number) =>
      begun.push([new Date(fromMs).toISOString(), most]),
  };
  let wallMs = Date.parse('2026-10-25T12:00:00Z');
  const lanes = lanesOf(config, bucket, () => wallMs);
  lanes.start();
  vi.advanceTimersByTime(300);
  wallMs += 86_400_000;
  vi.advanceTimersByTime(300);
  lanes.close();
  // Summer time ended on the 25th.
  expect(begun.at(0)).toEqual(['2026-10-24T22:00:00.000Z', 200]);
  expect(begun.at(-1)).toEqual(['2026-10-25T23:00:00.000Z', 200]);
});

test('each threshold is told once a period, also where it is 7 % of 1,000, and again in the next one', () => {
  vi.useFakeTimers();
  const budget = { cents: 1000, per: 'day', warnAt: ['50%', '7%', '100%'] };
  const { config } = examineGroup('plan', { budget }, '(test)');
  const state = { period: { fromMs: 0, untilMs: 1 }, gone: 0, lost: 0, carried: 0, credits: [] };
  const bucket = { budget: state, quota: { depth: 1_000_000_000 }, beginPeriod: () => {} };
  const lanes = lanesOf(config, bucket, () => 0);
  const told: BudgetSpent[] = [];
  lanes.onSpent = (spent) => told.push(spent);
  lanes.start();
  const goneOf = (cents: number) => {
    state.gone = 1e6 * cents;
    vi.advanceTimersByTime(600);
    return lanes.reachedOf(0);
  };
  expect([69.999999, 70, 499, 500, 1000].map(goneOf)).toEqual([0, 7, 7, 50, 100]);
  state.period = { fromMs: 1, untilMs: 2 };
  expect([0, 600].map(goneOf)).toEqual([0, 50]);
  lanes.close();
  expect(told.map(({ percent, spent }) => [percent, spent])).toEqual([
    [7, 70],
    [50, 500],
    [100, 1000],
    [50, 600],
  ]);
  expect(told[0]).toEqual({ group: 'plan', percent: 7, spent: 70, limit: 1000, unit: 'cents' });
});
