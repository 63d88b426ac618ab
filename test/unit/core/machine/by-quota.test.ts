import { describe, expect, test } from 'vitest';
import { backendIdOf, groupIdOf } from '../../../../src/core/base/ids.js';
import { NOTHING_REPORTED, type ReportRow } from '../../../../src/core/base/protocol/record.js';
import { GATED, SETTINGS } from '../../../simulation/settings.js';
import { OneNode } from './one-node.js';

const NO_QUOTA = { publish: [Infinity, Infinity], dispatch: [Infinity, Infinity] } as const;
const PUBLISH = 0;

/** Quotas of cost units per second. Those of `orders` differ by direction; all in whole numbers, so that sums are exact. */
const orders = groupWith('orders', 50, 30);
const mail = groupWith('mail', 100, 300);
const free = groupWith('free', Infinity, Infinity);
const GROUPS = [orders, mail, free];

function groupWith(name: string, publish: number, dispatch: number) {
  const cost = { publish: { total: publish, reserved: 0 }, dispatch: { total: dispatch, reserved: 0 } };
  return { ...GATED, name, quota: NO_QUOTA, cost };
}

/** A backend that bears 0.75 of its work: docs/guide/target-rate.md. */
function saturated(split: 'by-quota' | 'by-usage' = 'by-quota'): OneNode {
  const limiting = { ...SETTINGS.limiting, split, zonesLeftOut: 0 } as const;
  const node = OneNode.ready({ groups: GROUPS, limiting });
  node.read(node.by('b', 'node'), node.by('c', 'node'));
  node.step({ kind: 'backend-reported', backend: 'db', zone: 'z', health: { kind: 'ratio', ratio: 0.75 } });
  node.echo();
  return node;
}

interface Costs {
  readonly group: string;
  readonly direction?: number;
  readonly perSecond: number;
  readonly units: number;
}

function row({ group, direction = PUBLISH, perSecond, units }: Costs): ReportRow {
  const backends = [{ backend: backendIdOf(SETTINGS.cluster, 'db'), cost: perSecond * units }];
  const costs = { transactions: perSecond, backends };
  const groupId = groupIdOf(SETTINGS.cluster, group);
  const rates = { ...NOTHING_REPORTED, usageMessages: perSecond, demandMessages: perSecond };
  return { ...rates, groupId, direction, topics: 1, costs };
}

/** Messages per second that the backend bears of a lane. */
function borne(node: OneNode, group: typeof orders, direction = PUBLISH): number {
  const mapLane = node.coordinator.usageMap.mapLaneOf(groupIdOf(SETTINGS.cluster, group.name), direction);
  return node.coordinator.targets.decide(group, direction, mapLane).inputs.bearable;
}

describe('what a saturated backend bears, divided by quota', () => {
  test('the worked example: 0.75 of 120 units, a third and two thirds at 6 units each', () => {
    const node = saturated();
    node.read(
      node.report(
        'b',
        ['orders', 'mail'].map((group) => row({ group, perSecond: 10, units: 6 })),
      ),
    );
    expect([borne(node, orders), borne(node, mail)]).toEqual([5, 10]);
  });

  test('costs of another group move the part at once, each time that they are told', () => {
    const node = saturated();
    node.read(node.report('b', [row({ group: 'orders', perSecond: 10, units: 6 })]));
    expect(borne(node, orders)).toBe(7.5);
    // 60 units of one group become 60 + 180 of two, of which a third is 60.
    node.read(node.report('c', [row({ group: 'mail', perSecond: 10, units: 18 })]));
    expect(borne(node, orders)).toBe(10);
    node.read(node.report('c', [row({ group: 'mail', perSecond: 10, units: 6 })]));
    expect(borne(node, orders)).toBe(5);
  });
});

test('divided by usage, whatever costs are told of one group move no other', () => {
  const node = saturated('by-usage');
  node.read(node.report('b', [row({ group: 'orders', perSecond: 10, units: 6 })]));
  expect(borne(node, orders)).toBe(7.5);
  for (const units of [0, 1e-3, 18, 1e9]) {
    node.read(node.report('c', [row({ group: 'mail', perSecond: 10, units })]));
    expect(borne(node, orders)).toBe(7.5);
  }
});
