import { describe, expect, test } from 'vitest';
import type { RegistryAppend } from '../../../../src/core/beside/registry/registry-protocol.js';
import {
  attachmentName,
  type BatchEntry,
  type GroupDefinition,
} from '../../../../src/core/beside/registry/registry-record.js';
import { ADOPT_AFTER_MS, DEFINITION, OneRegistry, proposalOf } from './one-registry.js';

describe('whoever wants a change', () => {
  test('is told that it was accepted when a state that contains it is in the log, and that it was rejected at once', () => {
    const one = OneRegistry.ready();
    one.propose('first', 0);
    one.propose('second', 0);
    for (const append of one.take()) one.append(append);
    expect(one.decisions.map(({ id, accepted }) => [id, accepted])).toEqual([['second', false]]);
    one.deliver();
    expect(one.decisions.map(({ id, accepted }) => [id, accepted])).toEqual([
      ['second', false],
      ['first', true],
    ]);
    expect(one.registry.stateOf('orders').definition).toEqual(DEFINITION);
  });

  test('is told so a tick later if the append of that state failed: until then the log may be lost with the change', () => {
    const one = OneRegistry.ready();
    one.propose('first', 0);
    for (const append of one.take()) one.append(append);
    expect(one.wants).toContain('state');
    for (const { ticket } of one.take()) one.step({ kind: 'append-failed', ticket });
    expect([one.decisions, one.wants]).toEqual([[], []]);
    one.wait(1000);
    expect(one.wants).toContain('state');
    one.deliver();
    expect(one.decisions.map(({ id, accepted }) => [id, accepted])).toEqual([['first', true]]);
    one.propose('second', null);
    one.deliver();
    expect(one.decisions.at(-1)).toMatchObject({ id: 'second', accepted: true });
  });

  test('is told behind a hole in what was read when nothing can be missing any more', () => {
    const one = OneRegistry.ready();
    one.propose('first', 0);
    const [proposal] = one.take() as [RegistryAppend];
    // Compaction has left out what stood before it.
    one.read(...proposal.records.map((record) => ({ ...record, skipped: 3 })));
    expect(one.decisions).toEqual([]);
    expect(one.wants).toEqual(['barrier']);
    one.deliver();
    expect(one.decisions.map(({ id, accepted }) => [id, accepted])).toEqual([['first', true]]);
  });
});

test('a deletion that detaches is told when all states are in the log: the farthest entry first, the group last', () => {
  const one = OneRegistry.ready();
  const [acme, orders] = ['acme', 'acme/orders'].map(attachmentName) as [string, string];
  const define = (group: string, definition: GroupDefinition) => {
    one.step({ kind: 'proposed', id: group, group, expected: 0, definition, by: null });
    one.deliver();
  };
  define('gold', {});
  define(acme, { group: 'gold' });
  define(orders, { sameAs: 'acme' });
  const before = one.log.length;
  one.step({ kind: 'proposed', id: 'all', group: 'gold', expected: null, definition: null, detaching: true, by: null });
  one.deliver();
  const states = one.log.slice(before).flatMap(({ record }) => (record?.kind === 'state' ? [record] : []));
  expect(states.map(({ group, definition }) => [group, definition])).toEqual(
    [orders, acme, 'gold'].map((name) => [name, null]),
  );
  expect(one.decisions.at(-1)).toMatchObject({ id: 'all', accepted: true });
  expect(one.decisions.at(-1)?.detached.map(({ group }) => group)).toEqual([acme, orders]);
});

describe('when another log takes the place of the one that was read', () => {
  test.each([
    ['has not been sent', 'unsent'],
    ['is under way', 'under way'],
    ['was appended to the old one', 'appended'],
    ['could not be appended to the old one', 'append-failed'],
  ] as const)('a change whose state %s is told once, when the new log has its state', (_, fate) => {
    const one = OneRegistry.ready();
    // So that offsets alone would be smaller in the new log.
    for (let before = 0; before < 5; before++) {
      one.propose(`before ${before}`, null);
      one.deliver();
    }
    one.decisions.splice(0);
    one.propose('first', null);
    for (const append of one.take()) one.append(append);
    const { revision } = one.registry.stateOf('orders');
    const sent = fate === 'unsent' ? [] : one.take();
    one.replaceLog();
    for (const { ticket } of sent)
      if (fate === 'appended' || fate === 'append-failed') one.step({ kind: fate, ticket });
    expect(one.decisions).toEqual([]);
    one.deliver();
    expect(one.decisions.map(({ id, accepted }) => [id, accepted])).toEqual([['first', true]]);
    const states = one.log.flatMap(({ record }) => (record?.kind === 'state' ? [record] : []));
    expect(states.at(-1)).toMatchObject({ group: 'orders', revision, definition: DEFINITION });
    // A revision of the old log is below that of every change in the new one.
    one.propose('second', revision);
    one.deliver();
    expect(one.decisions.at(-1)).toMatchObject({ id: 'second', accepted: true });
    expect(one.registry.stateOf('orders').revision).toBeGreaterThan(revision);
  });

  test('what is kept of the trail gets there after the patience, each change once', () => {
    const one = OneRegistry.ready();
    for (const id of ['first', 'second']) {
      one.propose(id, null);
      one.deliver();
    }
    const kept = one.registry.trail.after(0, 10, null).map(({ revision }) => revision);
    expect(kept).toHaveLength(2);
    one.replaceLog();
    one.deliver();
    for (const endMs = one.nowMs + 3 * ADOPT_AFTER_MS; one.nowMs < endMs; one.nowMs += 1000) {
      one.step({ kind: 'tick' });
      one.deliver();
    }
    const written = one.log.flatMap(({ record }) => (record?.kind === 'audit' ? [record.revision] : []));
    expect(written).toEqual(kept);
    expect(one.registry.trail.after(0, 10, null).map(({ revision }) => revision)).toEqual(kept);
  });
});

