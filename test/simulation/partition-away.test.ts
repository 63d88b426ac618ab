import { expect, test } from 'vitest';
import { World } from '../../sim/cluster/world.js';
import { someOf } from '../property/seed.js';
import { GATED, SETTINGS } from './settings.js';

const PARTITIONS = 4;
const GROUPS = 12;
const NODES = ['a', 'b', 'c'];
const AWAY_MS = 30_000;

/** Every node is asked for more than its share of every group, so that each has something to say on every partition. */
function world(): World {
  const groups = Array.from({ length: GROUPS }, (_, at) => ({ ...GATED, name: `g${at}` }));
  const cluster = new World(7, { ...SETTINGS, partitions: PARTITIONS, groups });
  for (let group = 0; group < GROUPS; group++) {
    for (const node of NODES) {
      const ratePerSecond = (nowMs: number) => ((nowMs + group * 331) % 1400 < 700 ? 60 : 400);
      cluster.drive({ node, lane: 2 * group, ratePerSecond, evenly: true });
    }
  }
  for (const node of NODES) cluster.start(node);
  return cluster;
}

/** docs/operate/when-the-topic-is-away.md: "A single partition other than the first may be away alone". */
test.each(someOf([1, 2, 3]))(
  'while partition %i is silent, all nodes count as alive and hear themselves on the others',
  (away) => {
    const cluster = world();
    cluster.runFor(10_000);
    const nodes = NODES.map((name) => cluster.node(name));
    for (const { notices } of nodes) notices.length = 0;
    cluster.topic.silence(away, true);
    cluster.runFor(AWAY_MS);
    const told = nodes.flatMap(({ notices }) => notices.map(({ notice }) => notice));
    expect(told.filter(({ kind }) => kind.startsWith('member'))).toEqual([]);
    const isolated = told.flatMap((notice) => (notice.kind === 'isolated' ? [notice.partition] : []));
    expect(isolated).toEqual([away, away, away]);
    cluster.topic.silence(away, false);
    cluster.runFor(5000);
    for (const { coordinator } of nodes) expect(coordinator.link.isolatedPartitions).toEqual([]);
  },
);
