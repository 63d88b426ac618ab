import fc from 'fast-check';
import { backendIdOf, groupIdOf, incarnationOf, nodeKeyOf } from '../../src/core/base/ids.js';
import type { ReadEvent } from '../../src/core/base/protocol/events-and-effects.js';
import {
  backendRecordKey,
  groupStateRecordKey,
  NOTHING_REPORTED,
  nodeRecordKey,
  partitionOf,
  type ReportRow,
  reportRecordKey,
  type TopicRecord,
} from '../../src/core/base/protocol/record.js';
import type { CoordinatorSettings } from '../../src/core/base/settings.js';

/** One record of a random log. Lives overlap on purpose: a late record of an earlier life may follow a later one. */
export interface Action {
  readonly kind: 'node' | 'report' | 'backend' | 'group-state' | 'farewell' | 'tombstone' | 'node-tombstone';
  readonly node: number;
  readonly life: number;
  readonly partition: number;
  readonly bundle: number;
  readonly rows: readonly {
    readonly group: number;
    readonly direction: number;
    readonly rates: readonly number[];
    readonly costs: readonly number[];
  }[];
  /** Since the record before it on the same partition; negative = the log's clock went back. */
  readonly gapMs: number;
  /** An old record delivered late: its sequence is not the newest. */
  readonly late: boolean;
}

const rate = fc.oneof(
  fc.constant(0),
  fc.double({ min: 1e-3, max: 1e12, noNaN: true }),
  fc.integer({ min: 1, max: 3000 }),
);

export function actions(settings: CoordinatorSettings): fc.Arbitrary<Action[]> {
  const row = fc.record({
    group: fc.nat(settings.groups.length - 1),
    direction: fc.nat(1),
    rates: fc.array(rate, { minLength: 6, maxLength: 6 }),
    costs: fc.array(rate, { minLength: 1, maxLength: 3 }),
  });
  const action = fc.record<Action>({
    kind: fc.oneof(
      { weight: 5, arbitrary: fc.constant('node' as const) },
      { weight: 6, arbitrary: fc.constant('report' as const) },
      { weight: 5, arbitrary: fc.constant('backend' as const) },
      { weight: 3, arbitrary: fc.constant('group-state' as const) },
      fc.constantFrom('farewell' as const, 'tombstone' as const, 'node-tombstone' as const),
    ),
    node: fc.nat(4),
    life: fc.integer({ min: 1, max: 3 }),
    partition: fc.nat(settings.partitions - 1),
    bundle: fc.nat(2),
    rows: fc.array(row, { maxLength: 4 }),
    gapMs: fc.oneof(fc.integer({ min: 0, max: 1500 }), fc.constantFrom(-7_200_000, 7_200_000)),
    late: fc.boolean(),
  });
  return fc.array(action, { maxLength: 60 });
}

/** The log that the actions make, partition by partition in order of offset. */
export function historyOf(list: readonly Action[], settings: CoordinatorSettings): ReadEvent[][] {
  const partitions: ReadEvent[][] = Array.from({ length: settings.partitions }, () => []);
  const clockMs = new Array<number>(settings.partitions).fill(1.7e12);
  const sequences = new Map<string, number>();
  for (const action of list) {
    const { node, life } = action;
    // Health and levels are told on the membership partition alone.
    const partition = action.kind === 'backend' || action.kind === 'group-state' ? 0 : action.partition;
    clockMs[partition] = clockMs[partition] + action.gapMs;
    const count = (sequences.get(`${node}/${life}`) ?? 0) + 1;
    sequences.set(`${node}/${life}`, count);
    const sequence = action.late ? Math.max(1, count - 3) : count;
    const log = partitions[partition];
    const header = { partition, offset: log.length * 2, appendMs: clockMs[partition] };
    log.push({ ...header, ...recordOf(action, sequence, settings) });
  }
  return partitions;
}

