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

  test('bundles of one node do not touch each other', () => {
    const reading = new Reading();
    reading.node('a');
    reading.report('a', { orders: 5 }, { bundle: 0 });
    reading.report('a', { mails: 6 }, { bundle: 1 });
    reading.report('a', {}, { bundle: 0 });
    expect([reading.rowsOf('orders'), reading.rowsOf('mails')]).toEqual([{}, { a: 6 }]);
  });

  test('rows leave a lane from its middle and its ends, in any order', () => {
    const nodes = ['a', 'b', 'c', 'd'];
    for (const leaving of [nodes, nodes.toReversed(), ['b', 'd', 'a', 'c'], ['c', 'b', 'd', 'a']]) {
      const reading = new Reading();
      for (const node of nodes) appear(reading, node);
      const left = new Set(nodes);
      for (const node of leaving) {
        reading.tombstone(bundleKeyText(node));
        left.delete(node);
        expect(Object.keys(reading.rowsOf('orders')).sort()).toEqual([...left]);
      }
      appear(reading, 'e');
      expect(Object.keys(reading.rowsOf('orders'))).toEqual(['e']);
    }
  });

  test('a record about other groups than the one before leaves nothing of that', () => {
    const reading = new Reading();
    reading.node('a');
    reading.report('a', { orders: 1, mails: 2, files: 3 });
    for (const groups of [{ orders: 4, files: 5 }, { mails: 6 }, {}, { files: 7, orders: 8, mails: 9 }]) {
      reading.report('a', groups);
      const found = ['orders', 'mails', 'files'].flatMap((group) => Object.values(reading.rowsOf(group)));
      expect(found.sort()).toEqual(Object.values(groups).sort());
      expect(reading.usageMap.rows.count).toBe(found.length);
    }
  });

  test('repeats and older sequences change nothing and are counted', () => {
    const reading = new Reading();
    reading.node('a');
    reading.report('a', { orders: 5 }, { sequence: 7 });
    reading.report('a', { orders: 1 }, { sequence: 6 });
    reading.report('a', { orders: 2 }, { sequence: 7 });
    expect(reading.rowsOf('orders')).toEqual({ a: 5 });
    reading.raw({ partition: 0, offset: 0, appendMs: 0, key: 'x', record: null });
    expect(reading.log.ignored).toMatchObject({ repeated: 2, 'repeated-offset': 1 });
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

  test('tells which lanes changed', () => {
    const reading = new Reading();
    reading.node('a');
    reading.report('a', { orders: 5 });
    reading.changedLanes.length = 0;
    reading.report('a', { mails: 5 });
    expect(new Set(reading.changedLanes).size).toBe(2);
  });

  test('rows are used again: a long life of changing reports does not grow it', () => {
    const reading = new Reading();
    for (const node of ['a', 'b', 'c']) reading.node(node);
    for (let round = 0; round < 3000; round++) {
      const groups = Object.fromEntries(Array.from({ length: 1 + (round % 5) }, (_, at) => [`g${at}`, round]));
      reading.report(['a', 'b', 'c'][round % 3], groups, { bundle: round % 7 });
    }
    expect(reading.usageMap.rows.count).toBeLessThanOrEqual(3 * 7 * 5);
    expect(reading.usageMap.rows.capacity).toBe(256);
  });

  test('grows beyond its first size without losing a row', () => {
    const reading = new Reading();
    reading.node('a');
    for (let bundle = 0; bundle < 200; bundle++) {
      const groups = Array.from({ length: 6 }, (_, at) => [`g${bundle * 6 + at}`, bundle * 6 + at] as const);
      reading.report('a', Object.fromEntries(groups), { bundle });
    }
    expect(reading.usageMap.rows.count).toBe(1200);
    for (const group of [0, 63, 64, 255, 256, 1199]) expect(reading.rowsOf(`g${group}`)).toEqual({ a: group });
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

function appear(reading: Reading, node: string): void {
  reading.node(node);
  reading.report(node, { orders: 1 });
}
