import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { LaneTable } from '../../../src/core/account/lanes/lane-table.js';
import { NOTHING_REPORTED, type ReportRecord, type ReportRow } from '../../../src/core/base/protocol/record.js';
import { DIRECTION_COUNT } from '../../../src/core/base/vocabulary.js';
import { Membership } from '../../../src/core/usage-map/membership.js';
import { UsageMap } from '../../../src/core/usage-map/usage-map.js';
import { RecordCodec } from '../../../src/topic/codec/record-codec.js';
import { SETTINGS } from '../../simulation/settings.js';
import { wideId } from '../../wide-ids.js';

/**
 * V8 gives every object of `{ ...first, more }` a hidden class of its own, and then looks up each property by its name:
 * 10,000 lanes of 100 nodes took 195 ms instead of 120. A spread may stand behind the first property, or alone.
 */
const COUNT = 200;
/** The first ones may have another: a property of small integers turns out to hold others. */
const FEW = 3;

setFlagsFromString('--allow-natives-syntax');
const haveSameClass = runInNewContext('(one, other) => %HaveSameMap(one, other)') as (a: object, b: object) => boolean;

test('all lanes have the same hidden class', () => {
  const [group] = SETTINGS.groups;
  const groups = Array.from({ length: COUNT }, (_, at) => ({ ...group, name: `group-${at}` }));
  const table = new LaneTable({ ...SETTINGS, nodeId: 'own', nonce: 1, groups });
  const usageMap = new UsageMap(() => undefined, table.settings);
  const lanes = groups.map((_, at) => table.serve(at * DIRECTION_COUNT, usageMap, 0));

  expect(hiddenClassesOf(lanes)).toBeLessThanOrEqual(FEW);
});

test('all members have the same hidden class', () => {
  const membership = new Membership(5000, 16);
  const members = Array.from({ length: COUNT }, (_, at) =>
    membership.memberOf({ nodeKey: at * 1e9, incarnation: 65_536, sequence: 1 }, 0),
  );

  expect(hiddenClassesOf(members)).toBeLessThanOrEqual(FEW);
});

test.each([
  ['nothing else', {}],
  ['costs', { costs: { transactions: 1.5, backends: [{ backend: wideId(7), cost: 1.5 }] } }],
  ['a charge', { charge: [1.5, 2.5] }],
  ['a stock', { stock: [1.5, 2.5], unread: [0.5, 0] }],
  [
    'all of it',
    { charge: [1.5, 2.5], stock: [1.5, 2.5], unread: [0.5, 0], costs: { transactions: 1.5, backends: [] } },
  ],
] satisfies [string, Partial<ReportRow>][])('all rows that are read with %s have few hidden classes', (_, more) => {
  const codec = new RecordCodec('demo');
  const rows = Array.from({ length: COUNT }, (_, at) => rowsRead(codec, at, more)).flat();

  expect(Object.keys(rows[0]!)).toEqual(expect.arrayContaining(Object.keys(more)));
  expect(hiddenClassesOf(rows)).toBeLessThanOrEqual(FEW);
});

function rowsRead(codec: RecordCodec, at: number, more: Partial<ReportRow>): readonly ReportRow[] {
  const rates = { usageMessages: 1.5, usageBytes: 1.5, demandMessages: 1.5, demandBytes: 1.5 };
  const shares = { shareMessages: 1.5, shareBytes: 1.5 };
  const row = { ...NOTHING_REPORTED, groupId: wideId(2 ** 40 + at), direction: 0, ...rates, ...shares, ...more };
  const author = { nodeKey: at + 1, incarnation: 65_536, sequence: at + 1 };
  const read = codec.decode(codec.encode({ kind: 'report', author, rows: [row] }));
  return (read as { record: ReportRecord }).record.rows;
}

function hiddenClassesOf(objects: readonly object[]): number {
  const found: object[] = [];
  for (const object of objects) if (!found.some((known) => haveSameClass(known, object))) found.push(object);
  return found.length;
}
