import { expect, test } from 'vitest';
import type { KeeperRecord } from '../../../src/core/beside/kafka-quotas/keeper-record.js';
import { decodeKeeperRecord, encodeKeeperRecord } from '../../../src/doors/kafka-quotas/keeper-record-codec.js';

const LIMIT: KeeperRecord = {
  kind: 'limit',
  term: 3,
  id: 'a',
  life: 'x',
  entity: { user: null, clientId: 'app' },
  name: 'producer_byte_rate',
  value: 400_000,
  earlier: [500_000],
  formerTerms: [300_000],
  original: null,
};
const RECORDS: readonly KeeperRecord[] = [
  { kind: 'keeper', id: 'a', life: 'x', sequence: 7, stamp: 'k3', isLeaving: false },
  { kind: 'writer', term: 2, id: 'a', life: 'x' },
  LIMIT,
];

test.each(RECORDS)('a record of kind $kind comes back as it was', (record) => {
  expect(decodeKeeperRecord('demo', encodeKeeperRecord('demo', record))).toEqual(record);
});

test('what another cluster has written, or nobody of ours, is no record', () => {
  expect(decodeKeeperRecord('demo', encodeKeeperRecord('other', LIMIT))).toBeNull();
  const texts = ['', 'null', '[]', '{', '{"cluster":"demo"}', 'x'.repeat(100_000)];
  for (const text of texts) expect(decodeKeeperRecord('demo', Buffer.from(text))).toBeNull();
  const wrong = [
    { value: -1 },
    { value: Number.NaN },
    { name: 'request_percentage' },
    { term: 1.5 },
    { entity: {} },
    { kind: 'x' },
  ];
  for (const part of wrong) {
    const value = Buffer.from(JSON.stringify({ cluster: 'demo', ...LIMIT, ...part }));
    expect(decodeKeeperRecord('demo', value)).toBeNull();
  }
});

test('fields of a later version are ignored', () => {
  const value = Buffer.from(JSON.stringify({ cluster: 'demo', ...LIMIT, more: 1 }));
  expect(decodeKeeperRecord('demo', value)).toEqual(LIMIT);
});
