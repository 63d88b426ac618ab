import { describe, expect, test } from 'vitest';
import {
  type AuditRecord,
  keyOf,
  type RegistryRecord,
  type StateRecord,
} from '../../../../src/core/beside/registry/registry-record.js';
import { ADOPT_AFTER_MS, DEFINITION, FIRST_OFFSET, OneRegistry, proposalOf } from './one-registry.js';

function stateOf(facts: Partial<StateRecord> = {}): StateRecord {
  return {
    kind: 'state',
    author: 'other',
    group: 'orders',
    asOf: 1,
    shift: -FIRST_OFFSET - 1,
    revision: 1,
    definition: DEFINITION,
    ...facts,
  };
}

function auditOf(revision: number): AuditRecord {
  return { kind: 'audit', author: 'other', group: 'orders', revision, before: null, after: DEFINITION, by: null };
}

/** Revisions in the trail, as far as it is told. */
const trailOf = ({ registry }: OneRegistry) => registry.trail.after(0, 100, null).map(({ revision }) => revision);

describe('what is read counts or not', () => {
  // The barrier of the node itself and its tombstone stand at 0 and 1: a record that is read next is at 2.
  test.each<[string, RegistryRecord, ignored: number, revision: number, trail: number[]]>([
    ['a state as of its own offset', stateOf({ asOf: 2, revision: 2 }), 0, 2, []],
    ['a state as of an offset behind it', stateOf({ asOf: 3, revision: 2 }), 1, 0, []],
    ['a change that its own offset made', auditOf(2), 0, 0, [2]],
    ['a change that only a later offset can make', auditOf(3), 1, 0, []],
    ['a proposal', proposalOf('other', 'p', 0), 0, 3, []],
    ['hashes of what stands in a YAML', { kind: 'yaml', author: 'other', version: '1', part: 0, groups: {} }, 0, 0, []],
    ['a barrier of another node', { kind: 'barrier', author: 'other', id: 'x' }, 0, 0, []],
  ])('%s', (_, record, ignored, revision, trail) => {
    const one = OneRegistry.ready();
    expect(one.lastingOffset).toBe(2);
    one.write(record);
    expect([one.registry.ignored, one.registry.stateOf('orders').revision]).toEqual([ignored, revision]);
    expect(trailOf(one)).toEqual(trail);
    expect([...one.registry.names()]).toEqual(revision === 0 ? [] : ['orders']);
  });

  test.each<[string, RegistryRecord]>([
    ['state', stateOf()],
    ['proposal', proposalOf('other', 'p', 0)],
    ['change', auditOf(1)],
    ['epoch', { kind: 'epoch', author: 'other', id: 'x', base: 3_000 }],
  ])('a %s under a key that is not its own is ignored', (_, record) => {
    const one = OneRegistry.ready();
    const { changed } = one.read({ key: `${keyOf(one.registry.keys, record)}/not`, record });
    expect([one.registry.ignored, one.lastingOffset, changed.size]).toEqual([1, 3, 0]);
    expect([[...one.registry.names()], trailOf(one)]).toEqual([[], []]);
  });

  test('what is not ours is not ignored, and leaves no hole', () => {
    const one = OneRegistry.ready();
    one.read({ key: 'anything', record: { kind: 'unreadable' } });
    expect([one.registry.ignored, one.lastingOffset, one.wants]).toEqual([0, 3, []]);
  });

  test('what is read once more, as a reader that connects anew may, changes nothing', () => {
    const one = OneRegistry.ready();
    one.propose('first', 0);
    one.deliver();
    const revisions = () => [one.registry.stateOf('orders').revision, one.registry.offset];
    const before = revisions();
    const again = one.step({ kind: 'records-read', records: [...one.log] });
    expect([again.appends, again.decisions, again.changed.size, revisions()]).toEqual([[], [], 0, before]);
  });
});

