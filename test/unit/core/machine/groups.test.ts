import { beforeEach, describe, expect, test } from 'vitest';
import { groupIdOf } from '../../../../src/core/base/ids.js';
import { NOTHING_REPORTED, type ReportRow } from '../../../../src/core/base/protocol/record.js';
import type { GroupSettings } from '../../../../src/core/base/settings.js';
import { DIRECTION_COUNT, laneOf } from '../../../../src/core/base/vocabulary.js';
import { UNCONFIRMED } from '../../../../src/core/limiter/limiter.js';
import { GATED, SETTINGS } from '../../../simulation/settings.js';
import { wideId } from '../../../wide-ids.js';
import { OneNode } from './one-node.js';

let node: OneNode;
beforeEach(() => {
  node = OneNode.ready({ groups: [named('first'), named('second')] });
});

function named(name: string, more: Partial<GroupSettings> = {}): GroupSettings {
  return { ...GATED, name, ...more };
}

function change(group: number, settings: GroupSettings): void {
  const lanes = Math.max(node.limiter.laneCount, DIRECTION_COUNT * (group + 1));
  if (lanes > node.limiter.laneCount) node.limiter.grow(lanes);
  node.step({ kind: 'group-changed', group, settings });
}

function work(groups: readonly number[], durationMs = 500): void {
  const each = () => {
    for (const group of groups) for (let time = 0; time < 5; time++) node.tryAcquire(laneOf(group, 0), 1);
  };
  node.run(durationMs, { each });
}

/** Names of the groups that the log says this node uses. */
function reported(...names: string[]): string[] {
  const { usageMap } = node.coordinator;
  return names.filter((name) => usageMap.firstRow(usageMap.mapLaneOf(groupIdOf(SETTINGS.cluster, name), 0)) !== -1);
}

describe('groups at run time', () => {
  test('each is reported by its own name, whatever was changed before it came', () => {
    change(0, named('first', { floorRatio: 0.01 }));
    change(2, named('third'));
    change(2, named('third', { floorRatio: 0.01 }));
    change(3, named('fourth'));
    work([3]);
    expect(reported('first', 'second', 'third', 'fourth')).toEqual(['fourth']);
    work([2, 3]);
    expect(reported('first', 'second', 'third', 'fourth')).toEqual(['third', 'fourth']);
  });

  test('one that is removed is served no more, and the next report says so; it may come back', () => {
    work([0, 1]);
    expect(reported('first', 'second')).toEqual(['first', 'second']);
    node.step({ kind: 'group-removed', group: 0 });
    expect([...node.coordinator.lanes.keys()]).toEqual([laneOf(1, 0)]);
    expect(node.limiter.tryAcquire(laneOf(0, 0), 1, 0, false, node.nowMs)).toBe(UNCONFIRMED);
    work([1]);
    expect(reported('first', 'second')).toEqual(['second']);
    change(0, named('first', { quota: { ...GATED.quota, publish: [70, Infinity] } }));
    work([0, 1]);
    expect(reported('first', 'second')).toEqual(['first', 'second']);
    expect(node.coordinator.shares.targetOf(laneOf(0, 0))[0]).toBe(70);
  });
});

test('the number of a lane that is served stays its own, however many strangers’ groups come and go beside it', () => {
  node.tryAcquire(laneOf(0, 0), 1);
  const { usageMap, lanes } = node.coordinator;
  const lane = lanes.get(laneOf(0, 0))!;
  const rates = { ...NOTHING_REPORTED, usageMessages: 1, demandMessages: 1 };
  const strange = (groupId: string): ReportRow => ({ ...rates, groupId, direction: 0 });
  node.lose();
  node.read(node.by('b', 'node'));
  for (let record = 0; record < 900; record++) {
    node.read(
      node.report(
        'b',
        Array.from({ length: 128 }, (_, at) => strange(wideId(1 + 128 * record + at))),
      ),
    );
  }
  // Two times as many as are looked through, of which one record's are left.
  expect(usageMap.laneCount).toBeLessThan(100_000);
  expect(usageMap.mapLaneOf(lane.groupId, 0)).toBe(lane.mapLane);
  node.read(node.report('b', [{ ...strange(lane.groupId), demandMessages: 900 }]));
  for (let round = 0; round < 50; round++) work([0], 20);
  // 250/s of its own, and what the stranger wants of the rest.
  expect(node.coordinator.shares.applied[0]).toBeCloseTo(250, 0);
});

test('a record’s time on its way is what its report took, not a heartbeat', () => {
  node.run(1000, { echo: false });
  node.pass(700);
  node.echo();
  expect(node.coordinator.reportRoundTripMs).toBe(0);
  node.run(300, { echo: false, each: () => [...Array(20)].forEach(() => void node.tryAcquire(0, 1)) });
  const heldBack = node.lose();
  expect(heldBack.some(({ record }) => record?.kind === 'report')).toBe(true);
  const sentMs = node.nowMs;
  node.pass(800);
  node.read(...heldBack);
  expect(node.coordinator.reportRoundTripMs).toBeGreaterThanOrEqual(node.nowMs - sentMs);
  expect(node.coordinator.reportRoundTripMs).toBeLessThanOrEqual(800 + 300);
});
