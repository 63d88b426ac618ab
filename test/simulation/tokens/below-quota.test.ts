import { expect, test } from 'vitest';
import { Random } from '../../../sim/cluster/random.js';
import { World } from '../../../sim/cluster/world.js';
import type { GroupSettings } from '../../../src/core/base/settings.js';
import { partOf, someOf } from '../../property/seed.js';
import { GROUP, SETTINGS } from '../settings.js';
import { inOrder, poisson, type TokenArrival } from './arrivals.js';
import { LANE, play as playScene } from './play.js';

const DELAYS = { appendMs: [2.5, 2.5], deliveryMs: [2.5, 2.5] } as const;
const NODES = ['n0', 'n1', 'n2'];
const JOIN_MS = 2000;

/** Says of each request, in order, whether it was granted. */
function play(seed: number, group: Partial<GroupSettings>, arrivals: readonly TokenArrival[]): boolean[] {
  const world = new World(seed, { ...SETTINGS, groups: [{ ...GROUP, ...group }] }, DELAYS);
  for (const node of NODES) world.start(node);
  world.runFor(JOIN_MS);
  return arrivals.map(({ atMs, node }) => {
    world.runFor(JOIN_MS + atMs - world.nowMs);
    return world.ask(NODES[node], LANE, 1, 0, false);
  });
}

test('a client that spends 450 of 600 per minute in heaps of 150, dealt at random to three nodes, is served', () => {
  const quota = { ...GROUP.quota, publish: [10, Infinity] as const };
  let [asked, refused] = [0, 0];
  for (const seed of someOf([1, 2, 3, 4, 5, 6])) {
    const random = Random.stream(seed, 'heaps');
    const heaps: number[] = [];
    for (let atMs = 0; atMs < 150_000; atMs += random.exponential(20_000)) {
      // No minute has more than three heaps.
      if ((heaps.at(-3) ?? -Infinity) < atMs - 60_000) heaps.push(atMs);
    }
    const arrivals = heaps.flatMap((atMs) =>
      Array.from({ length: 150 }, () => ({ atMs: atMs + 1000 * random.next(), node: Math.floor(3 * random.next()) })),
    );
    const granted = play(seed, { quota, burst: { ...GROUP.burst, messages: 600 } }, inOrder(arrivals));
    asked += granted.length;
    refused += granted.filter((isGranted) => !isGranted).length;
  }
  expect(asked).toBeGreaterThan(partOf(4000));
  expect(refused).toBe(0);
});

test('proportional gives nodes that want 10, 50 and 30 of 100/s by chance what they want', () => {
  const quota = { ...GROUP.quota, publish: [100, Infinity] as const };
  const starved = someOf(Array.from({ length: 40 }, (_, at) => at + 1)).filter((seed) => {
    const random = Random.stream(seed, 'pip82');
    const arrivals = [10, 50, 30].flatMap((perSecond, node) => {
      const gapMs = () => random.exponential(1000 / perSecond);
      const ofNode: TokenArrival[] = [];
      for (let atMs = gapMs(); atMs < 40_000; atMs += gapMs()) ofNode.push({ atMs, node });
      return ofNode;
    });
    const sorted = inOrder(arrivals);
    const granted = play(seed, { strategy: 'proportional', quota }, sorted);
    return NODES.some((_, node) => {
      const own = granted.filter((_, at) => sorted[at]?.node === node);
      return own.filter((isGranted) => isGranted).length < 0.98 * own.length;
    });
  });
  expect(starved.length, `seeds ${starved}`).toBeLessThanOrEqual(partOf(2));
});

test('a group of 10/s that is asked once a second writes no record for each message', () => {
  const scene = poisson(5, 3, 10, 120, () => 1 / 3);
  const { admitted, reportsPerSecond } = playScene(scene, { idleMs: 12_000 });
  expect(admitted).toHaveLength(scene.arrivals.length);
  expect(admitted.length).toBeGreaterThan(80);
  // One for each message would be 0.33 per node.
  expect(reportsPerSecond).toBeLessThan(0.15);
});
