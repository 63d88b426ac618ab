import { describe, expect, test } from 'vitest';
import { NOTHING_REPORTED } from '../../../../src/core/base/protocol/record.js';
import { wideId } from '../../../wide-ids.js';
import { bundleKeyText, nodeKeyText, Reading } from './reading.js';

describe('usage map', () => {
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
});

function stolen() {
  const thief = new Reading();
  thief.node('thief');
  const member = [...thief.membership.all()][0];
  const groupId = wideId(1);
  const author = { nodeKey: member.nodeKey, incarnation: member.incarnation, sequence: 99 };
  const rates = { ...NOTHING_REPORTED, usageMessages: 1e9, demandMessages: 1e9 };
  return { record: { kind: 'report' as const, author, rows: [{ ...rates, groupId, direction: 0 }] } };
}
