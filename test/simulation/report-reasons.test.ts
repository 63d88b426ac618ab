import { expect, test } from 'vitest';
import { World } from '../../sim/cluster/world.js';
import { noReports, type ReportReason } from '../../src/core/report/report-reason.js';
import { GROUP, SETTINGS } from './settings.js';

const NAMES = ['a', 'b', 'c'];
const [NEAR, FAR, USAGE] = [0, 2, 4];

/** Three nodes, a group near its quota, one far below it, and one whose split follows usage. */
test('every report in the log counts under one reason, and a story provokes them', () => {
  const quota = { publish: [100, Infinity] as const, dispatch: [Infinity, Infinity] as const };
  const groups = [
    { ...GROUP, name: 'near', quota },
    { ...GROUP, name: 'far', quota: { ...quota, publish: [10_000, Infinity] as const } },
    { ...GROUP, name: 'usage', quota, strategy: 'proportional' as const },
  ];
  const world = new World(1, { ...SETTINGS, groups });
  for (const name of NAMES) world.start(name);
  world.runFor(5000);
  const ask = (name: string, lane: number, perSecond: number, seconds: number) => {
    for (let at = 0; at < perSecond * seconds; at++) {
      world.queue.after((1000 * at) / perSecond, () => world.ask(name, lane, 1, 0, false));
    }
  };
  ask('a', NEAR, 150, 30);
  ask('b', NEAR, 60, 10);
  ask('a', FAR, 40, 60);
  ask('a', USAGE, 200, 20);
  ask('b', USAGE, 200, 30);
  world.runFor(120_000);
  const seen = total(world);
  const provoked: ReportReason[] = ['charge', 'refused', 'rates-far-below', 'step', 'over'];
  for (const reason of provoked) expect(seen[reason], reason).toBeGreaterThan(0);
  const reports = world.topic.log.filter(({ record }) => record?.kind === 'report').length;
  expect(Object.values(total(world)).reduce((sum, count) => sum + count, 0)).toBe(reports);
});

function total(world: World): Record<ReportReason, number> {
  const sum = noReports();
  for (const name of NAMES) {
    for (const { coordinator } of world.serving(name)) {
      for (const [reason, count] of Object.entries(coordinator.reportsWritten)) sum[reason as ReportReason] += count;
    }
  }
  return sum;
}
