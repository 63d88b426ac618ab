import { describe, expect, test } from 'vitest';
import { NOTHING_REPORTED } from '../../../../src/core/base/protocol/record.js';
import { someOf } from '../../../property/seed.js';
import { GATED } from '../../../simulation/settings.js';
import { OneNode } from './one-node.js';

function nodeWith(policy: 'equal-share' | 'floor' | 'closed' | 'open', partitions = 1): OneNode {
  const node = OneNode.ready({ partitions, groups: [{ ...GATED, isolation: { policy, holdMs: 10_000 } }] });
  node.read(node.by('a', 'node'));
  return node;
}

function work(node: OneNode, durationMs: number, echo: boolean): void {
  node.run(durationMs, { echo, each: () => [...Array(20)].forEach(() => void node.tryAcquire(0, 1)) });
}

/** For longer than what an isolated node looks back on, beside one other node that wants nothing. */
function workForLong(node: OneNode): void {
  for (let second = 0; second < 12; second++) {
    node.read(node.by('a', 'node'));
    work(node, 1000, true);
  }
}

describe('isolation', () => {
  test('what has risen within the last seconds is not held: another node may not have read why', () => {
    const node = nodeWith('equal-share');
    work(node, 100, true);
    node.read(node.report('a', [demandOf(node, 900)]));
    workForLong(node);
    expect(node.coordinator.shares.applied[0]).toBeCloseTo(500, 0);
    node.read(node.report('a', [demandOf(node, 0)]));
    work(node, 1000, true);
    expect(node.coordinator.shares.applied[0]).toBeGreaterThan(990);
    work(node, 4500, false);
    expect(node.told('isolated')).toHaveLength(1);
    expect(node.coordinator.shares.applied[0]).toBeCloseTo(500, 0);
  });

  /** Linked nodes may be as far behind each other as it takes to notice that the topic is gone, and so may both ends. */
  test.each([
    ['on the membership partition', 1, 2 * 3000],
    ['on another one, which beats more slowly', 4, 2 * 3000 + 5000],
  ])('it looks back on twice the time that noticing takes, %s, and not on much more', (_, partitions, lookBackMs) => {
    /** The share that is held, when it rose from 500 so long before the node notices that it is isolated. */
    function heldAfter(roseBeforeMs: number, phaseMs = 0): number {
      const node = nodeWith('equal-share', partitions);
      node.run(phaseMs);
      const say = (demand: number) => {
        node.read(
          node.by('a', 'node'),
          node.by('a', 'node', { partition }),
          node.report('a', [demandOf(node, demand)], { partition }),
        );
      };
      node.tryAcquire(0, 1);
      const { partition } = node.coordinator.lanes.get(0)!;
      const noticeMs = partition === 0 ? 3000 : 3000 + 5000;
      expect(partition === 0).toBe(partitions === 1);
      for (let second = 0; second < 16; second++) {
        say(900);
        work(node, 1000, true);
      }
      expect(node.coordinator.shares.applied[0]).toBeCloseTo(500, 0);
      say(0);
      work(node, roseBeforeMs - noticeMs, true);
      expect(node.coordinator.shares.applied[0]).toBeGreaterThan(990);
      // This partition alone is gone.
      while (node.told('isolated').length === 0) {
        work(node, 20, false);
        node.read(...node.lose().filter((sent) => sent.partition !== partition));
      }
      return node.coordinator.shares.applied[0];
    }
    // Wherever its windows of time begin.
    for (const phaseMs of someOf([0, 700, 1400, 2100])) expect(heldAfter(lookBackMs, phaseMs)).toBeCloseTo(500, 0);
    // What was heard last there may be as old as the time between two of its heartbeats.
    const sinceHeardMs = partitions === 1 ? 1000 : 5000;
    expect(heldAfter((4 / 3) * (lookBackMs + 500) + sinceHeardMs)).toBeGreaterThan(990);
  });

  test('a node that the log has given up has no share of it, and falls back', () => {
    const node = nodeWith('equal-share');
    work(node, 1500, true);
    for (let second = 0; second < 8; second++) {
      work(node, 1000, false);
      node.lose();
      node.read(node.by('a', 'node'));
    }
    expect(node.told('member-expired')).toHaveLength(1);
    expect(node.coordinator.shares.computed[0]).toBe(0);
    // One of two, though the log has but the other one left.
    expect(node.coordinator.shares.applied[0]).toBe(500);
    expect([...node.coordinator.lanes.values()].map(({ link }) => link)).not.toContain('linked');
  });

  test('a partition that comes back is heard after a heartbeat, not after its slower one', () => {
    const node = nodeWith('equal-share', 4);
    node.run(2000);
    const silence = () => node.read(...node.lose().filter(({ partition }) => partition !== 3));
    for (let second = 0; second < 9; second++) {
      node.run(1000, { echo: false });
      silence();
    }
    expect(node.told('isolated')).toMatchObject([{ partition: 3 }]);
    node.run(1100);
    expect(node.told('reconnected')).toMatchObject([{ partition: 3 }]);
  });
});

function demandOf(node: OneNode, messages: number) {
  const groupId = [...node.coordinator.lanes.values()][0].groupId;
  return { ...NOTHING_REPORTED, groupId, direction: 0, demandMessages: messages };
}

test('a busy node on a slow topic is not isolated while all its records come back in time', () => {
  const [roundTripMs, groupCount] = [2500, 400];
  const groups = Array.from({ length: groupCount }, (_, at) => ({ ...GATED, name: `group-${at}` }));
  const node = OneNode.ready({ groups, groupsPerRecord: 1 });
  const onTheWay: { readonly dueMs: number; readonly records: ReturnType<OneNode['lose']> }[] = [];
  let [inFlight, most, isolatedRounds] = [0, 0, 0];
  node.run(20_000, {
    echo: false,
    each: () => {
      // Traffic that comes and goes, in every group at another time.
      for (let group = 0; group < groupCount; group++) {
        if ((node.nowMs + group * 37) % 6000 < 3000) for (let time = 0; time < 5; time++) node.tryAcquire(group * 2, 1);
      }
      const records = node.lose();
      inFlight += records.length;
      most = Math.max(most, inFlight);
      onTheWay.push({ dueMs: node.nowMs + roundTripMs, records });
      while ((onTheWay[0]?.dueMs ?? Infinity) <= node.nowMs) {
        const back = onTheWay.shift()?.records ?? [];
        inFlight -= back.length;
        node.read(...back);
      }
      if (!node.coordinator.link.isWhole) isolatedRounds++;
    },
  });
  expect(most).toBeGreaterThan(300);
  expect(isolatedRounds).toBe(0);
  // They are put on their way one round after they were sent.
  expect(node.coordinator.reportRoundTripMs).toBe(roundTripMs + node.settings.sampleIntervalMs);
});