describe('nothing is missing', () => {
  const barrierOf = (one: OneRegistry) => {
    const [append] = one.take();
    const record = append?.records.at(-1)?.record;
    if (record?.kind !== 'barrier') throw new Error('no barrier was raised');
    return record;
  };

  test('once the own barrier has been read, which is then freed; that of another life or of an older hole says nothing', () => {
    const one = new OneRegistry();
    expect(one.wants).toEqual([]);
    one.step({ kind: 'caught-up' });
    const first = barrierOf(one);
    one.write({ ...first, id: 'own-0/0' });
    expect(one.registry.isReady).toBe(false);
    one.write(proposalOf('other', 'p', 0), 2);
    const second = barrierOf(one);
    one.write(first);
    expect([one.registry.isReady, one.wants]).toEqual([false, []]);
    one.write(second);
    expect([one.registry.isReady, one.wants]).toEqual([true, ['tombstone']]);
    expect(one.take()[0]?.records[0]?.key).toBe(one.registry.keys.barrier('own'));
    one.write(second);
    expect(one.wants).toEqual([]);
  });

  test('a barrier that has got lost is raised again with each tick, and with none once it was read', () => {
    const one = new OneRegistry();
    one.step({ kind: 'caught-up' });
    const first = barrierOf(one);
    one.write(proposalOf('other', 'p', 0));
    expect(one.wants).toEqual([]);
    one.step({ kind: 'tick' });
    expect(barrierOf(one)).toEqual(first);
    one.write(first);
    one.take();
    one.step({ kind: 'tick' });
    expect(one.wants).toEqual([]);
  });

  test('offsets that compaction has left out are a hole behind what was there at the start, and none before', () => {
    const one = new OneRegistry();
    one.write(stateOf({ asOf: 1 }), 5);
    one.step({ kind: 'caught-up' });
    one.deliver();
    expect(one.registry.isReady).toBe(true);
    one.write(proposalOf('other', 'p', null), 1);
    expect(one.wants).toEqual(['barrier']);
  });

  test('whoever reads the barrier is told of no change where nothing has changed behind the hole', () => {
    const one = OneRegistry.ready();
    one.write(proposalOf('other', 'p', 0));
    one.write({ kind: 'barrier', author: 'other', id: 'x' }, 1);
    const barrier = barrierOf(one);
    expect([...one.write(barrier).changed]).toEqual([]);
  });

  test('is needed before anything is finished for others or told to callers; who was ready stays so', () => {
    const one = OneRegistry.ready();
    one.write(proposalOf('dead', 'p', 0));
    one.write(auditOf(1), 3);
    one.propose('mine', null);
    for (const append of one.take()) if (append.records[0]?.record?.kind === 'proposal') one.append(append);
    one.wait(3 * ADOPT_AFTER_MS);
    expect(new Set(one.wants)).toEqual(new Set(['barrier']));
    expect([one.registry.isReady, one.decisions]).toEqual([true, []]);
    one.deliver();
    expect(one.decisions.map(({ id, accepted }) => [id, accepted])).toEqual([['mine', true]]);
  });
});

describe('what will not count for long, as its signature expires', () => {
  const EPOCH = { kind: 'epoch', id: 'x', base: 0 } as const;

  test.each([
    ['its author at once', 'own', [{ ...EPOCH, author: 'own', at: FIRST_OFFSET + 4 }]],
    ['nobody else', 'other', []],
  ])('where a log begins is written again by %s', (_, author, again) => {
    const one = OneRegistry.ready();
    const record = { ...EPOCH, author };
    const key = keyOf(one.registry.keys, record);
    one.read({ key, record });
    expect(one.take()).toEqual([]);
    one.read({ key, record, isToRenew: true });
    expect(one.take().flatMap(({ records }) => records.map((written) => written.record))).toEqual(again);
  });

  test.each<[string, RegistryRecord, kind: string]>([
    ['a state', stateOf(), 'state'],
    ['a change of the trail', auditOf(1), 'audit'],
  ])('%s is written again by others once its author has not for as long as they wait', (_, record, kind) => {
    const writtenOf = (isToRenew: boolean) => {
      const one = OneRegistry.ready();
      one.read({ key: keyOf(one.registry.keys, record), record, ...(isToRenew && { isToRenew }) });
      one.wait(ADOPT_AFTER_MS);
      expect(one.wants).toEqual([]);
      one.wait(ADOPT_AFTER_MS + 1000);
      return one.wants;
    };
    expect(writtenOf(true)).toContain(kind);
    expect(writtenOf(false)).toEqual([]);
  });
});
