import { describe, expect, test } from 'vitest';
import { backendIdOf } from '../../../../src/core/base/ids.js';
import type { Append } from '../../../../src/core/base/protocol/events-and-effects.js';
import type { BackendHealth } from '../../../../src/core/base/protocol/record.js';
import { laneOf, slotOf } from '../../../../src/core/base/vocabulary.js';
import { GATED, SETTINGS } from '../../../simulation/settings.js';
import { OneNode } from './one-node.js';

const NONE = Infinity;
const NO_QUOTA = { publish: [NONE, NONE], dispatch: [NONE, NONE] } as const;

function costly(total: number, reserved = 0, limiting: Partial<typeof SETTINGS.limiting> = {}): OneNode {
  const cost = { publish: { total, reserved }, dispatch: { total: NONE, reserved: 0 } };
  const groups = [{ ...GATED, quota: NO_QUOTA, cost }];
  return OneNode.ready({ groups, limiting: { ...SETTINGS.limiting, ...limiting } });
}

interface Work {
  readonly perSecond: number;
  readonly units: number;
  readonly backends?: readonly string[];
}

/** Attempts at a steady rate; what is admitted reports its cost at once. Returns what was admitted per second. */
function work(node: OneNode, seconds: number, load: Work): number {
  return workTogether(node, seconds, [load])[0];
}

/** The same for several groups, in the order of their numbers. */
function workTogether(node: OneNode, seconds: number, loads: readonly Work[]): readonly number[] {
  const owed = loads.map(() => 0);
  const admitted = loads.map(() => 0);
  const each = () => {
    loads.forEach(({ perSecond, units, backends = ['db'] }, group) => {
      const lane = laneOf(group, 0);
      owed[group] = owed[group] + (perSecond * SETTINGS.sampleIntervalMs) / 1000;
      for (; owed[group] >= 1; owed[group] = owed[group] - 1) {
        if (!node.tryAcquire(lane, 1)) continue;
        admitted[group] = admitted[group] + 1;
        backends.forEach((backend, at) => {
          const id = backendIdOf(SETTINGS.cluster, backend);
          node.coordinator.costs.report(lane, id, units / backends.length, at === 0 ? 1 : 0, node.nowMs);
        });
      }
    });
  };
  node.run(seconds * 1000, { each });
  return admitted.map((count) => count / seconds);
}

function tell(node: OneNode, backend: string, ratio: number, zone = backend): void {
  const health: BackendHealth = { kind: 'ratio', ratio };
  node.step({ kind: 'backend-reported', backend, zone, health });
  node.echo();
}

function target(node: OneNode): number {
  return node.coordinator.shares.target[0];
}

describe('cost quotas', () => {
  test('before anything is known of its work, each group has the cost that is expected of it', () => {
    const cost = { publish: { total: 100, reserved: 0 }, dispatch: { total: NONE, reserved: 0 } };
    const groups = [4, 1, 0.5].map((expectedCost) => ({ ...GATED, quota: NO_QUOTA, cost, expectedCost }));
    const node = OneNode.ready({ groups });
    for (const group of groups.keys()) node.tryAcquire(laneOf(group, 0), 1);
    node.run(1000);
    const targets = [...groups.keys()].map((group) => node.coordinator.shares.target[slotOf(laneOf(group, 0), 0)]);
    expect(targets).toEqual([25, 100, 200]);
  });
});

describe('backends', () => {
  test('a silent sensor limits nothing after healthValidMs of log time', () => {
    const node = costly(100);
    work(node, 10, { perSecond: 10, units: 6 });
    tell(node, 'db', 0.5);
    work(node, 5, { perSecond: 10, units: 6 });
    expect(target(node)).toBeLessThan(10);
    work(node, 7, { perSecond: 10, units: 6 });
    expect(target(node)).toBeCloseTo(16.667, 0);
  });

  test('report-only computes it and enforces none of it', () => {
    const node = costly(100, 0, { mode: 'report-only' });
    tell(node, 'db', 0.5);
    expect(work(node, 20, { perSecond: 40, units: 6 })).toBeCloseTo(40, 0);
    expect(target(node)).toBe(NONE);
    const lane = node.coordinator.lanes.get(0);
    const { decision } = node.coordinator.targets.decide(GATED, 0, lane?.mapLane as number);
    expect(decision.averageCost).toBeCloseTo(6, 2);
    expect(lane?.binding).toBe('unlimited');
    const quota = { ...NO_QUOTA, publish: [30, NONE] } as const;
    node.step({ kind: 'group-changed', group: 0, settings: { ...(lane?.settings as typeof GATED), quota } });
    expect([target(node), lane?.binding]).toEqual([30, 'messages']);
  });

  test('a flood of names is refused and counted; what is known goes on', () => {
    const node = costly(100, 0, { maxBackends: 2 });
    for (let name = 0; name < 10; name++) tell(node, `db-${name}`, 1);
    expect([...node.coordinator.targets.backends.all()].map(({ name }) => name)).toEqual(['db-0', 'db-1']);
    expect(node.coordinator.log.ignored['too-many-backends']).toBe(8);
    node.run(15_000);
    tell(node, 'late', 1);
    expect([...node.coordinator.targets.backends.all()].map(({ name }) => name)).toContain('late');
  });
});

test('a node that reads only what compaction leaves computes the same target, bit by bit', () => {
  const node = costly(100);
  const newest = new Map<string, Append>();
  const read = node.read.bind(node);
  node.read = (...appends) => {
    for (const append of appends) newest.set(append.key, append);
    read(...appends);
  };
  for (let second = 0; second < 12; second++) {
    work(node, 1, { perSecond: 30, units: 6 + (second % 3), backends: ['db', 'index'] });
    tell(node, 'db', 0.9);
  }
  const newcomer = new OneNode({ groups: node.settings.groups });
  newcomer.read(...[...newest.values()].sort((one, other) => sequenceOf(one) - sequenceOf(other)));
  const own = node.coordinator.lanes.get(0)?.mapLane as number;
  const other = newcomer.coordinator;
  const lane = other.usageMap.mapLaneOf(node.coordinator.lanes.get(0)?.groupId as string, 0);
  const group = node.settings.groups[0];
  const expected = { ...node.coordinator.targets.decide(group, 0, own).decision };
  expect({ ...other.targets.decide(group, 0, lane).decision }).toEqual(expected);
  expect(expected.isBusy).toBe(true);
});

function sequenceOf({
  record,
}: {
  readonly record: { readonly author: { readonly sequence: number } } | null;
}): number {
  return record?.author.sequence ?? 0;
}
