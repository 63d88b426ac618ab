import { describe, expect, test } from 'vitest';
import { World } from '../../../sim/cluster/world.js';
import type { ReportRow } from '../../../src/core/base/protocol/record.js';
import { GROUP, SETTINGS } from '../settings.js';

const BEGIN_MS = 60_000;

/** Asks each node evenly for its part of the quota: `before` × the quota for a minute, `after` × from then on. */
function play(perSecond: number, nodes: readonly string[], before: number, after: number): World {
  const quota = { ...GROUP.quota, publish: [perSecond, Infinity] as const };
  const world = new World(1, { ...SETTINGS, groups: [{ ...GROUP, quota }] });
  for (const node of nodes) world.start(node);
  const partOf = (nowMs: number) => ((nowMs < BEGIN_MS ? before : after) * perSecond) / nodes.length;
  for (const node of nodes) world.drive({ node, ratePerSecond: partOf, evenly: true });
  world.runFor(BEGIN_MS);
  return world;
}

/** Returns what everybody reads of node `a`: the rates of its newest row. */
function rowOf(world: World): ReportRow | undefined {
  const own = world.node('a').coordinator.nodeKey;
  const reports = world.topic.log.flatMap(({ record }) => (record?.kind === 'report' ? [record] : []));
  return reports.findLast(({ author }) => author.nodeKey === own)?.rows[0];
}

function reportsOf(world: World): number {
  return world.topic.log.filter(({ record }) => record?.kind === 'report').length;
}

const CLUSTERS = [
  { perSecond: 5, nodes: ['a'] },
  { perSecond: 10, nodes: ['a'] },
  { perSecond: 20, nodes: ['a'] },
  { perSecond: 50, nodes: ['a'] },
  { perSecond: 10, nodes: ['a', 'b'] },
  { perSecond: 20, nodes: ['a', 'b'] },
  { perSecond: 50, nodes: ['a', 'b'] },
];

describe.each(CLUSTERS)('the rates in the log of $perSecond/s at $nodes', ({ perSecond, nodes }) => {
  test('1.5 quotas from the first second: the burst has left the row 5 s after it is used up, by one more report', () => {
    const world = play(perSecond, nodes, 0, 1.5);
    // It lasts four seconds at most, and the row is compared five seconds later.
    world.runFor(10_000);
    const shown = rowOf(world);
    expect(shown?.usageMessages).toBeGreaterThan((0.85 * perSecond) / nodes.length);
    expect(shown?.usageMessages).toBeLessThan((1.15 * perSecond) / nodes.length);
    world.runFor(110_000);
    expect(reportsOf(world)).toBeLessThanOrEqual(2 * nodes.length);
  });

  test('a rise to 1.5 quotas: the row is right after 15 s, and no report follows that says the same', () => {
    const world = play(perSecond, nodes, 0.3, 1.5);
    world.runFor(15_000);
    const shown = rowOf(world);
    expect(shown?.usageMessages).toBeGreaterThan((0.85 * perSecond) / nodes.length);
    expect(shown?.usageMessages).toBeLessThan((1.15 * perSecond) / nodes.length);
    const reports = reportsOf(world);
    world.runFor(105_000);
    expect(reportsOf(world) - reports).toBeLessThanOrEqual(nodes.length);
  });
});

test.each([10, 20])(
  'a rise far below a quota of %d/s: the row does not mix the old rate with the new one',
  (perSecond) => {
    const world = play(perSecond, ['a'], 0.3, 0.8);
    world.runFor(30_000);
    expect(rowOf(world)?.usageMessages).toBeGreaterThan(0.9 * 0.8 * perSecond);
    expect(rowOf(world)?.usageMessages).toBeLessThan(1.1 * 0.8 * perSecond);
  },
);
