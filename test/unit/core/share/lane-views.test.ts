import { describe, expect, test } from 'vitest';
import { groupIdOf } from '../../../../src/core/base/ids.js';
import { NOTHING_REPORTED, type NodeRecord, type ReportRow } from '../../../../src/core/base/protocol/record.js';
import { MESSAGES } from '../../../../src/core/base/vocabulary.js';
import type { LaneView } from '../../../../src/core/convergence/strategy.js';
import { GATED, SETTINGS } from '../../../simulation/settings.js';
import { OneNode } from '../machine/one-node.js';

const OTHERS = ['a', 'b', 'c', 'd'];

function row(group: string, messages: number): ReportRow {
  const rates = { usageMessages: messages, usageBytes: messages, demandMessages: messages, demandBytes: messages };
  const groupId = groupIdOf(SETTINGS.cluster, group);
  return {
    ...NOTHING_REPORTED,
    groupId,
    direction: 0,
    topics: 1,
    ...rates,
    shareMessages: messages,
    shareBytes: messages,
  };
}

/** What is in front of `count`, sorted: the places of nodes follow their keys. */
function heldIn(column: Float64Array | Uint8Array, count: number): number[] {
  return Array.from(column.subarray(0, count)).sort((one, other) => one - other);
}

function roundOfGroup(node: OneNode, name: string): LaneView {
  const group = node.settings.groups.findIndex((each) => each.name === name);
  const lane = node.coordinator.laneOf(groupIdOf(SETTINGS.cluster, name), 0);
  return node.coordinator.shares.converge(group, lane);
}

test('a round knows nothing of the round before, at the first place as at the last', () => {
  const slow = { ...GATED, smoothingMs: 1000, quota: { ...GATED.quota, publish: [1e6, 1e6] as const } };
  const groups = [
    { ...slow, name: 'full', weights: { a: 5, b: 5, c: 5, d: 5, own: 5 } },
    { ...slow, name: 'empty' },
  ];
  const node = OneNode.ready({ groups });
  for (const id of OTHERS) node.read(node.by(id, 'node'), node.report(id, [row('full', 100), row('empty', 0)]));
  const full = roundOfGroup(node, 'full');
  expect(heldIn(full.demand[MESSAGES], full.count)).toEqual([0, 100, 100, 100, 100]);
  expect(heldIn(full.weight, full.count)).toEqual([5, 5, 5, 5, 5]);
  // One view serves all lanes: something is left in every place of it.
  for (const column of [...full.usage, ...full.demand, ...full.applied, full.ageMs, full.weight]) column.fill(7);
  full.moving.fill(1);
  const { count, usage, demand, applied, ageMs, weight, moving } = roundOfGroup(node, 'empty');
  const zeros = [0, 0, 0, 0, 0];
  for (const column of [...usage, ...demand, ...applied]) expect(heldIn(column, count)).toEqual(zeros);
  expect(heldIn(weight, count)).toEqual([1, 1, 1, 1, 1]);
  expect(heldIn(moving, count)).toEqual(zeros);
  // This node has said nothing of the group.
  expect(heldIn(ageMs, count)).toEqual([0, 0, 0, 0, Infinity]);
});

test('of a lane that moved to another bucket the larger of both words counts, in whatever order they came', () => {
  for (const [first, second] of [
    [900, 100],
    [100, 900],
  ] as const) {
    const node = OneNode.ready();
    node.read(node.by('b', 'node'), node.report('b', [row('orders', first)]));
    node.read(node.report('b', [row('orders', second)], { bundle: 1 }));
    const { usage, demand, count } = roundOfGroup(node, 'orders');
    for (const column of [...usage, ...demand]) expect(heldIn(column, count)).toEqual([0, 900]);
  }
});

test.each([1, 7])('the group’s settings stand in it, such as nodeCount %i', (nodeCount) => {
  const node = OneNode.ready({ groups: [{ ...GATED, floorRatio: 0.125, headroom: 'none', nodeCount }] });
  node.read(node.by('b', 'node'));
  const round = roundOfGroup(node, 'orders');
  expect(round).toMatchObject({ count: 2, floorRatio: 0.125, headroom: 'none' });
  expect([...round.target]).toEqual([1000, Infinity]);
  expect(heldIn(round.divisor, 2)).toEqual([nodeCount, nodeCount]);
});

