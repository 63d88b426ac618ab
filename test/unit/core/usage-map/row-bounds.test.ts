import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { groupIdOf, incarnationOf, nodeKeyOf } from '../../../../src/core/base/ids.js';
import type { Append } from '../../../../src/core/base/protocol/events-and-effects.js';
import { NOTHING_REPORTED, type ReportRow, reportRecordKey } from '../../../../src/core/base/protocol/record.js';
import { RowBounds, weightOf } from '../../../../src/core/usage-map/row-bounds.js';
import { GATED } from '../../../simulation/settings.js';
import { wideId } from '../../../wide-ids.js';
import { OneNode } from '../machine/one-node.js';

const MEBI = 2 ** 20;
const COLLECTIONS_MAX = 8;

const RATES = { usageMessages: 1, usageBytes: 1, demandMessages: 1, demandBytes: 1, shareMessages: 1, shareBytes: 1 };
/** Has all fields, so that a row needs one spread: with two it takes 4 µs, and a million rows are written here. */
const ROW: ReportRow = { ...NOTHING_REPORTED, ...RATES, groupId: '', direction: 0 };

function rowOf(group: number): ReportRow {
  return { ...ROW, groupId: wideId(group) };
}

/** A record as a stranger may write it: every row about a group of its own, that nobody has heard of. */
function fakeRecord(node: number, bundle: number, rowCount: number, { partition = 0, sequence = 1 } = {}): Append {
  const nodeKey = nodeKeyOf('demo', `fake-${node}`);
  const rows = Array.from({ length: rowCount }, (_, at) => rowOf(((node * 1e6 + bundle) * 128 + at) * 7919));
  const author = { nodeKey, incarnation: incarnationOf(1, 7), sequence };
  return { partition, key: reportRecordKey(nodeKey, bundle), record: { kind: 'report', author, rows } };
}

/** What stays after collections, until one more frees nothing: tests of other files in this process leave garbage. */
function memoryBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let least = Infinity;
  for (let turn = 0; turn < COLLECTIONS_MAX; turn++) {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    const freed = least - (heapUsed + arrayBuffers);
    least = Math.min(least, heapUsed + arrayBuffers);
    if (freed < MEBI / 16) break;
  }
  return least;
}

