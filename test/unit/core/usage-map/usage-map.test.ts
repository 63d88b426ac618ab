import { describe, expect, test } from 'vitest';
import { wideId } from '../../../wide-ids.js';
import { bundleKeyText, nodeKeyText, Reading } from './reading.js';

describe('usage map', () => {
  test('holds the newest record of each key, whole', () => {
    const reading = new Reading();
    reading.report('a', { orders: 5, mails: 1 });
    expect(reading.rowsOf('orders')).toEqual({ '': 5 });
    reading.node('a');
    reading.node('b');
    reading.report('b', { orders: 9 });
    reading.report('a', { orders: 6 });
    expect(reading.rowsOf('orders')).toEqual({ a: 6, b: 9 });
    expect(reading.rowsOf('mails')).toEqual({});
    expect(reading.usageMap.rows.count).toBe(2);
  });

  test('a record under another node’s key is ignored', () => {
    const reading = new Reading();
    reading.node('a');
    reading.report('a', { orders: 5 });
    const { record } = stolen();
    for (const key of [bundleKeyText('a'), nodeKeyText('a'), 'backend/1', '', 'short', `${'x'.repeat(9)}`]) {
      reading.raw({ partition: 0, offset: reading.log.nextOffset(0), appendMs: 1e12, key, record });
    }
    expect(reading.rowsOf('orders')).toEqual({ a: 5 });
    expect(reading.alive).toEqual(['a']);
    expect(reading.log.ignored['foreign-key']).toBe(6);
  });

  test('tombstones free the rows; one for an unknown key is nothing', () => {
    const reading = new Reading();
    reading.node('a');
    reading.report('a', { orders: 5 });
    reading.tombstone('anything');
    reading.tombstone(bundleKeyText('a', 1));
    expect(reading.rowsOf('orders')).toEqual({ a: 5 });
    reading.tombstone(bundleKeyText('a'));
    expect([reading.rowsOf('orders'), reading.usageMap.rows.count]).toEqual([{}, 0]);
  });
});

function stolen() {
  const thief = new Reading();
  thief.node('thief');
  const member = [...thief.membership.all()][0];
  const groupId = wideId(1);
  const author = { nodeKey: member.nodeKey, incarnation: member.incarnation, sequence: 99 };
  const rates = {
    usageMessages: 1e9,
    usageBytes: 0,
    demandMessages: 1e9,
    demandBytes: 0,
    shareMessages: 0,
    shareBytes: 0,
  };
  return { record: { kind: 'report' as const, author, rows: [{ groupId, direction: 0, topics: 0, ...rates }] } };
}
