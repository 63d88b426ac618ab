import { describe, expect, test } from 'vitest';
import type { RegistryAppend } from '../../../../src/core/beside/registry/registry-protocol.js';
import type { BatchEntry } from '../../../../src/core/beside/registry/registry-record.js';
import { DEFINITION, OneRegistry } from './one-registry.js';

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
