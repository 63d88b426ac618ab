import { afterEach, expect, test, vi } from 'vitest';
import { examineGroup } from '../../../src/config/read/group-definition.js';
import { BudgetLanes } from '../../../src/node/strict/budget-lanes.js';

afterEach(() => {
  vi.useRealTimers();
});

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
  const log = { add: () => bucket, remove: () => {}, lost: null, unsafe: null, keyed: { lanes: new Map() } };
  const groups = { at: () => config, isKey: () => false };
  let wallMs = Date.parse('2026-10-25T12:00:00Z');
  const parts = { log, cluster: 'c', groups, telemetry: { log: () => {} }, wall: () => wallMs, maxKeys: 1 };
  const lanes = new BudgetLanes(parts as never);
  lanes.read(0);
  lanes.start();
  vi.advanceTimersByTime(300);
  wallMs += 86_400_000;
  vi.advanceTimersByTime(300);
  lanes.close();
  // Summer time ended on the 25th.
  expect(begun.at(0)).toEqual(['2026-10-24T22:00:00.000Z', 200]);
  expect(begun.at(-1)).toEqual(['2026-10-25T23:00:00.000Z', 200]);
});
