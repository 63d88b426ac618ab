import { describe, expect, test } from 'vitest';
import { groupIdOf } from '../../../../src/core/base/ids.js';
import { NOTHING_REPORTED, type ReportRow } from '../../../../src/core/base/protocol/record.js';
import { BYTES, MESSAGES, slotOf } from '../../../../src/core/base/vocabulary.js';
import { GATED, SETTINGS } from '../../../simulation/settings.js';
import { OneNode } from './one-node.js';

function row(group: string, wanted: number, share = 0): ReportRow {
  const rates = { ...NOTHING_REPORTED, usageMessages: wanted, demandMessages: wanted, shareMessages: share };
  return { ...rates, groupId: groupIdOf(SETTINGS.cluster, group), direction: 0, topics: 1 };
}

describe('whether a demand is served', () => {
  const isServed = (applied: number, demand: readonly [number, number], appliedBytes = 1e6): boolean => {
    const { shares } = OneNode.ready().coordinator;
    shares.applied[slotOf(0, MESSAGES)] = applied;
    shares.applied[slotOf(0, BYTES)] = appliedBytes;
    return shares.isServed(0, [...demand]);
  };

  test.each([
    ['by as much as it is', 100, true],
    ['by a thousandth less', 100 / 0.999, true],
    ['not by two thousandths less', 100.2, false],
  ])('%s', (_, demand, served) => {
    expect(isServed(100, [demand, 0])).toBe(served);
  });
});

test('what others hold in one lane is nothing that they hold in the next', () => {
  const groups = ['first', 'second'].map((name) => ({ ...GATED, name, strategy: 'steal-halfway' }));
  const node = OneNode.ready({ groups });
  node.read(node.by('b', 'node'), node.report('b', [row('first', 600, 500), row('second', 600)]));
  const { coordinator } = node;
  const held = (group: number) => {
    const { applied, count } = coordinator.shares.converge(group, coordinator.laneOf(coordinator.groupIdOf(group), 0));
    return Array.from(applied[MESSAGES].subarray(0, count)).sort();
  };
  expect(held(0)).toEqual([0, 500]);
  node.read(node.report('b', [row('first', 600, 500)]));
  expect(held(0)).toEqual([0, 500]);
  // No row of b is left in this lane.
  expect(held(1)).toEqual([0, 0]);
});

test.each([
  ['smoothing', { smoothingMs: 5000 }],
  ['a slew limit', { slewPerSecond: 0.05 }],
] as const)('%s of a group makes shares move slowly', (_, settings) => {
  const sharesOfB = (own: object) => {
    const node = OneNode.ready({ groups: [{ ...GATED, ...own }] });
    node.read(node.by('b', 'node'), node.report('b', [row('orders', 900, 100)]));
    const lane = node.coordinator.laneOf(groupIdOf(SETTINGS.cluster, 'orders'), 0);
    const { share, count } = node.coordinator.shares.converge(0, lane);
    return Math.max(...share[MESSAGES].subarray(0, count));
  };
  expect(sharesOfB({})).toBeGreaterThan(890);
  expect(sharesOfB(settings)).toBeLessThan(700);
});

test('a limit that moves is enforced, though the bucket is as deep as before', () => {
  const node = OneNode.ready({ groups: [{ ...GATED, quota: { ...GATED.quota, publish: [180, Infinity] } }] });
  const each = () => [...Array(20)].forEach(() => void node.tryAcquire(0, 1));
  node.run(3000, { each });
  const enforced = () => [node.limiter.buckets.rate.at(0), node.limiter.buckets.depth.at(0)];
  expect(enforced()).toEqual([180, 20]);
  node.read(node.by('b', 'node'), node.report('b', [row('orders', 900)]));
  expect(enforced()).toEqual([90, 20]);
});

test('a share that is no number is a defect that ends the node, not a limit', () => {
  const node = OneNode.ready({ groups: [{ ...GATED, floorRatio: Number.NaN }] });
  expect(() => node.tryAcquire(0, 1)).toThrow(/must not be negative/);
});

describe('how many bytes a bucket holds', () => {
  /** After two seconds of work of this size, ten pieces a second, below a share of 100,000 bytes/s. */
  function depthOf(
    messages: number,
    bytes: number,
    quotaBytes = 1e5,
    everyRounds = 5,
  ): { depth: number; limit: number } {
    const node = OneNode.ready({
      groups: [{ ...GATED, quota: { ...GATED.quota, publish: [1000, quotaBytes] } }],
    });
    node.read(node.by('b', 'node'));
    let rounds = 0;
    const each = () => rounds++ % everyRounds === 0 && void node.tryAcquire(0, messages, { bytes });
    node.run(400 * everyRounds, { each });
    const slot = slotOf(0, BYTES);
    const { depth, applied } = node.coordinator.shares;
    return { depth: depth[slot], limit: applied[slot] };
  }

  test('twenty messages of the size that was reported', () => {
    expect(depthOf(1, 600).depth).toBeCloseTo(12_000, 3);
  });

  test('also where there is less than one message a second', () => {
    expect(depthOf(1, 600, 1e5, 100).depth).toBeCloseTo(12_000, 3);
  });

  test.each([
    { says: 'one byte each', messages: 1, bytes: 1 },
    { says: 'less than one byte, which no message is', messages: 4, bytes: 1 },
  ])('twenty bytes where messages have $says', ({ messages, bytes }) => {
    expect(depthOf(messages, bytes, 160).depth).toBeCloseTo(20, 9);
  });

  test('of work without messages, or without bytes, 100 ms of the limit', () => {
    for (const [messages, bytes] of [
      [0, 1000],
      [1, 0],
    ] as const) {
      const { depth, limit } = depthOf(messages, bytes);
      expect(depth).toBeCloseTo(limit / 10, 6);
    }
  });
});

test('who is held back all the time asks for twice the share that is due: 133 of 200 for one of three', () => {
  const node = OneNode.ready({ groups: [{ ...GATED, quota: { ...GATED.quota, publish: [200, Infinity] } }] });
  node.read(...['b', 'c'].flatMap((id) => [node.by(id, 'node'), node.report(id, [row('orders', 1000)])]));
  node.tryAcquire(0, 1);
  node.limiter.heldBack[0] = 1;
  const each = () => void node.tryAcquire(0, 1);
  node.run(2000, { each });
  const { reported } = node.coordinator.lanes.get(0)!;
  expect(node.coordinator.shares.applied[0]).toBeCloseTo(66.7, 0);
  expect(reported.demand[MESSAGES]).toBeCloseTo(133.3, 0);
});
