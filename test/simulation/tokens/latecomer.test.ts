import { expect, test } from 'vitest';
import { STRATEGY_NAMES } from '../../../src/core/convergence/strategies.js';
import { drawn, someOf } from '../../property/seed.js';
import { poisson } from './arrivals.js';
import { jain, perNode, play } from './play.js';

/** From an arrival to the record that tells of it, and from there to everybody: a round, and two deliveries. */
const TOLD_MS = 100;
/** Clients of the nodes that have been there ask as often as this, per second and node. */
const POLLS = 50;
const SEED = 4711 + drawn;
const BUSY_MS = 20_000;
console.log(`latecomers: seed ${SEED}`);

const GROUPS = [
  { says: '2 per second on 3 nodes', perSecond: 2, nodes: 3 },
  { says: '5 per second on 3 nodes', perSecond: 5, nodes: 3 },
  { says: '5 per second on 10 nodes', perSecond: 5, nodes: 10 },
  { says: '2 per second on 10 nodes', perSecond: 2, nodes: 10 },
  { says: '10 per minute on 3 nodes', perSecond: 10 / 60, nodes: 3 },
  { says: '60 per hour on 3 nodes', perSecond: 60 / 3600, nodes: 3 },
];

type SmallGroup = (typeof GROUPS)[number];

/** Plays a group that all nodes but the last use up; the last one asks so often from BUSY_MS on. */
function playLate({ perSecond, nodes }: SmallGroup, strategy: string, latePerSecond: number, seconds: number) {
  const last = nodes - 1;
  const scene = poisson(SEED, nodes, perSecond, BUSY_MS / 1000 + seconds, (atMs, node) => {
    if (node === last) return atMs < BUSY_MS ? 0 : latePerSecond;
    return perSecond < 1 ? POLLS / 10 : POLLS;
  });
  const depth = perSecond < 1 ? Math.max(10, 3600 * perSecond) : null;
  const burst = { messages: depth, bytes: null, policy: 'optimistic' } as const;
  const { admitted } = play(scene, { group: { strategy, burst } });
  const asked = scene.arrivals.filter(({ node }) => node === last);
  return { asked, late: admitted.filter(({ atMs }) => atMs >= BUSY_MS), last };
}

test.each(someOf(STRATEGY_NAMES.flatMap((strategy) => someOf(GROUPS).map((group) => ({ ...group, strategy })))))(
  '$says, by $strategy: who comes late is served within the time of one token',
  ({ strategy, ...group }) => {
    const waitMs = 1000 / group.perSecond + TOLD_MS;
    const { asked, late, last } = playLate(group, strategy, POLLS, waitMs / 1000 + 1);
    const first = late.find(({ node }) => node === last);
    expect((first?.atMs ?? Infinity) - asked[0].atMs).toBeLessThanOrEqual(waitMs);
  },
);

test.each(someOf(STRATEGY_NAMES.flatMap((strategy) => GROUPS.slice(0, 3).map((group) => ({ ...group, strategy })))))(
  '$says, by $strategy: who comes late and wants as much as the others has as much, over a minute',
  ({ strategy, ...group }) => {
    const { late } = playLate(group, strategy, POLLS, 60);
    expect(jain(perNode(late, group.nodes))).toBeGreaterThanOrEqual(0.97);
    expect(late.length).toBeGreaterThanOrEqual(0.99 * 60 * group.perSecond);
  },
);

test.each(someOf(GROUPS.slice(0, 3)))('$says: who asks now and then, below its part, is served', (group) => {
  const { asked, late, last } = playLate(group, 'max-min', (0.6 * group.perSecond) / group.nodes, 100);
  expect(late.filter(({ node }) => node === last).length / asked.length).toBeGreaterThanOrEqual(0.7);
});
