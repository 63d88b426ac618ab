import { describe, expect, test } from 'vitest';
import type { LaneCosts } from '../../../../src/core/base/protocol/record.js';
import type { CostMeter } from '../../../../src/core/target/cost-meter.js';
import { costsWritten, createCostReport, lookAtCosts } from '../../../../src/core/target/cost-report.js';
import { wideId } from '../../../wide-ids.js';

/** Costs per second by backend, of so many pieces of work per second: at 1,000/s 5 % is more than the noise. */
function costs(byBackend: Record<number, number>, transactions = 1000): LaneCosts {
  const backends = Object.entries(byBackend).map(([backend, cost]) => ({ backend: wideId(Number(backend)), cost }));
  return { transactions, backends };
}

/** Whether a change is told at the first look after it, and how long after the last record it is told at the latest. */
function told(before: LaneCosts | null, now: LaneCosts | null, isBusy = false): number {
  const report = createCostReport();
  let said = before;
  const meter = { smoothingMs: 10_000, costsOf: () => said } as unknown as CostMeter;
  const lane = { lane: 0, costs: report, isBusy };
  lookAtCosts(lane, meter, SINCE_MS);
  costsWritten(report);
  said = now;
  for (let nowMs = 50; nowMs <= 20_000; nowMs += 50) if (lookAtCosts(lane, meter, SINCE_MS + nowMs)) return nowMs;
  return Infinity;
}

const AT_ONCE = 250;
/** When the node looked first. */
const SINCE_MS = 7_000_000;

describe('when changed costs are told', () => {
  test.each<{ says: string; before: LaneCosts | null; now: LaneCosts | null; isBusy?: boolean; afterMs: number }>([
    { says: 'the first costs at once', before: null, now: costs({ 1: 100 }), afterMs: AT_ONCE },
    { says: 'their end at once', before: costs({ 1: 100 }), now: null, afterMs: AT_ONCE },
    { says: 'six percent more at once', before: costs({ 1: 100 }), now: costs({ 1: 107 }), afterMs: AT_ONCE },
    { says: 'six percent less at once', before: costs({ 1: 100 }), now: costs({ 1: 93 }), afterMs: AT_ONCE },
    { says: 'four percent after 5 s', before: costs({ 1: 100 }), now: costs({ 1: 104 }), afterMs: 5000 },
    {
      says: '… after 2 s of a busy group',
      before: costs({ 1: 100 }),
      now: costs({ 1: 104 }),
      isBusy: true,
      afterMs: 2000,
    },
    { says: 'one percent never', before: costs({ 1: 100 }), now: costs({ 1: 99 }), afterMs: Infinity },
    { says: 'five percent exactly after 5 s', before: costs({ 1: 100 }), now: costs({ 1: 95 }), afterMs: 5000 },
    { says: 'nothing where nothing costs', before: costs({}), now: costs({}), afterMs: Infinity },
    { says: 'a fifth of a unit', before: costs({ 1: 0.5 }), now: costs({ 1: 0.6 }), afterMs: AT_ONCE },
    // 52 of 1,052 are 4.9 %.
    { says: '5.2 % more pieces of work after 5 s', before: costs({ 1: 9 }), now: costs({ 1: 9 }, 1052), afterMs: 5000 },
    {
      says: 'a backend that costs nothing any more',
      before: costs({ 1: 90, 2: 10 }),
      now: costs({ 1: 90 }),
      afterMs: AT_ONCE,
    },
    {
      says: 'a backend that costs for the first time',
      before: costs({ 1: 90 }),
      now: costs({ 1: 90, 2: 10 }),
      afterMs: AT_ONCE,
    },
    {
      says: 'costs that move to another backend, the sum being the same',
      before: costs({ 1: 97, 2: 3 }),
      now: costs({ 1: 94, 2: 6 }),
      afterMs: AT_ONCE,
    },
    {
      says: 'more pieces of work at the same costs',
      before: costs({ 1: 100 }),
      now: costs({ 1: 100 }, 1100),
      afterMs: AT_ONCE,
    },
    { says: 'pieces of work whose costs are 0', before: costs({}), now: costs({}, 1100), afterMs: AT_ONCE },
    // 2 / √(10 · 1) = 63 % is noise of one piece per second.
    {
      says: 'of one piece per second 50 % after 5 s only',
      before: costs({ 1: 1 }, 1),
      now: costs({ 1: 1.8 }, 1),
      afterMs: 5000,
    },
    { says: '… 65 % at once', before: costs({ 1: 1 }, 1), now: costs({ 1: 3 }, 1), afterMs: AT_ONCE },
  ])('$says', ({ before, now, isBusy, afterMs }) => {
    expect(told(before, now, isBusy)).toBe(afterMs);
  });
});