describe('what the nodes of a cluster may report is bounded', () => {
  test('two nodes that write 40,000 bundles each take no more than limits.maxRows × 120 bytes', () => {
    const maxRows = 200_000;
    const node = OneNode.ready({ maxRows, maxGroupsPerNode: 1_000_000 });
    const before = memoryBytes();
    for (let fake = 0; fake < 2; fake++) {
      for (let bundle = 0; bundle < 40_000; bundle++) node.read(fakeRecord(fake, bundle, 8));
    }
    const taken = memoryBytes() - before;
    const { usageMap, log } = node.coordinator;
    console.log(`two fake nodes: ${usageMap.rows.count} rows of ${maxRows}, ${(taken / MEBI).toFixed(1)} MiB`);
    expect(usageMap.rows.count + usageMap.entryCount).toBeLessThanOrEqual(maxRows);
    expect(usageMap.rows.count).toBeGreaterThan(0.9 * (8 / 9) * maxRows);
    expect(taken).toBeLessThan(120 * maxRows);
    expect(log.ignored['too-many-rows']).toBeGreaterThan(50_000);
    expect(node.told('rows-refused')).toEqual([{ kind: 'rows-refused', cause: 'too-many-rows', nodeId: null }]);
  });

  test('one node has room for limits.maxGroupsPerNode groups, whatever it calls its bundles', () => {
    const node = OneNode.ready({ maxGroupsPerNode: 1000 });
    for (let bundle = 0; bundle < 1000; bundle++) node.read(fakeRecord(0, bundle, 128));
    const { usageMap, log } = node.coordinator;
    expect(usageMap.rows.count).toBeLessThan(6 * 2 * 2024);
    expect(usageMap.entryCount).toBeLessThanOrEqual(2024);
    expect(log.ignored['too-many-groups']).toBeGreaterThan(800);
  });

  test('nor do records without rows take more keys than that', () => {
    const node = OneNode.ready({ maxGroupsPerNode: 1000 });
    for (let bundle = 0; bundle < 5000; bundle++) node.read(fakeRecord(0, bundle, 0));
    expect(node.coordinator.usageMap.entryCount).toBe(2024);
    expect(node.coordinator.log.ignored['too-many-groups']).toBe(5000 - 2024);
  });

  test('a record that has no room leaves nothing of what its key said before, and no other rows', () => {
    const node = OneNode.ready({ maxRows: 100 });
    const rows = () => node.coordinator.usageMap.rows.count;
    node.read(fakeRecord(0, 0, 40));
    node.read(fakeRecord(1, 0, 40));
    expect(rows()).toBe(80);
    node.read(fakeRecord(1, 0, 120, { sequence: 2 }));
    expect([rows(), node.coordinator.log.ignored['too-many-rows']]).toEqual([40, 1]);
    node.read(fakeRecord(2, 0, 50));
    expect(rows()).toBe(90);
  });

  test.each([1, 6, 8, 64])('a node of 10,000 groups, %i to a record, is not refused', (groupsPerRecord) => {
    const bounds = new RowBounds({ partitions: 16, maxRows: 6_000_000, maxGroupsPerNode: 10_000 });
    const rows = Array.from({ length: 2 * groupsPerRecord }, (_, at) => rowOf(at));
    const bundles = Math.ceil(10_000 / groupsPerRecord) + 15;
    for (let bundle = 0; bundle < bundles; bundle++) {
      expect(bounds.hasBundle(bundle)).toBe(true);
      expect(bounds.judge(bundle % 16, bundle, rows, 0)).toBe('applied');
    }
  });

  test.each([
    { nodes: 100, keys: 834, rows: 12 },
    { nodes: 1000, keys: 800, rows: 6 },
  ])('$nodes nodes of $keys keys with $rows rows each are not refused', ({ nodes, keys, rows }) => {
    const bounds = new RowBounds({ partitions: 16, maxRows: 6_000_000, maxGroupsPerNode: 10_000 });
    const record = Array.from({ length: rows }, (_, at) => rowOf(at));
    for (let node = 0; node < nodes; node++) {
      for (let key = 0; key < keys; key++) {
        if (bounds.judge(key % 16, key, record, 0) !== 'applied') throw new Error(`node ${node}, key ${key} refused`);
        bounds.add(key % 16, 1 + rows);
      }
    }
  });

  test('in whatever order partitions are read, the same rows are refused', () => {
    const log = [0, 1].map((partition) =>
      Array.from({ length: 40 }, (_, at) => fakeRecord(at % 3, at, 1 + (at % 20), { partition, sequence: at + 1 })),
    );
    const read = (order: readonly number[]) => {
      const node = OneNode.ready({ partitions: 2, maxRows: 400, maxGroupsPerNode: 100 });
      for (const partition of order) for (const append of log[partition] ?? []) node.read(append);
      const { usageMap, membership } = node.coordinator;
      const keys = [...membership.all()].flatMap((member) =>
        usageMap.keysOf(member).map(({ record: _, ...key }) => ({ ...key, of: member.nodeKey })),
      );
      const inOrder = keys.map((key) => JSON.stringify(key)).sort();
      return { rows: usageMap.rows.count, keys: inOrder, refused: node.coordinator.log.ignored['too-many-rows'] };
    };
    const [one, other] = [read([0, 1]), read([1, 0])];
    expect(one.refused).toBeGreaterThan(0);
    expect(other).toEqual(one);
  });

  test('a refused record leaves nothing of the one before it, and is written again until there is room', () => {
    const groups = Array.from({ length: 8 }, (_, at) => ({ ...GATED, name: `group-${at}` }));
    const node = OneNode.ready({ maxRows: 20, groups, forgetAfterMs: 1e9 });
    for (let bundle = 0; bundle < 5; bundle++) node.read(fakeRecord(0, bundle, 3));
    const work = () => groups.forEach((_, group) => void node.tryAcquire(2 * group, 1));
    node.run(2000, { each: work });
    const rowsOfOwn = () => {
      const { usageMap, nodeKey, membership } = node.coordinator;
      const lanes = groups.map(({ name }) => usageMap.firstRow(usageMap.mapLaneOf(groupIdOf('demo', name), 0)));
      const own = membership.get(nodeKey)?.slot;
      return lanes.filter((row) => row !== -1 && usageMap.rows.memberOf(row) === own).length;
    };
    expect(rowsOfOwn()).toBe(0);
    expect(node.coordinator.log.ignored['too-many-rows']).toBeGreaterThan(0);
    const refused = node.coordinator.log.ignored['too-many-rows'];
    for (let bundle = 0; bundle < 5; bundle++) node.read({ ...fakeRecord(0, bundle, 0), record: null });
    node.run(6000, { each: work });
    expect(node.coordinator.log.ignored['too-many-rows']).toBe(refused);
    expect(rowsOfOwn()).toBe(8);
  });
});

