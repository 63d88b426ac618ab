import { expect, test } from 'vitest';
import { GATED } from '../../../simulation/settings.js';
import { OneNode } from './one-node.js';

const WINDOWED = { ...GATED, limiter: 'window', windowMs: 1000 } as const;

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
  const node = OneNode.ready({ groups: [GATED] });
  takeWindows(node, 2);
  node.step({ kind: 'group-changed', group: 0, settings: WINDOWED });
  takeWindows(node, 3);
  expect(takeWindows(node, 20)).toBeLessThanOrEqual(4);
  expect(node.coordinator.lanes.get(0)!.reported.usage[0]).toBeLessThan(1200);
});

test('a look at the rates that is due when the windows change waits until a window has passed', () => {
  const node = OneNode.ready({ groups: [WINDOWED] });
  takeWindows(node, 25);
  const { reported } = node.coordinator.lanes.get(0)!;
  node.step({ kind: 'group-changed', group: 0, settings: { ...WINDOWED, windowMs: 500 } });
  const before = reported.usage[0];
  for (let round = 0; round < 24; round++) {
    takeWindows(node, 0.02);
    expect(reported.usage[0]).toBe(before);
  }
});

test('windows of an hour are looked at by the slow span: a change of demand is told within two of them', () => {
  const node = OneNode.ready({ groups: [{ ...WINDOWED, windowMs: 3_600_000 }] });
  const drive = (perRound: number) => {
    node.run(15_000, { each: () => [...Array(perRound)].forEach(() => void node.tryAcquire(0, 1)) });
    return node.coordinator.lanes.get(0)!.reported.demand[0];
  };
  expect(Math.abs(drive(1) - 50)).toBeLessThan(10);
  expect(Math.abs(drive(10) - 500)).toBeLessThan(100);
});
