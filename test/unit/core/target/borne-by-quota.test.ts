import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backendIdOf, groupIdOf } from '../../../../src/core/base/ids.js';
import { NOTHING_REPORTED, type ReportRow } from '../../../../src/core/base/protocol/record.js';
import { GROUP, SETTINGS } from '../../../simulation/settings.js';
import { OneNode } from '../machine/one-node.js';
import '../../../property/seed.js';

const NO_QUOTA = { publish: [Infinity, Infinity], dispatch: [Infinity, Infinity] } as const;
const RATIO_OF = { db: 0.75, index: 0.5 } as const;
const BACKENDS = ['db', 'index'] as const;

/** Quotas of cost units per second, publish and dispatch; `elsewhere` is configured at other nodes only. */
const QUOTA_OF: Readonly<Record<string, readonly [number, number]>> = {
  orders: [50, 30],
  mail: [100, Infinity],
  free: [Infinity, Infinity],
};
const GROUPS = Object.entries(QUOTA_OF).map(([name, [publish, dispatch]]) => {
  const cost = { publish: { total: publish, reserved: 0 }, dispatch: { total: dispatch, reserved: 0 } };
  return { ...GROUP, name, quota: NO_QUOTA, cost };
});
const LANES = [...Object.keys(QUOTA_OF), 'elsewhere'].flatMap((group) => [
  { group, direction: 0 },
  { group, direction: 1 },
]);

interface Told {
  readonly lane: number;
  readonly transactions: number;
  readonly db: number;
  readonly index: number;
}

const told: fc.Arbitrary<Told> = fc.record({
  lane: fc.nat(LANES.length - 1),
  transactions: fc.integer({ min: 1, max: 20 }),
  db: fc.nat(9),
  index: fc.nat(9),
});
const report = fc.record({
  node: fc.constantFrom('b', 'c'),
  rows: fc.uniqueArray(told, { selector: ({ lane }) => lane, maxLength: 5 }),
});

function rowOf({ lane, transactions, ...costs }: Told): ReportRow {
  const { group, direction } = LANES[lane];
  const backends = BACKENDS.filter((name) => costs[name] > 0).map((name) => {
    return { backend: backendIdOf(SETTINGS.cluster, name), cost: costs[name] };
  });
  const rates = { usageMessages: transactions, demandMessages: transactions };
  return {
    ...NOTHING_REPORTED,
    topics: 1,
    ...rates,
    groupId: groupIdOf(SETTINGS.cluster, group),
    direction,
    costs: { transactions, backends },
  };
}

function quotaOf(lane: number): number {
  const { group, direction } = LANES[lane];
  return QUOTA_OF[group]?.[direction] ?? Infinity;
}

/** The rule of docs/guide/target-rate.md over everything that was told, backend by backend. */
function plainlyBorne(lane: number, all: readonly Told[]): number {
  const sum = (of: readonly Told[], figure: 'transactions' | 'db' | 'index') =>
    of.reduce((total, each) => total + each[figure], 0);
  const own = all.filter((each) => each.lane === lane);
  const transactions = sum(own, 'transactions');
  const borne = BACKENDS.map((backend) => {
    const cost = sum(own, backend);
    if (cost === 0) return Infinity;
    if (quotaOf(lane) === Infinity) return transactions * RATIO_OF[backend];
    const sharing = new Set(all.filter((each) => each[backend] > 0).map((each) => each.lane));
    const quotas = [...sharing].map(quotaOf).filter(Number.isFinite);
    const part = quotaOf(lane) / quotas.reduce((total, quota) => total + quota, 0);
    return (RATIO_OF[backend] * sum(all, backend) * part * transactions) / cost;
  });
  return Math.min(...borne);
}

test('by quota each backend bears a part of what is spent on it, by whatever lanes and nodes, and the tighter one decides', () => {
  const limiting = { ...SETTINGS.limiting, split: 'by-quota', zonesLeftOut: 0 } as const;
  fc.assert(
    fc.property(fc.array(report, { minLength: 1, maxLength: 4 }), (reports) => {
      const node = OneNode.ready({ groups: GROUPS, limiting });
      node.read(node.by('b', 'node'), node.by('c', 'node'));
      for (const backend of BACKENDS) {
        const health = { kind: 'ratio', ratio: RATIO_OF[backend] } as const;
        node.step({ kind: 'backend-reported', backend, zone: 'z', health });
        node.echo();
      }
      const newest = new Map<string, readonly Told[]>();
      for (const { node: id, rows } of reports) {
        newest.set(id, rows);
        node.read(node.report(id, rows.map(rowOf)));
        const all = [...newest.values()].flat();
        const { targets, usageMap } = node.coordinator;
        for (const [lane, { group, direction }] of LANES.entries()) {
          const settings = GROUPS.find(({ name }) => name === group);
          if (settings === undefined) continue;
          const mapLane = usageMap.mapLaneOf(groupIdOf(SETTINGS.cluster, group), direction);
          const { bearable } = targets.decide(settings, direction, mapLane).inputs;
          const expected = plainlyBorne(lane, all);
          if (expected === Infinity) expect(bearable).toBe(Infinity);
          else expect(bearable / expected).toBeCloseTo(1, 9);
        }
      }
    }),
  );
});
