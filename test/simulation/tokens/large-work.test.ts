import { describe, expect, test } from 'vitest';
import { clusterDepth } from '../../../src/core/account/cluster-depth.js';
import { someOf } from '../../property/seed.js';
import { LANE, worldOfTokens } from './play.js';

const PLAYED_MS = 30_000;
const IDLE_MS = 12_000;

/** How often one exact bucket grants so much, asked as often: what is larger than it leaves debt when it is full. */
function grantsOfOne(perSecond: number, amount: number, everyMs: number): number {
  const depth = clusterDepth(perSecond, 1);
  let tokens = depth;
  let granted = 0;
  for (let ms = 0; ms < PLAYED_MS; ms += everyMs) {
    if (tokens >= Math.min(amount, depth)) {
      tokens -= amount;
      granted++;
    }
    tokens = Math.min(depth, tokens + (perSecond * everyMs) / 1000);
  }
  return granted;
}

/** The same at one of so many nodes, of which the others rest. */
function grantsOf(nodes: number, perSecond: number, amount: number, everyMs: number): number {
  const names = Array.from({ length: nodes }, (_, at) => `n${at}`);
  const world = worldOfTokens(1, names, perSecond);
  world.runFor(IDLE_MS);
  let granted = 0;
  for (let ms = 0; ms < PLAYED_MS; ms += everyMs) {
    if (world.ask('n0', LANE, amount, 0, false)) granted++;
    world.runFor(everyMs);
  }
  return granted;
}

describe('work as large as the bucket, or larger, is admitted whenever that is full', () => {
  const PARTS = [0.25, 0.3, 0.6, 2];
  test.each(someOf([10, 100, 1000].flatMap((perSecond) => [1, 2, 3, 5].map((nodes) => [perSecond, nodes] as const))))(
    '%i/s on %i nodes',
    (perSecond, nodes) => {
      for (const part of PARTS) {
        for (const everyMs of [150, 1000, 10_000]) {
          const amount = Math.max(1, Math.round(part * perSecond));
          const exact = grantsOfOne(perSecond, amount, everyMs);
          const granted = grantsOf(nodes, perSecond, amount, everyMs);
          expect(granted, `${amount} every ${everyMs} ms: ${granted} of ${exact}`).toBeGreaterThanOrEqual(0.6 * exact);
        }
      }
    },
  );
});

/** Wished for is all of it: a debt is paid by all who take from the bucket, the met node too. */
const LEAST_MET = 0.8;

test('a node that asks for whole depths leaves a met one its demand', () => {
  for (const amount of [50, 90, 100]) {
    const world = worldOfTokens(1, ['large', 'met'], 100);
    world.runFor(1000);
    world.drive({ node: 'met', ratePerSecond: () => 30 });
    for (let ms = 0; ms < 60_000; ms += 100) {
      world.ask('large', LANE, amount, 0, true);
      world.runFor(100);
    }
    const asked = world.arrivals.filter(({ node, atMs }) => node === 'met' && atMs > 6000);
    const met = asked.filter(({ granted }) => granted).length / asked.length;
    expect(met, `beside pieces of ${amount}`).toBeGreaterThanOrEqual(LEAST_MET);
  }
});

test.each([1, 2])('who is refused more than a depth on %i nodes is told when it is there', (nodes) => {
  const names = ['n0', 'n1'].slice(0, nodes);
  for (const amount of [60, 100, 200]) {
    const world = worldOfTokens(1, names, 100);
    world.runFor(IDLE_MS);
    expect(world.ask('n0', LANE, amount, 0, false)).toBe(true);
    world.runFor(100);
    const { limiter } = world.node('n0');
    const [refusedMs, toldMs] = [world.nowMs, limiter.buckets.waitMs(LANE, amount, 0, world.nowMs)];
    while (!limiter.containsTokens(LANE, amount, 0, world.nowMs)) world.runFor(10);
    const laterMs = world.nowMs - refusedMs - toldMs;
    expect(Math.abs(laterMs), `${amount}: told ${toldMs} ms`).toBeLessThanOrEqual(100 + 0.1 * toldMs);
  }
});
