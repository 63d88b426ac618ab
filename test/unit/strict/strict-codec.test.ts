import { expect, test } from 'vitest';
import { recordKey, type StrictRecord } from '../../../src/core/strict/strict-record.js';
import {
  decodeStrict,
  encodeStrict,
  laneOfKey,
  strictKeyOf,
  strictLaneName,
} from '../../../src/node/strict/strict-codec.js';

const QUOTA = { amount: 3600, perMs: 3_600_000, depth: 10 };
const OWN = { node: 'a', life: 7 };
const STATE = {
  nowMs: 40,
  appendMs: 1000,
  quota: QUOTA,
  revision: 1,
  budget: {
    period: { fromMs: 1_790_000_000_000, untilMs: null },
    gone: 40,
    former: 30,
    late: 2,
    lost: 5,
    carried: 7,
    credits: [{ id: 'gift', tokens: -4, asked: null, atMs: 7, giver: 'anna (token)' }],
  },
  former: [{ amount: 7200, depth: 20, streamsEndMs: 900 }],
  pool: 12,
  holders: [{ ...OWN, seq: 2, readMs: 30, want: 5, lagMs: 20, taken: -3, hold: 4 }],
  plans: [{ fromMs: 0, endMs: null, lagMs: 75, sum: 5, rates: { 'a/7': 5 } }],
  ended: { b: [3, 20] as const },
  lastOffset: 4,
};

const JOIN: StrictRecord = { kind: 'join', ...OWN };
const records: readonly StrictRecord[] = [
  { kind: 'claim', ...OWN, seq: 1, want: 5, lagMs: 20, taken: -3, hold: 4 },
  { kind: 'leave', ...OWN, seq: 2, taken: 0 },
  { kind: 'expire', ...OWN, seq: 2 },
  { kind: 'quota', revision: 2, amount: 7200, depth: 20 },
  { kind: 'period', by: 'a/7/1', fromMs: 1_790_000_000_000, untilMs: 1_790_000_900_000, carryMost: 0 },
  { kind: 'credit', by: 'a/7/1', id: 'gift', untilMs: null, tokens: null, giver: 'anna (token)' },
  { kind: 'knew', ...OWN, budget: STATE.budget },
  JOIN,
  { kind: 'state', ...OWN, at: 9, state: STATE },
  { kind: 'found', ...OWN, since: 9, state: STATE },
];

test.each(records)('$kind is read as it was written', (record) => {
  expect(decodeStrict(encodeStrict(record, 'log-1') as Uint8Array, 'log-1')).toEqual(record);
  expect(laneOfKey(strictKeyOf('orders', record))).toBe('orders');
});

test('names of lanes have no slash, and no two lanes the same', () => {
  const name = strictLaneName('shop', 'acme/orders', 'publish');
  expect(laneOfKey(strictKeyOf(name, { kind: 'join', ...OWN }))).toBe(name);
  expect(name).not.toContain('/');
  expect(strictLaneName('shop,acme', 'orders', 'publish')).not.toBe(strictLaneName('shop', 'acme,orders', 'publish'));
  expect(laneOfKey('report/orders/a')).toBe('');
});

test('a deletion is a tombstone under the key of what it deletes', () => {
  const deletion = { kind: 'delete', key: recordKey(records[0]) } as const;
  expect(encodeStrict(deletion, 'log-1')).toBeNull();
  expect(strictKeyOf('orders', deletion)).toBe(strictKeyOf('orders', records[0]));
});

test.each([
  { says: 'bytes of another program', text: 'not JSON' },
  { says: 'another log', text: JSON.stringify({ format: 'strict-5', epoch: 'log-0', record: JOIN }) },
  { says: 'another format', text: JSON.stringify({ format: 'strict-1', epoch: 'log-1', record: JOIN }) },
  {
    says: 'half a token',
    text: JSON.stringify({ format: 'strict-5', epoch: 'log-1', record: { ...records[0], taken: 0.5 } }),
  },
  {
    says: 'more than whole numbers hold',
    text: JSON.stringify({ format: 'strict-5', epoch: 'log-1', record: { ...records[0], hold: 2 ** 60 } }),
  },
  {
    says: 'a member too many',
    text: JSON.stringify({ format: 'strict-5', epoch: 'log-1', record: { ...JOIN, more: 1 } }),
  },
])('$says is ignored', ({ text }) => {
  expect(decodeStrict(Buffer.from(text), 'log-1')).toBeNull();
});
