import { describe, expect, test } from 'vitest';
import { groupsOn, nodeKeyText, Reading } from './reading.js';

/** Heartbeats of `nodes` for some seconds of log time. */
function beat(reading: Reading, seconds: number, ...nodes: readonly string[]): void {
  for (let second = 0; second < seconds; second++) {
    nodes.forEach((node, at) => {
      reading.node(node, { afterMs: at === 0 ? 1000 : 0 });
    });
  }
}

describe('who is a member', () => {
  test('a NODE record makes one, a report alone does not', () => {
    const reading = new Reading();
    expect(reading.report('a', { orders: 5 })).toBe(false);
    expect(reading.alive).toEqual([]);
    expect(reading.node('a')).toBe(true);
    expect(reading.node('a')).toBe(false);
    expect(reading.alive).toEqual(['a']);
  });

  test('a farewell removes it at once, a straggler of the same life does not bring it back', () => {
    const reading = new Reading();
    reading.node('a');
    reading.node('b');
    expect(reading.farewell('a', { sequence: 10 })).toBe(true);
    expect(reading.alive).toEqual(['b']);
    expect(reading.node('a', { sequence: 9 })).toBe(false);
    expect(reading.report('a', { orders: 5 }, { sequence: 11 })).toBe(false);
    expect(reading.alive).toEqual(['b']);
    expect(reading.node('a', { life: 2 })).toBe(true);
    expect(reading.alive).toEqual(['a', 'b']);
  });

  test('silence for more than the staleness removes it', () => {
    const reading = new Reading();
    reading.node('a');
    reading.node('b');
    beat(reading, 5, 'a');
    expect(reading.alive).toEqual(['a', 'b']);
    reading.node('a', { afterMs: 1 });
    expect(reading.alive).toEqual(['a']);
    expect(reading.notices.at(-1)).toEqual({ kind: 'member-expired', nodeId: 'b', members: 1 });
    reading.node('b');
    expect(reading.alive).toEqual(['a', 'b']);
  });

  test('indexes follow the order of the keys, whoever came first', () => {
    const one = new Reading();
    const other = new Reading();
    for (const node of ['a', 'b', 'c', 'd']) one.node(node);
    for (const node of ['d', 'b', 'a', 'c']) other.node(node);
    expect(one.membership.alive.map(({ nodeId }) => nodeId)).toEqual(
      other.membership.alive.map(({ nodeId }) => nodeId),
    );
    expect(one.membership.alive.map(({ slot }) => one.membership.on(0).indexOf(slot))).toEqual([0, 1, 2, 3]);
  });
});

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

describe('a buried node', () => {
  test('keeps the rows of a bundle that nobody buried', () => {
    const early = new Reading(2);
    early.report('a', { mails: 7 }, { partition: 1 });
    early.tombstone(nodeKeyText('a'), { partition: 1 });
    early.node('a');
    expect(early.rowsOf('mails')).toEqual({ a: 7 });
    const late = new Reading(2);
    late.node('a');
    late.report('a', { mails: 7 }, { partition: 1 });
    late.tombstone(nodeKeyText('a'), { partition: 1 });
    expect(late.rowsOf('mails')).toEqual({ a: 7 });
  });

  test('that only another partition has told of is not taken for long dead', () => {
    const reading = new Reading(2);
    for (let second = 0; second < 700; second++) reading.node('a', { afterMs: 1000 });
    reading.report('new', { orders: 1 }, { partition: 1 });
    const [, introduced] = [...reading.membership.all()];
    expect(introduced?.state).toBe('expired');
    expect(introduced?.lastSignLogMs).toBe(reading.log.membershipLogMs);
  });
});