describe('what a pool divides by', () => {
  const scene = () => OneNode.ready({ groups: [{ ...GATED, strategy: 'equal' }] });
  const divisors = (node: OneNode) => {
    const { divisor, count } = roundOfGroup(node, 'orders');
    return heldIn(divisor, count);
  };

  test('all members; who has not claimed as many waits', () => {
    const node = scene();
    node.run(1500);
    expect(divisors(node)).toEqual([1]);
    node.read(node.by('b', 'node'));
    expect(divisors(node)).toEqual([2, Infinity]);
  });

  test('the largest claim that this node has written and not read back: others may act on it already', () => {
    const node = scene();
    node.run(1500);
    node.read(node.by('b', 'node'));
    node.run(200, { echo: false });
    node.read(node.by('b', 'farewell'));
    expect(divisors(node)).toEqual([2]);
    node.run(2000);
    expect(divisors(node)).toEqual([1]);
  });

  test('a claim not read back is this node’s alone', () => {
    const node = scene();
    const b = node.by('b', 'node');
    node.read({ ...b, record: { ...(b.record as NodeRecord), pool: 2 } });
    node.run(1500);
    expect(divisors(node)).toEqual([2, 2]);
    node.read(node.by('c', 'node'));
    node.run(200, { echo: false });
    node.read(node.by('c', 'farewell'));
    expect(divisors(node)).toEqual([2, 3]);
  });
});

describe('the age of what a node has said', () => {
  test('is log time since then, and Infinity of a node that has said nothing', () => {
    const node = OneNode.ready({ groups: [{ ...GATED, smoothingMs: 1000 }] });
    node.read(node.by('b', 'node'), node.report('b', [row('orders', 900)]));
    node.pass(140);
    node.read(node.by('b', 'node'));
    const { ageMs, count } = roundOfGroup(node, 'orders');
    expect(heldIn(ageMs, count)).toEqual([140, Infinity]);
  });

  test('of a lane that moved to another bucket it is that of the newer word', () => {
    const node = OneNode.ready({ groups: [{ ...GATED, smoothingMs: 1000 }] });
    node.read(node.by('b', 'node'), node.report('b', [row('orders', 900)]));
    node.pass(100);
    node.read(node.report('b', [row('orders', 900)], { bundle: 1 }));
    node.pass(40);
    node.read(node.by('b', 'node'));
    const { ageMs, count } = roundOfGroup(node, 'orders');
    expect(heldIn(ageMs, count)).toEqual([40, Infinity]);
  });
});

test('groups that are added at run time take nothing from those that are served', () => {
  const node = OneNode.ready();
  node.run(1000, { each: () => void node.tryAcquire(0, 1) });
  const { shares } = node.coordinator;
  const before = {
    target: shares.target[0],
    applied: shares.applied[0],
    depth: shares.depth[0],
  };
  expect(before).toMatchObject({ target: 1000, applied: 1000 });
  for (let group = 1; group <= 20; group++) {
    node.step({ kind: 'group-changed', group, settings: { ...GATED, name: `later-${group}` } });
  }
  const after = {
    target: shares.target[0],
    applied: shares.applied[0],
    depth: shares.depth[0],
  };
  expect(after).toEqual(before);
  const { length } = shares.target;
  expect(length).toBeGreaterThanOrEqual(21 * 2 * 2);
  node.step({ kind: 'group-changed', group: 20, settings: { ...GATED, name: 'later-20', windowMs: 200 } });
  expect(shares.target.length).toBe(length);
  shares.addLanes(1000);
  expect(shares.depth.length).toBeGreaterThanOrEqual(1000 * 2);
  // A lane that was never served holds nothing: isolation takes the least of that and what the log says.
  expect(shares.applied[shares.applied.length - 1]).toBe(Infinity);
});
