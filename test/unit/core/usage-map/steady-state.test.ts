import { expect, test } from 'vitest';
import { type LaneCosts, NOTHING_REPORTED, type ReportRecord } from '../../../../src/core/base/protocol/record.js';
import { Membership } from '../../../../src/core/usage-map/membership.js';
import type { ReadTime } from '../../../../src/core/usage-map/record-store.js';
import { UsageMap } from '../../../../src/core/usage-map/usage-map.js';
import { wideId } from '../../../wide-ids.js';

const KEYS = 200;
const ROUNDS = 20;

function at(ms: number): ReadTime {
  return { nowMs: ms, logMs: ms, spanMs: ms, pauseMs: 0, offset: ms };
}

/** Records of the same keys again and again, as those of a steady cluster are: built before anything is measured. */
function recordOf(key: number, sequence: number): ReportRecord {
  const rows = Array.from({ length: 6 }, (_, at) => {
    const rate = 1.5 + at;
    return {
      ...NOTHING_REPORTED,
      groupId: wideId(key * 6 + at),
      direction: 0,
      usageMessages: rate,
      usageBytes: rate,
      demandMessages: rate,
      demandBytes: rate,
      shareMessages: rate,
      shareBytes: rate,
    };
  });
  return { kind: 'report', author: { nodeKey: 5, incarnation: 65_536, sequence }, rows };
}

test('a record of a known key replaces the one before without growing the map', () => {
  const membership = new Membership(5000, 1);
  const usageMap = new UsageMap(() => {}, { partitions: 1 });
  const member = membership.memberOf({ nodeKey: 5, incarnation: 65_536, sequence: 1 }, 0);
  const records = Array.from({ length: KEYS }, (_, key) => recordOf(key, 1));
  const applyAll = (round: number) => {
    for (let key = 0; key < KEYS; key++) {
      const record = records[key];
      (record.author as { sequence: number }).sequence = round;
      const place = { partition: 0, bundle: key, isPast: false };
      expect(usageMap.apply(place, member, record, at(round))).toBe('applied');
    }
  };
  applyAll(1);
  const { capacity, count } = usageMap.rows;
  for (let round = 2; round < ROUNDS; round++) applyAll(round);
  expect(count).toBe(KEYS * 6);
  expect(usageMap.rows.count).toBe(count);
  expect(usageMap.rows.capacity).toBe(capacity);
  expect(usageMap.entryCount).toBe(KEYS);
});

test('costs go with the record that said them, also where its rows are overwritten in place', () => {
  const membership = new Membership(5000, 1);
  const usageMap = new UsageMap(() => {}, { partitions: 1 });
  const member = membership.memberOf({ nodeKey: 5, incarnation: 65_536, sequence: 1 }, 0);
  const said = (sequence: number, costs?: LaneCosts): ReportRecord => {
    const record = recordOf(0, sequence);
    const rows = record.rows.map((row) => (costs === undefined ? row : { ...row, costs }));
    return { ...record, author: { ...record.author, sequence }, rows };
  };
  const costs = { transactions: 10, backends: [{ backend: wideId(7), cost: 30 }] };
  const lane = () => usageMap.mapLaneOf(said(1).rows[0].groupId, said(1).rows[0].direction);
  for (const [sequence, given] of [costs, costs, undefined, costs].entries()) {
    usageMap.apply({ partition: 0, bundle: 0, isPast: false }, member, said(sequence + 1, given), at(0));
    expect(usageMap.costs.hasLane(lane())).toBe(given !== undefined);
    const on = [...usageMap.costs.lanesOn(wideId(7))];
    expect(on.map(({ rows }) => rows)).toEqual(given === undefined ? [] : on.map(() => 1));
  }
});
