import { expect, test } from 'vitest';
import { GROUP } from '../../../simulation/settings.js';
import { OneNode } from './one-node.js';

test.each([
  { nodes: 30, perSecond: 300 },
  { nodes: 1000, perSecond: 300 },
  { nodes: 1000, perSecond: 1000 },
])(
  'one of $nodes nodes that asks for 17/s of $perSecond/s has them, though its part of a burst is less than one',
  ({ nodes, perSecond }) => {
    const quota = { ...GROUP.quota, publish: [perSecond, Infinity] as const };
    const node = OneNode.ready({ groups: [{ ...GROUP, quota }] });
    node.run(3000);
    node.read(...Array.from({ length: nodes - 1 }, (_, at) => node.by(`x-${at}`, 'node')));
    let asked = 0;
    let granted = 0;
    node.run(3000, {
      each: () => {
        if (Math.round(node.nowMs / node.settings.sampleIntervalMs) % 3 !== 0) return;
        asked++;
        if (node.tryAcquire(0, 1)) granted++;
      },
    });
    expect(asked).toBeGreaterThan(45);
    // Its first demand has to be read.
    expect(granted).toBeGreaterThanOrEqual(asked - 4);
  },
);
