import { describe, expect, test } from 'vitest';
import { GroupHistory, type LiveKey } from '../../../../src/core/beside/registry/group-history.js';
import {
  attachmentName,
  type GroupDefinition,
  type ProposalRecord,
} from '../../../../src/core/beside/registry/registry-record.js';
import { Releases } from '../../../../src/core/beside/registry/releases.js';

const [FIRST, SECOND]: GroupDefinition[] = [{ quota: 1 }, { quota: 2 }];

function proposal(expected: number | null, definition: GroupDefinition | null, more: Partial<ProposalRecord> = {}) {
  const facts = { kind: 'proposal', id: 'id', author: 'a', group: 'orders', by: null } as const;
  return { ...facts, expected, definition, ...more } as ProposalRecord;
}

type Proposed = readonly [offset: number, expected: number | null, definition: GroupDefinition | null];

describe('proposals, folded in the order of the log', () => {
  test.each<[string, readonly Proposed[], accepted: readonly number[], revision: number, GroupDefinition | null]>([
    [
      'the first wins',
      [
        [4, 0, FIRST],
        [5, 0, SECOND],
      ],
      [5],
      5,
      FIRST,
    ],
    [
      'who expects its revision wins',
      [
        [4, 0, FIRST],
        [9, 5, SECOND],
      ],
      [5, 10],
      10,
      SECOND,
    ],
    [
      'who expects an older one does not',
      [
        [4, 0, FIRST],
        [6, 5, SECOND],
        [9, 5, FIRST],
      ],
      [5, 7],
      7,
      SECOND,
    ],
    [
      'who expects nothing wins always',
      [
        [4, null, FIRST],
        [6, null, SECOND],
      ],
      [5, 7],
      7,
      SECOND,
    ],
    [
      'who expects none finds one',
      [
        [4, 0, FIRST],
        [6, 5, null],
        [8, 0, SECOND],
      ],
      [5, 7, 9],
      9,
      SECOND,
    ],
    ['who expects one finds none', [[4, 5, FIRST]], [], 0, null],
    [
      'a deletion twice',
      [
        [4, 0, FIRST],
        [6, 5, null],
        [8, 7, null],
      ],
      [5, 7],
      7,
      null,
    ],
  ])('%s', (_, proposed, accepted, revision, definition) => {
    const history = new GroupHistory();
    const before: (GroupDefinition | null)[] = [null];
    for (const [offset, expected, wanted] of proposed) {
      const change = history.propose(offset, proposal(expected, wanted));
      expect(change !== null).toBe(accepted.includes(offset + 1));
      if (change === null) continue;
      expect(change).toMatchObject({ revision: offset + 1, before: before.at(-1), after: wanted });
      before.push(wanted);
    }
    expect(history.current).toEqual({ revision, definition });
    expect([...history.changes()].map((change) => change.revision)).toEqual(accepted);
    // As it was before each of them.
    for (const at of accepted.keys()) expect(history.at(accepted[at] - 1)?.definition).toEqual(before[at]);
  });

  test('a state stands for all below its offset, and older ones change nothing', () => {
    const history = new GroupHistory();
    history.propose(4, proposal(0, FIRST));
    history.propose(9, proposal(5, SECOND));
    history.adopt({ asOf: 9, revision: 5, definition: FIRST });
    expect(history.current).toEqual({ revision: 10, definition: SECOND });
    expect([history.contains(8), history.contains(9)]).toEqual([true, false]);
    expect(history.propose(8, proposal(null, FIRST))).toBeNull();
    history.adopt({ asOf: 20, revision: 10, definition: SECOND });
    history.adopt({ asOf: 15, revision: 5, definition: FIRST });
    expect([history.current, history.isOpen]).toEqual([{ revision: 10, definition: SECOND }, false]);
    expect([history.at(19), history.at(20)]).toEqual([null, { revision: 10, definition: SECOND }]);
  });

  test('what a state that comes later turns out to have decided otherwise was no change', () => {
    const history = new GroupHistory();
    history.propose(4, proposal(0, FIRST));
    history.propose(9, proposal(5, SECOND));
    history.adopt({ asOf: 8, revision: 7, definition: FIRST });
    expect(history.current).toEqual({ revision: 7, definition: FIRST });
    expect([...history.changes()]).toEqual([]);
  });

  test('deletions that detach are those that were accepted', () => {
    const history = new GroupHistory();
    history.propose(4, proposal(0, FIRST));
    history.propose(6, proposal(0, null, { detaching: true }));
    history.propose(7, proposal(5, null, { detaching: true }));
    history.propose(8, proposal(7, null, { detaching: true }));
    expect([...history.releases()].map(({ offset }) => offset)).toEqual([7]);
  });

  test('a rejected proposal is open until its key is gone', () => {
    const history = new GroupHistory();
    expect(history.propose(4, proposal(9, FIRST))).toBeNull();
    expect([history.isOpen, history.forget(4), history.isOpen]).toEqual([true, false, false]);
  });

  test('what was detached with a group is as it was, while that deletion is looked at again', () => {
    const history = new GroupHistory();
    history.propose(4, proposal(0, FIRST, { group: 'entry' }));
    const deletion = proposal(3, null, { group: 'orders', detaching: true });
    expect(history.detach(7, deletion, 'entry')).toMatchObject({ revision: 8, after: null, withGroup: 'orders' });
    history.propose(9, proposal(0, SECOND, { group: 'entry' }));
    expect(history.current).toEqual({ revision: 10, definition: SECOND });
    history.forgetDetached();
    // A change that expected no definition was wrong then.
    expect(history.current).toEqual({ revision: 5, definition: FIRST });
    history.detach(7, deletion, 'entry');
    expect(history.current).toEqual({ revision: 10, definition: SECOND });
  });

  describe('whether a newcomer would miss the group without a key', () => {
    const keyAt = (asOf: number, isState = true): LiveKey => {
      const facts = { offset: asOf, logMs: 0, readMs: 0, author: 'a', isToRenew: false };
      return { ...facts, asOf, isState, revision: 5 };
    };
    const stated = (definition: GroupDefinition | null, ...others: readonly LiveKey[]) => {
      const history = new GroupHistory();
      history.adopt({ asOf: 10, revision: 5, definition });
      for (const [at, key] of others.entries()) history.keys.set(`key-${at}`, key);
      return history;
    };

    test.each<[string, GroupHistory, boolean]>([
      ['of its only state', stated(FIRST), true],
      ['of a state behind which only older ones stand', stated(FIRST, keyAt(8), keyAt(9)), true],
      ['of a state that a later one has replaced', stated(FIRST, keyAt(8), keyAt(11)), false],
      ['of a state behind which there are proposals alone', stated(FIRST, keyAt(12, false)), true],
      ['of the state of a deleted group', stated(null), false],
    ])('%s', (_, history, isMissed) => {
      expect(history.isMissed(keyAt(10))).toBe(isMissed);
    });

    test('of a proposal that was accepted, until a state contains it; one that was rejected is forgotten', () => {
      const history = new GroupHistory();
      history.propose(4, proposal(0, FIRST));
      history.propose(6, proposal(0, SECOND));
      expect([6, 4].map((offset) => history.isMissed(keyAt(offset, false)))).toEqual([false, true]);
      expect([history.isOpen, history.current.definition]).toEqual([true, FIRST]);
      history.adopt({ asOf: 7, revision: 5, definition: FIRST });
      expect(history.isMissed(keyAt(4, false))).toBe(false);
    });
  });

  test('is misstated where the state that seems the newest is not what counts, and nothing is under way', () => {
    const stateKey = (asOf: number, revision: number): LiveKey => {
      const facts = { offset: asOf, logMs: 0, readMs: 0, author: 'a', isToRenew: false };
      return { ...facts, asOf, isState: true, revision };
    };
    const history = new GroupHistory();
    expect(history.isMisstated).toBe(false);
    history.adopt({ asOf: 10, revision: 5, definition: FIRST });
    history.keys.set('right', stateKey(10, 5));
    history.keys.set('older', stateKey(8, 3));
    history.keys.set('a proposal that was rejected', { ...stateKey(12, 0), isState: false });
    expect(history.isMisstated).toBe(false);
    history.keys.set('an older one that says that it is newer', stateKey(20, 3));
    expect(history.isMisstated).toBe(true);
    history.propose(30, proposal(5, SECOND));
    expect(history.isMisstated).toBe(false);
  });
});

