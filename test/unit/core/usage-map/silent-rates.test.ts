import { describe, expect, test } from 'vitest';
import { groupIdOf } from '../../../../src/core/base/ids.js';
import { Reading } from './reading.js';

/** Node → what a heartbeat has told of a key, where it counts. */
function toldOf(reading: Reading, key: string): Record<string, number> {
  const told: Record<string, number> = {};
  reading.log.keys.forEach(groupIdOf('demo', key), 0, reading.nowMs, ({ nodeId }, { messages }) => {
    told[nodeId] = messages;
  });
  return told;
}

describe('what a heartbeat tells of a key', () => {
  test('counts until its node reports the key', () => {
    const reading = new Reading();
    reading.node('a');
    reading.node('b');
    reading.names('a', { orders: 20 });
    reading.names('b', { orders: 10 });
    expect(toldOf(reading, 'orders')).toEqual({ a: 20, b: 10 });
    expect(toldOf(reading, 'other')).toEqual({});
    reading.report('b', { orders: 90 });
    expect(toldOf(reading, 'orders')).toEqual({ a: 20 });
  });

  test('is no part of the map: no row, no lane that has changed', () => {
    const reading = new Reading();
    reading.node('a');
    reading.names('a', { orders: 20 });
    expect(reading.usageMap.laneCount).toBe(0);
    expect(reading.changedLanes).toEqual([]);
  });

  test('ends with the life, with the membership, with another log, and two minutes after it was told last', () => {
    const reading = new Reading();
    reading.node('a');
    reading.names('a', { orders: 20 });
    reading.nowMs = 120_000;
    expect(toldOf(reading, 'orders')).toEqual({ a: 20 });
    reading.nowMs = 120_001;
    expect(toldOf(reading, 'orders')).toEqual({});
    reading.names('a', { orders: 21 });
    reading.node('a', { life: 2 });
    expect(toldOf(reading, 'orders')).toEqual({});
    reading.names('a', { orders: 22 }, { life: 2 });
    reading.farewell('a', { life: 2 });
    expect(toldOf(reading, 'orders')).toEqual({});
    reading.node('a', { life: 3 });
    reading.names('a', { orders: 23 }, { life: 3 });
    expect(toldOf(reading, 'orders')).toEqual({ a: 23 });
    reading.log.forgetAll();
    expect(reading.log.keys.has(groupIdOf('demo', 'orders'), 0)).toBe(false);
  });

  test('a repeated record tells nothing', () => {
    const reading = new Reading();
    reading.node('a', { sequence: 5 });
    reading.names('a', { orders: 20 }, { sequence: 6 });
    reading.names('a', { orders: 99 }, { sequence: 6 });
    expect(toldOf(reading, 'orders')).toEqual({ a: 20 });
  });

  test('whoever tells of groups without end takes no more memory for it', () => {
    const reading = new Reading();
    reading.node('a');
    for (let beat = 0; beat < 20_000; beat++) reading.names('a', { [`made-up-${beat}`]: 1 });
    const known = Array.from({ length: 20_000 }, (_, beat) => toldOf(reading, `made-up-${beat}`));
    expect(known.filter((told) => 'a' in told)).toHaveLength(16_384);
    expect(known.at(-1)).toEqual({ a: 1 });
  });

  test('names of keys are handed over once, and a key of which nothing is left is none', () => {
    const reading = new Reading();
    reading.node('a');
    reading.names('a', { 'key:acme': 3 });
    const { keys } = reading.log;
    const acme = { groupId: groupIdOf('demo', 'key:acme'), name: 'key:acme' };
    expect(keys.takeNames()).toEqual([acme]);
    expect(keys.takeNames()).toEqual([]);
    reading.names('a', { 'key:acme': 0 });
    expect(keys.has(acme.groupId, 0)).toBe(false);
    for (let beat = 0; beat < 5000; beat++) reading.names('a', { [`key:${beat}`]: 1 });
    expect(keys.takeNames()).toHaveLength(4096);
  });
});
