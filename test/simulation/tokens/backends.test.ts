import { expect, test } from 'vitest';
import type { World } from '../../../sim/cluster/world.js';
import { clusterDepth } from '../../../src/core/account/cluster-depth.js';
import { backendIdOf } from '../../../src/core/base/ids.js';
import { someOf } from '../../property/seed.js';
import { SETTINGS } from '../settings.js';
import { between, poisson, type TokenArrival } from './arrivals.js';
import { nameOf, play, watched } from './play.js';

const QUOTA = 1000;
const DEPTH = clusterDepth(QUOTA, 1);
const BACKEND = 'db';

/**
 * Three nodes, asked for 1,500/s in all of a quota of 1,000/s; the first one reports every second how full the backend
 * is. At a level of 0.8 it is at its target, with a spring of 0.2: it bears all at 0.8 and nothing at 1. `given` is the
 * target as the first node knew it.
 */
function follow(levelAt: (atMs: number) => number, deliveryMs: number) {
  let given = (_fromMs: number, _toMs: number) => 0;
  const prepare = (world: World) => {
    const first = world.node(nameOf(0));
    const beganMs = world.nowMs;
    const report = () => {
      const health = { kind: 'level', level: levelAt(world.nowMs - beganMs), target: 0.8, spring: 0.2 } as const;
      first.step({ kind: 'backend-reported', backend: BACKEND, zone: 'z', health });
      world.queue.after(1000, report);
    };
    given = watched(world, () => first.coordinator.shares.target[0]);
    report();
  };
  const onAdmitted = (world: World, { node }: TokenArrival) => {
    const { coordinator, nowMs } = world.node(nameOf(node));
    coordinator.costs.report(0, backendIdOf(SETTINGS.cluster, BACKEND), 1, 1, nowMs);
  };
  const scene = poisson(9, 3, QUOTA, 40, () => 500);
  const settings = { limiting: { ...SETTINGS.limiting, zonesLeftOut: 0 } };
  const played = play(scene, { deliveryMs, prepare, onAdmitted, settings });
  return { ...played, given };
}

const LEVELS: readonly (readonly [string, (atMs: number) => number])[] = [
  ['fills up slowly and recovers', (atMs) => (atMs < 10_000 || atMs > 20_000 ? 0.7 : 0.85)],
  ['is full from 10 s to 20 s', (atMs) => (atMs < 10_000 || atMs > 20_000 ? 0.7 : 1.1)],
  ['is full every other second', (atMs) => (atMs % 2000 < 1000 ? 0.7 : 0.95)],
];
const PLAYED = LEVELS.flatMap(([says, levelAt], at) =>
  // Each third has every level and every delay once.
  [5, 50, 200].map((_, turn, delays) => ({ says, levelAt, deliveryMs: delays[(at + turn) % 3] })),
);

test.each(someOf(PLAYED))(
  'a backend $says, delivery in $deliveryMs ms: any span holds the target in force and three depths at most, and it is used',
  ({ levelAt, deliveryMs }) => {
    const { admitted, given } = follow(levelAt, deliveryMs);
    for (let fromMs = 1000; fromMs < 34_000; fromMs += 250) {
      for (const spanMs of [500, 1000, 5000]) {
        const over = between(admitted, fromMs, fromMs + spanMs).length - given(fromMs, fromMs + spanMs);
        expect(over, `${spanMs} ms from ${fromMs}`).toBeLessThanOrEqual(DEPTH + (QUOTA * deliveryMs) / 1000);
      }
    }
    const used = between(admitted, 1000, 40_000).length / given(1000, 40_000);
    console.log(
      `${deliveryMs} ms: ${(100 * used).toFixed(1)} % of the target in force, ${given(10_000, 20_000)} while full`,
    );
    expect(used).toBeGreaterThan(0.97);
    expect(used).toBeLessThan(1.03);
  },
);
