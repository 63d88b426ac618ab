import { describe, expect, test } from 'vitest';
import { groupsOn, Reading } from './reading.js';

/** Heartbeats of `nodes` for some seconds of log time. */
function beat(reading: Reading, seconds: number, ...nodes: readonly string[]): void {
  for (let second = 0; second < seconds; second++) {
    nodes.forEach((node, at) => {
      reading.node(node, { afterMs: at === 0 ? 1000 : 0 });
    });
  }
}

describe('who shares the groups of another partition', () => {
  function aliveOn(reading: Reading, partition: number): string[] {
    return reading.membership
      .on(partition)
      .members.map(({ nodeId }) => nodeId)
      .sort();
  }

  test('is said by its own records alone, in their order', () => {
    const reading = new Reading(2);
    expect(reading.node('a', { partition: 1 })).toBe(true);
    expect(reading.node('b', { partition: 1 })).toBe(true);
    expect(aliveOn(reading, 1)).toEqual(['a', 'b']);
    expect(reading.alive).toEqual([]);
    reading.node('a');
    reading.node('b');
    expect(reading.farewell('b')).toBe(true);
    expect(aliveOn(reading, 1)).toEqual(['a', 'b']);
    expect(reading.farewell('b', { partition: 1 })).toBe(true);
    expect(aliveOn(reading, 1)).toEqual(['a']);
    reading.node('b', { partition: 1 });
    expect(aliveOn(reading, 1)).toEqual(['a', 'b']);
  });

  test('a node that expires on the membership partition stays there until it is said gone', () => {
    const reading = new Reading(2);
    for (const partition of [0, 1]) for (const node of ['a', 'b']) reading.node(node, { partition });
    beat(reading, 7, 'a');
    expect(reading.alive).toEqual(['a']);
    expect(aliveOn(reading, 1)).toEqual(['a', 'b']);
    // As another node says it, with the life that the partition knows.
    expect(reading.farewell('b', { partition: 1, sequence: 1 })).toBe(true);
    expect(aliveOn(reading, 1)).toEqual(['a']);
  });

  test('a row counts as soon as its life is the newest of its own partition, whatever others say', () => {
    const reading = new Reading(2);
    reading.node('a', { partition: 1 });
    reading.report('a', { mails: 7 }, { partition: 1 });
    reading.node('a', { life: 2 });
    expect(reading.rowsOf('mails')).toEqual({ a: 7 });
    reading.node('a', { life: 2, partition: 1 });
    expect(reading.rowsOf('mails')).toEqual({});
  });

  test('rows of a group that belongs to another partition are left out, and counted', () => {
    const reading = new Reading(2);
    const [here = ''] = groupsOn(1, 2, 1);
    const [elsewhere = ''] = groupsOn(0, 2, 1);
    reading.node('a', { partition: 1 });
    reading.report('a', { [here]: 7, [elsewhere]: 7 }, { partition: 1 });
    expect(reading.rowsOf(here)).toEqual({ a: 7 });
    expect(reading.rowsOf(elsewhere)).toEqual({});
    expect(reading.log.ignored).toMatchObject({ 'foreign-key': 1 });
  });
});