describe('where the bounds lie', () => {
  /** 1,000 groups, and 64 of each of 16 bundles that are not full. */
  const MOST_GROUPS = 1000 + 1024;
  const rowsOf = (count: number) => Array.from({ length: count }, (_, at) => rowOf(at));
  const bounds = (maxRows = 1e9) => new RowBounds({ partitions: 4, maxRows, maxGroupsPerNode: 1000 });

  test.each([1, 2, 4, 8, 64])('with %i groups to a record, of the number of a bundle', (groups) => {
    const last = Math.ceil(MOST_GROUPS / groups) - 1;
    for (const rows of [rowsOf(2 * groups), rowsOf(2 * groups - 1)]) {
      expect(bounds().judge(0, last, rows, 0)).toBe('applied');
      expect(bounds().judge(0, last + 1, rows, 0)).toBe('too-many-groups');
    }
  });

  test('of a bundle without rows', () => {
    expect([MOST_GROUPS - 1, MOST_GROUPS].map((bundle) => bounds().hasBundle(bundle))).toEqual([true, false]);
  });

  test('of the rows of a record', () => {
    expect([128, 129].map((count) => bounds().judge(0, 0, rowsOf(count), 0))).toEqual(['applied', 'too-many-groups']);
  });

  test('of the rows of a partition: each has its part, rounded down, and what is replaced does not count', () => {
    // 402 rows of 4 partitions: 100 each. A record weighs its rows and one.
    const some = bounds(402);
    expect([99, 100].map((count) => some.judge(1, 0, rowsOf(count), 0))).toEqual(['applied', 'too-many-rows']);
    some.add(1, 60);
    expect([39, 40].map((count) => some.judge(1, 0, rowsOf(count), 0))).toEqual(['applied', 'too-many-rows']);
    expect(some.judge(2, 0, rowsOf(99), 0)).toBe('applied');
    expect([49, 50].map((count) => some.judge(1, 0, rowsOf(count), 10))).toEqual(['applied', 'too-many-rows']);
    some.add(1, -60);
    expect([99, 100].map((count) => some.judge(1, 0, rowsOf(count), 0))).toEqual(['applied', 'too-many-rows']);
  });

  test('who is over the bound may still shrink or stay, not grow', () => {
    const full = bounds(400);
    full.add(0, 200);
    const judged = [9, 10, 11].map((count) => full.judge(0, 0, rowsOf(count), 11));
    expect(judged).toEqual(['applied', 'applied', 'too-many-rows']);
  });

  test('costs of a row weigh two rows, and two for each backend', () => {
    const costs = (count: number) => ({
      transactions: 1,
      backends: Array.from({ length: count }, (_, backend) => ({ backend: wideId(backend), cost: 1 })),
    });
    const weights = [0, 1, 3].map((count) => weightOf([rowOf(1), { ...rowOf(2), costs: costs(count) }]));
    expect([weightOf([]), weightOf(rowsOf(2)), ...weights]).toEqual([1, 3, 5, 7, 11]);
  });
});

test('lanes that rows named once are given up: rewriting one bundle for ever keeps the map as small as it is', () => {
  const node = OneNode.ready();
  for (let round = 0; round < 800; round++) {
    const record = fakeRecord(round, 0, 128);
    const own = fakeRecord(0, 0, 0, { sequence: round + 1 });
    const rows = record.record?.kind === 'report' ? record.record.rows : [];
    node.read({ ...own, record: { ...own.record, rows } as Append['record'] });
  }
  expect(node.coordinator.usageMap.rows.count).toBe(128);
  expect(node.coordinator.usageMap.laneCount).toBeLessThan(70_000);
});
