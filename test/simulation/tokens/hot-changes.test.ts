import { expect, test } from 'vitest';
import type { World } from '../../../sim/cluster/world.js';
import { MESSAGES } from '../../../src/core/base/vocabulary.js';
import { groupOf, LANE, worldOfTokens } from './play.js';

const NAMES = ['a', 'b', 'c'];
const PER_SECOND = 10;
const DEPTH = 10;
const GROUP_OF_TEN = groupOf(PER_SECOND, DEPTH);

/** From now on the group may have so much per second. */
function setQuota(world: World, perSecond: number): void {
  const quota = { ...GROUP_OF_TEN.quota, publish: [perSecond, Infinity] } as const;
  world.changeGroup(0, { ...GROUP_OF_TEN, quota });
}

function tokensOf(world: World, name: string): number {
  const { tokens, lanes } = world.node(name).coordinator;
  return tokens.tokensOf(lanes.get(LANE)?.mapLane as number, MESSAGES) as number;
}

/** All take the whole burst at one instant, which leaves a debt. */
function indebted(deliveryMs: number): { readonly world: World; readonly taken: number } {
  const half: [number, number] = [deliveryMs / 2, deliveryMs / 2];
  const world = worldOfTokens(1, NAMES, PER_SECOND, { appendMs: half, deliveryMs: half });
  setQuota(world, PER_SECOND);
  world.runFor(12_000);
  let taken = 0;
  for (const name of NAMES) while (world.ask(name, LANE, 1, 0, false)) taken++;
  return { world, taken };
}

/** What the group lets through while it is asked for more than it may have, all nodes alike. */
function admittedIn(world: World, ms: number): number {
  let admitted = 0;
  for (const endMs = world.nowMs + ms; world.nowMs < endMs; world.runFor(10)) {
    for (const name of NAMES) if (world.ask(name, LANE, 1, 0, false)) admitted++;
  }
  return admitted;
}

test.each([
  [5, 300],
  // The records that tell of the debt come when the group is blocked already.
  [5, 1],
  [200, 1],
])('blocked and opened again: a debt is kept, delivery in %i ms, blocked after %i ms', (deliveryMs, afterMs) => {
  const { world, taken } = indebted(deliveryMs);
  expect(taken).toBe(3 * DEPTH);
  world.runFor(afterMs);
  setQuota(world, 0);
  world.runFor(3000);
  setQuota(world, PER_SECOND);
  world.runFor(deliveryMs);
  for (const name of NAMES) expect(tokensOf(world, name)).toBeLessThan(-DEPTH);
  expect(admittedIn(world, 1000)).toBe(0);
});

test('what a bucket holds while the group is blocked is there again, and what flows in within a heartbeat', () => {
  const world = worldOfTokens(1, NAMES, PER_SECOND);
  setQuota(world, 1);
  world.runFor(12_000);
  expect(world.ask('a', LANE, 4, 0, false)).toBe(true);
  world.runFor(20);
  setQuota(world, 0);
  world.runFor(5000);
  setQuota(world, 1);
  world.runFor(50);
  expect(tokensOf(world, 'a')).toBeGreaterThan(5.9);
  expect(tokensOf(world, 'a')).toBeLessThan(7.1);
});

test.each([5, 50, 200])('blocked and opened every 300 ms: three depths beyond the quota, delivery in %i ms', (ms) => {
  const { world, taken } = indebted(ms);
  let openMs = 0;
  let admitted = taken;
  for (let at = 0; at < 40; at++) {
    setQuota(world, at % 2 === 0 ? 0 : PER_SECOND);
    openMs += at % 2 === 0 ? 0 : 300;
    admitted += admittedIn(world, 300);
  }
  admitted += admittedIn(world, 10_000);
  // A change reaches the nodes a delivery later.
  expect(admitted).toBeLessThanOrEqual(((openMs + 10_000 + ms) * PER_SECOND) / 1000 + 3 * DEPTH);
});

test('what was taken while there was no quota is not owed when there is one', () => {
  const world = worldOfTokens(1, NAMES, PER_SECOND);
  setQuota(world, Infinity);
  world.runFor(3000);
  for (let at = 0; at < 300; at++) {
    for (const name of NAMES) for (let piece = 0; piece < 20; piece++) world.ask(name, LANE, 1, 0, false);
    world.runFor(10);
  }
  // Between two rounds, with some hundred messages that no round has counted.
  for (const name of NAMES) for (let piece = 0; piece < 200; piece++) world.ask(name, LANE, 1, 0, false);
  setQuota(world, PER_SECOND);
  world.runFor(500);
  for (const name of NAMES) expect(tokensOf(world, name)).toBeGreaterThanOrEqual(0);
});