describe('a group has changed', () => {
  test('where its revision is another one, and not where somebody says the same again', () => {
    const one = OneRegistry.ready();
    expect([...one.write(proposalOf('other', 'p', 0)).changed]).toEqual(['orders']);
    const { revision, definition } = one.registry.stateOf('orders');
    expect([...one.write(proposalOf('other', 'late', 0)).changed]).toEqual([]);
    const state = { kind: 'state', author: 'other', group: 'orders', revision, definition } as const;
    expect([...one.write({ ...state, ...one.readUpTo }).changed]).toEqual([]);
    expect([...one.write({ ...state, ...one.readUpTo }).changed]).toEqual([]);
    expect([...one.write(proposalOf('other', 'next', revision)).changed]).toEqual(['orders']);
  });
});

describe('what a node that died has left behind', () => {
  test('the others finish after one to two times their patience, and not all at once', () => {
    const finishedMs = ['a', 'b', 'node-1', 'node-2', 'a much longer name of a node'].map((nodeId) => {
      const one = OneRegistry.ready(nodeId);
      one.write(proposalOf('dead', 'p', 0));
      const beganMs = one.nowMs;
      while (!one.wants.includes('state') && one.nowMs < beganMs + 10 * ADOPT_AFTER_MS) {
        one.nowMs += 10;
        one.step({ kind: 'tick' });
      }
      return one.nowMs - beganMs;
    });
    for (const ms of finishedMs) {
      expect(ms).toBeGreaterThan(ADOPT_AFTER_MS);
      expect(ms).toBeLessThanOrEqual(2 * ADOPT_AFTER_MS + 10);
    }
    expect(new Set(finishedMs).size).toBe(finishedMs.length);
  });
});

describe('a proposal that a state contains', () => {
  /** What is buried within three times the patience: who proposed it, and after how long. */
  function buriedAfter(one: OneRegistry): [key: string, afterMs: number][] {
    const buried: [string, number][] = [];
    const beganMs = one.nowMs;
    while (one.nowMs < beganMs + 3 * ADOPT_AFTER_MS) {
      for (let sent = one.take(); sent.length > 0; sent = one.take()) {
        for (const append of sent) one.append(append);
        for (const { ticket } of sent) one.step({ kind: 'appended', ticket });
        const tombstones = sent.flatMap(({ records }) => records.filter(({ record }) => record === null));
        for (const { key } of tombstones) buried.push([key, one.nowMs - beganMs]);
      }
      one.nowMs += 100;
      one.step({ kind: 'tick' });
    }
    return buried;
  }

  test('is buried by its author at once, and another node’s is left to that one for as long as the patience', () => {
    const one = OneRegistry.ready();
    one.write(proposalOf('other', 'theirs', 0));
    one.propose('mine', null);
    const { keys } = one.registry;
    const buried = new Map(buriedAfter(one));
    expect(buried.get(keys.proposal('mine'))).toBe(0);
    const afterMs = buried.get(keys.proposal('theirs')) as number;
    expect(afterMs).toBeGreaterThan(ADOPT_AFTER_MS);
    expect(afterMs).toBeLessThanOrEqual(2 * ADOPT_AFTER_MS + 100);
  });

  test('is buried by the others after their patience where its author has written the state and died', () => {
    const one = OneRegistry.ready();
    one.write(proposalOf('dead', 'p', 0));
    const { revision, definition } = one.registry.stateOf('orders');
    one.write({ kind: 'state', author: 'dead', group: 'orders', revision, definition, ...one.readUpTo });
    const buried = buriedAfter(one);
    expect(buried.map(([key]) => key)).toEqual([one.registry.keys.proposal('p')]);
    expect(buried[0]?.[1]).toBeGreaterThan(ADOPT_AFTER_MS);
    expect(buried[0]?.[1]).toBeLessThanOrEqual(2 * ADOPT_AFTER_MS + 100);
  });
});

describe('changes of many groups', () => {
  const entryOf = (group: string, text = '') => ({ group, expected: 0, definition: { quota: 1, text } });
  const written = (one: OneRegistry, entries: readonly BatchEntry[]) => {
    one.step({ kind: 'batch-proposed', id: 'many', entries, by: null });
    const [append] = one.take() as [RegistryAppend];
    return append;
  };

  test('are one record, and behind it all of them are there at once', () => {
    const one = OneRegistry.ready();
    const append = written(
      one,
      ['a', 'b', 'c'].map((name) => entryOf(name)),
    );
    expect(append.records.map(({ record }) => record?.kind)).toEqual(['batch']);
    one.append(append);
    const states = ['a', 'b', 'c'].map((name) => one.registry.stateOf(name));
    expect(new Set(states.map(({ revision }) => revision)).size).toBe(1);
    expect(states.map(({ definition }) => definition?.quota)).toEqual([1, 1, 1]);
  });

  test('larger than a record stand in parts before it, and none is there before it', () => {
    const one = OneRegistry.ready();
    const large = 'x'.repeat(10_000);
    const { records, ...append } = written(
      one,
      ['a', 'b', 'c'].map((name) => entryOf(name, large)),
    );
    expect(records.map(({ record }) => record?.kind)).toEqual(['batch-part', 'batch-part', 'batch']);
    one.append({ ...append, records: records.slice(0, 2) });
    expect(one.registry.stateOf('a').definition).toBeNull();
    one.append({ ...append, records: records.slice(2) });
    expect(['a', 'b', 'c'].every((name) => one.registry.stateOf(name).definition !== null)).toBe(true);
  });
});
