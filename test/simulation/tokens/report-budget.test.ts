import { expect, test } from 'vitest';
import { Random } from '../../../sim/cluster/random.js';
import { LOCAL_KAFKA, World } from '../../../sim/cluster/world.js';
import { laneOf } from '../../../src/core/base/vocabulary.js';
import { GROUP, SETTINGS } from '../settings.js';

const NODES = 5;
const GROUPS = 30;
/** 3·√Q, as the nodes choose by default, is a depth of 30. */
const PER_SECOND = 100;
const SECONDS = 20;
const TICK_MS = 10;
/** Reports per second and node; without a bound they write 8. */
const BUDGET = 2;
/** All buckets are full then, and no group has been used. */
const IDLE_MS = 3000;

interface Figures {
  /** What all groups admitted in the worst 5 s above their quotas together, as a part of them. */
  readonly over5s: number;
  /** What was admitted of Σ min(quota, demand) by group and second. */
  readonly used: number;
  readonly reportsPerSecond: number;
  readonly mostInASecond: number;
  readonly world: World;
}

/** Groups that want 1.1 × their quotas on average, moving every second, with a third of each at one of the nodes. */
function contended(maxReportsPerSecond: number): Figures {
  const quota = { ...GROUP.quota, publish: [PER_SECOND, Infinity] as const };
  const groups = Array.from({ length: GROUPS }, (_, at) => ({
    ...GROUP,
    name: `group-${at}`,
    quota,
  }));
  const world = new World(3, { ...SETTINGS, groups, maxReportsPerSecond }, LOCAL_KAFKA);
  const nodes = Array.from({ length: NODES }, (_, at) => world.start(`n${at}`));
  for (const node of nodes) node.keepsDecisions = false;
  world.runFor(IDLE_MS);
  const random = Random.stream(17, 'contended');
  const admitted = Array.from({ length: GROUPS }, () => new Float64Array(SECONDS * 10));
  const wanted = Array.from({ length: GROUPS }, () => new Float64Array(SECONDS));
  const from = world.topic.log.length;
  let walk = Array.from({ length: GROUPS }, () => 0);
  for (let tick = 0; tick < (SECONDS * 1000) / TICK_MS; tick++) {
    if (tick % (1000 / TICK_MS) === 0) walk = walk.map((value) => 0.9 * value + 0.35 * (random.next() - 0.5));
    const second = Math.floor((tick * TICK_MS) / 1000);
    for (let group = 0; group < GROUPS; group++) {
      const evenly = (1.1 * PER_SECOND * Math.exp(walk[group]) * TICK_MS) / 1000 / (NODES + 2);
      for (let node = 0; node < NODES; node++) {
        const due = poisson(random, group % NODES === node ? 3 * evenly : evenly);
        for (let at = 0; at < due; at++) {
          wanted[group][second] += 1;
          if (nodes[node].tryAcquire(laneOf(group, 0), 1, 0)) admitted[group][Math.floor(tick / 10)] += 1;
        }
      }
    }
    world.runFor(TICK_MS);
  }
  const reports = world.topic.log.slice(from).filter(({ record }) => record?.kind === 'report');
  const bySecond = new Map<string, number>();
  for (const { record, appendMs } of reports) {
    const key = `${record!.author.nodeKey} ${Math.floor(appendMs / 1000)}`;
    bySecond.set(key, (bySecond.get(key) ?? 0) + 1);
  }
  const usable = wanted.flatMap((row) => [...row]).reduce((sum, count) => sum + Math.min(count, PER_SECOND), 0);
  const sums = admitted[0].map((_, at) => admitted.reduce((sum, row) => sum + row[at], 0));
  return {
    over5s: mostIn5s(sums) / (5 * GROUPS * PER_SECOND) - 1,
    used: sums.reduce((sum, count) => sum + count, 0) / usable,
    reportsPerSecond: reports.length / SECONDS / NODES,
    mostInASecond: Math.max(...bySecond.values()),
    world,
  };
}

/** @param counts by 100 ms */
function mostIn5s(counts: Float64Array): number {
  let most = 0;
  for (let from = 0; from + 50 <= counts.length; from++) {
    most = Math.max(
      most,
      counts.slice(from, from + 50).reduce((sum, count) => sum + count, 0),
    );
  }
  return most;
}

function poisson(random: Random, mean: number): number {
  let product = random.next();
  let count = 0;
  for (const least = Math.exp(-mean); product > least; count++) product *= random.next();
  return count;
}

test('a budget that is far too small costs a part of the quotas, and no exactness', () => {
  const { world, reportsPerSecond, mostInASecond, over5s, used } = contended(BUDGET);
  expect(reportsPerSecond).toBeGreaterThan(0.9 * BUDGET);
  expect(mostInASecond).toBeLessThanOrEqual(BUDGET + 1);
  expect(over5s).toBeLessThanOrEqual(0.025);
  expect(used).toBeGreaterThanOrEqual(0.95);
  for (const { coordinator } of world.nodes.values()) expect(coordinator.reportBudget.heldBack).toBeGreaterThan(0);
});