function recordOf(
  action: Action,
  sequence: number,
  settings: CoordinatorSettings,
): { key: string; record: TopicRecord | null } {
  const { cluster } = settings;
  const nodeId = `node-${action.node}`;
  const nodeKey = nodeKeyOf(cluster, nodeId);
  const author = { nodeKey, incarnation: incarnationOf(action.life, 100 + action.node), sequence };
  switch (action.kind) {
    case 'node':
      return { key: nodeRecordKey(nodeKey), record: { kind: 'node', author, nodeId, version: 'test' } };
    case 'backend': {
      const backend = `backend-${action.bundle}`;
      const health = { kind: 'level', level: 1 + action.node, target: 2, spring: 1 } as const;
      const record = { kind: 'backend', author, backend, zone: `zone-${action.life % 2}`, health } as const;
      return { key: backendRecordKey(backend), record };
    }
    case 'group-state': {
      const [
        {
          group,
          direction,
          rates: [ceiling = 0],
        } = { group: 0, direction: 0, rates: [] },
      ] = action.rows;
      const groupId = groupIdOf(cluster, settings.groups[group]?.name ?? '');
      const lateMs = 100 * action.bundle;
      const state = {
        groupId,
        direction,
        ceiling,
        lateMs,
        readUntilMs: 0,
        readUntilOffset: 0,
        timeToLiveMs: 1000 * action.life,
      };
      return { key: groupStateRecordKey(groupId, direction), record: { kind: 'group-state', author, ...state } };
    }
    case 'farewell':
      return { key: nodeRecordKey(nodeKey), record: { kind: 'farewell', author, nodeId } };
    case 'report':
      return { key: reportKey(nodeKey, action), record: { kind: 'report', author, rows: rowsOf(action, settings) } };
    case 'tombstone':
      return { key: reportKey(nodeKey, action), record: null };
    case 'node-tombstone':
      return { key: nodeRecordKey(nodeKey), record: null };
  }
}

/** A bundle belongs to one partition, so its number tells it. */
function reportKey(nodeKey: number, { bundle, partition }: Action): string {
  return reportRecordKey(nodeKey, bundle * 16 + partition);
}

/** A group belongs to one partition: rows of other groups are not reported here. */
function rowsOf({ rows, partition }: Action, { cluster, groups, partitions }: CoordinatorSettings): ReportRow[] {
  return rows.flatMap(({ group, direction, rates, costs: units }) => {
    const groupId = groupIdOf(cluster, groups[group]?.name ?? '');
    if (partitionOf(groupId, partitions) !== partition) return [];
    const [usageMessages = 0, usageBytes = 0, demandMessages = 0, demandBytes = 0, ...shares] = rates.map(Math.fround);
    const [shareMessages = 0, shareBytes = 0] = shares;
    const backends = units.map((cost, at) => ({
      backend: backendIdOf(cluster, `backend-${at}`),
      cost: Math.fround(cost),
    }));
    const costs = { transactions: usageMessages, backends };
    const used = { usageMessages, usageBytes, demandMessages, demandBytes };
    return [{ ...NOTHING_REPORTED, groupId, direction, topics: 1, ...used, shareMessages, shareBytes, costs }];
  });
}

/** One order in which a node may read the partitions: each in its own order, with some records delivered again. */
export function readOrder(partitions: readonly (readonly ReadEvent[])[], picks: readonly number[]): ReadEvent[] {
  const next = partitions.map(() => 0);
  const order: ReadEvent[] = [];
  for (let turn = 0; ; turn++) {
    const open = next.flatMap((at, partition) => (at < (partitions[partition]?.length ?? 0) ? [partition] : []));
    if (open.length === 0) return order;
    const pick = picks[turn % Math.max(1, picks.length)] ?? 0;
    const partition = open[pick % open.length];
    const at = next[partition];
    const log = partitions[partition] as ReadEvent[];
    // Every seventh pick delivers the last three again, as a reader does that reconnects.
    if (pick % 7 === 3) order.push(...log.slice(Math.max(0, at - 3), at));
    order.push(log[at]);
    next[partition] = at + 1;
  }
}
