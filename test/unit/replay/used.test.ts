import { expect, test } from 'vitest';
import { playTrace } from '../../../sim/replay/play-trace.js';
import type { TraceArrival } from '../../../sim/replay/trace.js';
import { systemNamed } from '../../../sim/systems.js';
import { GROUP, SETTINGS } from '../../simulation/settings.js';
import { arrival } from './rows.js';

const UNLIMITED = Infinity;

/** All work comes to one of four nodes, and the quota is split for ever: three quarters of it lie idle. */
async function usedOf(quota: readonly [number, number], bytes: number): Promise<number> {
  async function* oneBusyNode(): AsyncGenerator<TraceArrival> {
    for (let at = 0; at < 20_000; at++) yield arrival(at, 0, 1, bytes);
  }
  const [run] = await playTrace(oneBusyNode(), {
    name: 'one busy node',
    systems: [systemNamed('static')!],
    nodes: 4,
    seed: 1,
    quota,
    speed: 1,
    settings: SETTINGS,
    maxRequest: [UNLIMITED, UNLIMITED],
  });
  return run.verdict.utilisation;
}

test('a dimension without a quota, or without any work, does not count as used', async () => {
  expect(await usedOf([500, UNLIMITED], 0)).toBeCloseTo(0.25, 2);
  expect(await usedOf([500, 1e6], 0)).toBeCloseTo(0.25, 2);
  expect(await usedOf([500, UNLIMITED], 100)).toBeCloseTo(0.25, 2);
  expect(await usedOf([UNLIMITED, 50_000], 100)).toBeCloseTo(0.25, 2);
});

test('with two quotas the one that binds tells what could have been admitted', async () => {
  expect(await usedOf([500, 1e6], 100)).toBeCloseTo(0.25, 2);
  expect(await usedOf([1e4, 50_000], 100)).toBeCloseTo(0.25, 2);
});

/** @param everyMs so often five requests come at once, at one node after the other */
async function ofFivePerMinute(times: number, everyMs: number) {
  async function* clumps(): AsyncGenerator<TraceArrival> {
    for (let at = 0; at < times * 5; at++) yield arrival(Math.floor(at / 5) * everyMs, Math.floor(at / 5) % 3, 1, 0);
  }
  const burst = { messages: 5, bytes: null, policy: 'optimistic' } as const;
  const [run] = await playTrace(clumps(), {
    name: 'five at once',
    systems: [systemNamed('max-min')!],
    nodes: 3,
    seed: 1,
    quota: [5 / 60, UNLIMITED],
    speed: 1,
    settings: { ...SETTINGS, groups: [{ ...GROUP, burst }] },
    maxRequest: [UNLIMITED, UNLIMITED],
  });
  return { admitted: run.admitted, used: run.verdict.utilisation };
}

test('a file begins when the bucket of its quota is full, and is judged by spans in which that fills', async () => {
  expect(await ofFivePerMinute(1, 1)).toEqual({ admitted: 5, used: 1 });
  expect(await ofFivePerMinute(3, 61_000)).toEqual({ admitted: 15, used: 1 });
});
