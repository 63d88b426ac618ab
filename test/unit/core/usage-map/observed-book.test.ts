import { describe, expect, test } from 'vitest';
import { groupIdOf } from '../../../../src/core/base/ids.js';
import { Reading } from './reading.js';

/** Node → the usage that a heartbeat has told of a group, where it counts. */
function toldOf(reading: Reading, group: string): Record<string, number> {
  const told: Record<string, number> = {};
  reading.log.observed.forEach(groupIdOf('demo', group), 0, reading.nowMs, (index, { usage, demand }) => {
    expect(demand).toEqual(usage);
    told[reading.membership.alive[index]?.nodeId ?? ''] = usage[0] as number;
  });
  return told;
}

describe('what a heartbeat tells of a lane', () => {
  test('counts beside the report that stands in the log, and until the node reports other rates', () => {
    const reading = new Reading();
    reading.node('a');
    reading.report('a', { orders: 651 });
    reading.observes('a', { orders: 36 });
    expect(toldOf(reading, 'orders')).toEqual({ a: 36 });
    // Another lane of the bundle was told, so the record came again.
    reading.report('a', { orders: 651, other: 3 });
    expect(toldOf(reading, 'orders')).toEqual({ a: 36 });
    reading.report('a', { orders: 40 });
    expect(toldOf(reading, 'orders')).toEqual({});
  });

  test('counts where nothing is reported, and until something is', () => {
    const reading = new Reading();
    reading.node('a');
    reading.node('b');
    reading.observes('a', { orders: 20 });
    reading.observes('b', { orders: 10 });
    expect(toldOf(reading, 'orders')).toEqual({ a: 20, b: 10 });
    expect(toldOf(reading, 'other')).toEqual({});
    reading.report('b', { orders: 90 });
    expect(toldOf(reading, 'orders')).toEqual({ a: 20 });
  });

  test('is no part of the map: no row, no lane that has changed', () => {
    const reading = new Reading();
    reading.node('a');
    reading.observes('a', { orders: 20 });
    expect(reading.usageMap.laneCount).toBe(0);
    expect(reading.changedLanes).toEqual([]);
  });

  test('ends with the life, with the membership, with another log, and two minutes after it was told last', () => {
    const reading = new Reading();
    reading.node('a');
    reading.observes('a', { orders: 20 });
    reading.nowMs = 120_000;
    expect(toldOf(reading, 'orders')).toEqual({ a: 20 });
    reading.nowMs = 120_001;
    expect(toldOf(reading, 'orders')).toEqual({});
    reading.observes('a', { orders: 21 });
    reading.node('a', { life: 2 });
    expect(toldOf(reading, 'orders')).toEqual({});
    reading.observes('a', { orders: 22 }, { life: 2 });
    reading.farewell('a', { life: 2 });
    expect(toldOf(reading, 'orders')).toEqual({});
    reading.node('a', { life: 3 });
    reading.observes('a', { orders: 23 }, { life: 3 });
    expect(toldOf(reading, 'orders')).toEqual({ a: 23 });
    reading.log.forgetAll();
    expect(reading.log.observed.has(groupIdOf('demo', 'orders'), 0)).toBe(false);
  });

  test('a repeated record tells nothing', () => {
    const reading = new Reading();
    reading.node('a', { sequence: 5 });
    reading.observes('a', { orders: 20 }, { sequence: 6 });
    reading.observes('a', { orders: 99 }, { sequence: 6 });
    expect(toldOf(reading, 'orders')).toEqual({ a: 20 });
  });

  test('whoever tells of groups without end takes no more memory for it', () => {
    const reading = new Reading();
    reading.node('a');
    for (let beat = 0; beat < 20_000; beat++) reading.observes('a', { [`made-up-${beat}`]: 1 });
    const known = Array.from({ length: 20_000 }, (_, beat) => toldOf(reading, `made-up-${beat}`));
    expect(known.filter((told) => 'a' in told)).toHaveLength(16_384);
    expect(known.at(-1)).toEqual({ a: 1 });
  });

  test('names of keys are handed over once, and a key of which nothing is left is none', () => {
    const reading = new Reading();
    reading.node('a');
    reading.observes('a', { orders: 20, 'key:acme': 3 });
    const { observed } = reading.log;
    const acme = { groupId: groupIdOf('demo', 'key:acme'), name: 'key:acme' };
    expect(observed.takeNames()).toEqual([acme]);
    expect(observed.takeNames()).toEqual([]);
    reading.observes('a', { 'key:acme': 0 });
    expect(observed.has(acme.groupId, 0)).toBe(false);
    for (let beat = 0; beat < 5000; beat++) reading.observes('a', { [`key:${beat}`]: 1 });
    expect(observed.takeNames()).toHaveLength(4096);
  });
});
