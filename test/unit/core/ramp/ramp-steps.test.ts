import { describe, expect, test } from 'vitest';
import { groupIdOf, nodeKeyOf } from '../../../../src/core/base/ids.js';
import { NOTHING_REPORTED } from '../../../../src/core/base/protocol/record.js';
import type { RampSettings } from '../../../../src/core/base/settings.js';
import { GROUP } from '../../../simulation/settings.js';
import { OneNode } from '../machine/one-node.js';

/** 10 messages/s more every second. */
const RAMP = { fromPerSecond: 100, toPerSecond: 1100, overMs: 100_000, timeToLiveMs: 180_000 };
const SLOPE = 10;
/** Log time goes on every 600 ms, so that steps of a second are seen 200, 400, … ms late. */
const HEARTBEAT_MS = 600;

test.each(['relaxed', 'scheduled'] as const)(
  '%s: as steep as the line, however coarse the steps of log time',
  (mode) => {
    const rest = { thresholdRatio: 0.5, coolDownMs: 5000, pausePenaltyRatio: 0.5 };
    const ramp: RampSettings = { ...RAMP, ...rest, mode };
    const node = OneNode.ready({ heartbeatMs: HEARTBEAT_MS, groups: [{ ...GROUP, ramp }] });
    const each = () => [...Array(20)].forEach(() => void node.tryAcquire(0, 1));
    const ceiling = () => node.coordinator.shares.target[0];
    node.run(5000, { each });
    const from = ceiling();
    for (let seconds = 10; seconds <= 60; seconds += 10) {
      node.run(10_000, { each });
      expect(Math.abs(ceiling() - from - SLOPE * seconds)).toBeLessThanOrEqual(1.5 * SLOPE);
    }
  },
);

test.each(['relaxed', 'scheduled'] as const)('%s: a log that is another one does not throw it back', (mode) => {
  const rest = { thresholdRatio: 0.5, coolDownMs: 5000, pausePenaltyRatio: 0.5 };
  const ramp: RampSettings = { ...RAMP, ...rest, mode };
  const node = new OneNode({ heartbeatMs: HEARTBEAT_MS, groups: [{ ...GROUP, ramp }] });
  node.step({ kind: 'epoch-began', epoch: 'old' });
  node.step({ kind: 'caught-up' });
  node.echo();
  const each = () => [...Array(20)].forEach(() => void node.tryAcquire(0, 1));
  const ceiling = () => node.coordinator.shares.target[0];
  node.run(30_000, { each });
  const before = ceiling();
  expect(before).toBeGreaterThan(RAMP.fromPerSecond + 25 * SLOPE);
  node.pass(20);
  node.step({ kind: 'epoch-began', epoch: 'new' });
  node.echo();
  node.step({ kind: 'caught-up' });
  for (let seconds = 1; seconds <= 10; seconds++) {
    node.run(1000, { each });
    expect(Math.abs(ceiling() - before - SLOPE * seconds)).toBeLessThanOrEqual(2 * SLOPE);
  }
});

describe('what a ramp costs on the topic', () => {
  const ramp: RampSettings = {
    ...RAMP,
    toPerSecond: 200,
    overMs: 10_000,
    mode: 'relaxed',
    thresholdRatio: 0.5,
    coolDownMs: 5000,
    pausePenaltyRatio: 0.5,
  };
  const work = (node: OneNode, durationMs: number) => {
    const sent = { node: 0, 'group-state': 0 };
    const each = () => {
      for (let time = 0; time < 20; time++) node.tryAcquire(0, 1);
      for (const { record } of node.sent) if (record !== null && record.kind in sent) sent[record.kind as 'node']++;
      node.echo();
    };
    node.run(durationMs, { echo: false, each });
    return sent;
  };

  test('while it climbs, a ceiling every second and heartbeats to move log time; at its top neither', () => {
    const node = OneNode.ready({ groups: [{ ...GROUP, ramp }] });
    const climbing = work(node, 8000);
    expect(climbing['group-state']).toBeGreaterThanOrEqual(7);
    expect(climbing['group-state']).toBeLessThanOrEqual(9);
    work(node, 8000);
    expect(node.coordinator.shares.target[0]).toBe(200);
    const plain = OneNode.ready();
    work(plain, 16_000);
    const atTop = work(node, 20_000);
    expect(atTop.node).toBeLessThanOrEqual(work(plain, 20_000).node + 1);
    expect(atTop['group-state']).toBeLessThanOrEqual(1);
  });

  /** The node with the lowest key writes the ceiling; the others write it only while that node is silent. */
  test.each([
    ['before this one: it waits until that one has had its time', -1],
    ['behind this one: it does not wait', 1],
  ])('another node that uses it stands %s', (_, side) => {
    const node = OneNode.ready({ groups: [{ ...GROUP, ramp }] });
    const { nodeKey } = node.coordinator;
    const other = [...Array(50).keys()]
      .map((at) => `n-${at}`)
      .find((id) => Math.sign(nodeKeyOf(node.settings.cluster, id) - nodeKey) === side) as string;
    const rates = { ...NOTHING_REPORTED, usageMessages: 50, demandMessages: 50 };
    const row = { ...rates, groupId: groupIdOf(node.settings.cluster, GROUP.name), direction: 0 };
    node.read(node.by(other, 'node'), node.report(other, [row]));
    const written = work(node, 200)['group-state'];
    expect(written).toBe(side === 1 ? 1 : 0);
    // It is silent: somebody has to write.
    expect(work(node, 3000)['group-state']).toBeGreaterThan(0);
  });
});