test('of a deletion with attachments the states come from the farthest on, and it waits for nothing that has one', () => {
  const groups = new Map<string, GroupHistory>();
  const releases = new Releases(groups);
  const define = (offset: number, name: string, definition: GroupDefinition) => {
    const history = new GroupHistory();
    history.propose(offset, proposal(0, definition, { group: name }));
    groups.set(name, history);
  };
  const [acme, orders, other] = ['acme', 'acme/orders', 'other'].map(attachmentName) as [string, string, string];
  define(1, 'gold', {});
  define(2, acme, { group: 'gold' });
  define(3, orders, { sameAs: 'acme' });
  define(4, other, { group: 'silver' });
  // Groups are no entries that lead to one, whatever their definitions say.
  define(5, 'bronze', { group: 'gold' });
  define(6, 'copper', { sameAs: 'acme' });
  expect(releases.before('gold')).toEqual([]);
  const deletion = proposal(2, null, { group: 'gold', detaching: true });
  groups.get('gold')?.propose(9, deletion);
  expect(releases.apply(9, deletion).map(({ group }) => group)).toEqual([acme, orders]);
  expect(groups.get(other)?.current.definition).toEqual({ group: 'silver' });
  const waitsFor = () => ['gold', acme, orders, other].map((name) => releases.before(name));
  expect(waitsFor()).toEqual([[acme, orders], [orders], [], []]);
  groups.get(orders)?.written(10);
  expect(waitsFor()).toEqual([[acme], [], [], []]);
  groups.get(acme)?.written(10);
  expect(waitsFor()).toEqual([[], [], [], []]);
  groups.get('gold')?.written(10);
  // The proposal means nothing any more, whoever comes later under one of the names.
  groups.set(acme, new GroupHistory());
  expect(waitsFor()).toEqual([[], [], [], []]);
});
