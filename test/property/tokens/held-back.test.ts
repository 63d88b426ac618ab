import { assert, describe, expect, test } from 'vitest';
import { Random } from '../../../sim/cluster/random.js';
import { World } from '../../../sim/cluster/world.js';
import { laneOf } from '../../../src/core/base/vocabulary.js';
import { GROUP, SETTINGS } from '../../simulation/settings.js';
import { someOf } from '../seed.js';

const STEP_MS = 20;
const SECONDS = 12;
const BUDGET = 1;

/**
 * Groups whose demand leaps from node to node, at nodes that may write one report per second each. A bucket holds a
 * depth; nodes that find it full at once take three, and what is unpublished is a depth more and a piece of each.
 */
describe.each(someOf([1, 2, 3, 4, 5, 6]))('nodes that may hardly speak, seed %d', (seed) => {
  test('admit what the quotas and four depths allow in any span, and who waits takes what is expected of it', () => {
    const draw = Random.stream(seed, 'held back');
    const between = (least: number, most: number) => least + Math.floor(draw.next() * (most - least + 1));
    const nodeCount = between(2, 6);
    const quotas = Array.from({ length: between(6, 18) }, () => [30, 100, 400][between(0, 2)]);
    const groups = quotas.map((messages, at) => {
      const quota = { ...GROUP.quota, publish: [messages, Infinity] as const };
      return { ...GROUP, name: `group-${at}`, quota };
    });
    const settings = { ...SETTINGS, groups, maxReportsPerSecond: BUDGET, groupsPerRecord: between(1, 6) };
    const delays = { appendMs: [0.5, 2] as const, deliveryMs: [0.5, draw.next() < 0.5 ? 5 : 60] as const };
    const world = new World(seed, settings, delays);
    const nodes = Array.from({ length: nodeCount }, (_, at) => world.start(`n${at}`));
    world.runFor(3000);
    const rates = groups.map(() => nodes.map(() => 0));
    const excess = groups.map(() => 0);
    let worst = 0;
    let heldBack = 0;
    for (let step = 0; step < (SECONDS * 1000) / STEP_MS; step++) {
      groups.forEach((_, group) => {
        const quota = quotas[group];
        if (draw.next() < STEP_MS / 700) {
          nodes.forEach((_, node) => {
            rates[group][node] = draw.next() < 0.5 ? 0 : 3 * draw.next() ** 2 * quota;
          });
        }
        let admitted = 0;
        nodes.forEach((node, at) => {
          const wanted = (rates[group][at] * STEP_MS) / 1000;
          const count = Math.floor(wanted) + (draw.next() < wanted % 1 ? 1 : 0);
          for (let asked = 0; asked < count; asked++) admitted += node.tryAcquire(laneOf(group, 0), 1, 0) ? 1 : 0;
          const tokens = node.coordinator.lanes.get(laneOf(group, 0))?.tokens;
          if (!tokens?.isHeldBack) return;
          heldBack++;
          const { account, takeable, threshold } = tokens.slots[0];
          assert(takeable <= Math.max(threshold - account.unread, -account.unread, 0) + 1e-9);
        });
        // The most above the quota in any span that ends now: what a bucket that leaks the quota holds.
        excess[group] = Math.max(0, excess[group] + admitted - (quota * STEP_MS) / 1000);
        const depth = Math.max(quota / 10, 3 * Math.sqrt(quota), 10);
        worst = Math.max(worst, excess[group] / (4 * depth + nodeCount));
      });
      world.runFor(STEP_MS);
    }
    expect(heldBack).toBeGreaterThan(0);
    expect(worst).toBeLessThanOrEqual(1);
  });
});
