import { expect, test } from 'vitest';
import { GROUP } from '../../../simulation/settings.js';
import { OneNode } from './one-node.js';

const WINDOWED = { ...GROUP, limiter: 'window', windowMs: 1000 } as const;

/** Takes the whole window as soon as it begins, piece by piece, for `seconds`; the reports that were written. */
function takeWindows(node: OneNode, seconds: number): number {
  let reports = 0;
  const each = () => {
    while (node.tryAcquire(0, 10));
  };
  const endMs = node.nowMs + seconds * 1000;
  while (node.nowMs < endMs) {
    node.run(node.settings.sampleIntervalMs, { each, echo: false });
    reports += node.sent.filter(({ record }) => record?.kind === 'report').length;
    node.echo();
  }
  return reports;
}

test('a node that empties each window at its beginning wants the same all the time', () => {
  const node = OneNode.ready({ groups: [WINDOWED] });
  takeWindows(node, 3);
  // Shorter spans than a window showed 20,000/s and then nothing, which was some ten reports in every window.
  expect(takeWindows(node, 20)).toBeLessThanOrEqual(4);
  const { usage } = node.coordinator.lanes.get(0)!.reported;
  expect(usage[0]).toBeGreaterThan(800);
  expect(usage[0]).toBeLessThan(1200);
});

test('a group that gets windows while it is used is looked at by the window from then on', () => {
  const node = OneNode.ready({ groups: [GROUP] });
  takeWindows(node, 2);
  node.step({ kind: 'group-changed', group: 0, settings: WINDOWED });
  takeWindows(node, 3);
  expect(takeWindows(node, 20)).toBeLessThanOrEqual(4);
  expect(node.coordinator.lanes.get(0)!.reported.usage[0]).toBeLessThan(1200);
});
