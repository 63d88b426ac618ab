import { describe, expect, test } from 'vitest';
import { GroupHistory, NEVER } from '../../../../src/core/registry/group-history.js';
import { EPOCHS_MAX, RegistryEpochs } from '../../../../src/core/registry/registry-epochs.js';

function historyAt(revision: number, isDeleted = false): GroupHistory {
  const history = new GroupHistory();
  history.adopt({ asOf: revision, revision, definition: isDeleted ? null : { quota: revision } });
  return history;
}

const groupsAt = (revisions: Readonly<Record<string, number>>) =>
  new Map(Object.entries(revisions).map(([name, revision]) => [name, historyAt(revision)]));

/** One that has read another log, in which these groups had these revisions. */
function behind(revisions: Readonly<Record<string, number>>): RegistryEpochs {
  const epochs = new RegistryEpochs();
  expect(epochs.begin('first', new Map())).toBe(false);
  expect(epochs.begin('second', groupsAt(revisions))).toBe(true);
  return epochs;
}

describe('what an earlier log said', () => {
  test.each([
    [9, true],
    [10, false],
    [11, false],
  ])('at revision 10 is lacking while this log has said %i: %s', (revision, isLacking) => {
    const epochs = behind({ orders: 10, billing: 20 });
    epochs.said('orders', { revision, definition: null });
    expect(epochs.lacking.has('orders')).toBe(isLacking);
    expect(epochs.rememberedOf('orders').revision).toBe(isLacking ? 10 : NEVER.revision);
    expect(epochs.rememberedOf('billing').revision).toBe(20);
  });

  test('is in force where it is newer than what this log says', () => {
    const epochs = behind({ orders: 10 });
    const revisionOf = (here: Readonly<Record<string, number>>) => epochs.stateOf('orders', groupsAt(here)).revision;
    expect([{}, { orders: 9 }, { orders: 10 }, { orders: 11 }].map(revisionOf)).toEqual([10, 10, 10, 11]);
    expect(epochs.stateOf('unknown', new Map())).toEqual(NEVER);
  });

  test('is named once, with what this log has, and not where it is deleted', () => {
    const epochs = behind({ orders: 10, billing: 20 });
    const here = new Map([...groupsAt({ orders: 10, gold: 3 }), ['billing', historyAt(21, true)] as const]);
    expect([...epochs.names(here)].sort()).toEqual(['gold', 'orders']);
  });

  test('stays through a third log that says less, and gives way to one that said more', () => {
    const epochs = behind({ orders: 10, billing: 20 });
    epochs.begin('third', groupsAt({ orders: 9, billing: 21 }));
    expect(['orders', 'billing'].map((name) => epochs.rememberedOf(name).revision)).toEqual([10, 21]);
    expect([epochs.name, epochs.changes]).toEqual(['third', 2]);
  });
});

describe('the number of a log', () => {
  const author = 'a';

  test('is 0 in the first, and one more than all that were read or given in the next', () => {
    const epochs = new RegistryEpochs();
    epochs.begin('first', new Map());
    expect([epochs.number, epochs.unwritten, epochs.lastingOffsetOf(7)]).toEqual([0, null, 7]);
    epochs.begin('second', new Map());
    expect([epochs.number, epochs.unwritten]).toEqual([0, 1]);
    epochs.begin('third', new Map());
    expect(epochs.unwritten).toBe(2);
    epochs.read({ kind: 'epoch', author, number: 5 });
    expect([epochs.number, epochs.unwritten]).toEqual([5, null]);
    epochs.begin('fourth', new Map());
    expect([epochs.number, epochs.unwritten]).toEqual([0, 6]);
  });

  test('is written until a record of at least that number has been read', () => {
    const epochs = behind({});
    epochs.begin('third', new Map());
    const unwritten = [1, 2, 1].map((number) => {
      epochs.read({ kind: 'epoch', author, number });
      return epochs.unwritten;
    });
    expect(unwritten).toEqual([2, null, null]);
    expect(epochs.number).toBe(2);
  });

  test('is proved by offsets in states and changes as well, and by nothing that is beyond the last one', () => {
    const offsetIn = (number: number) => number * 2 ** 40 + 3;
    const facts = { author, group: 'orders', revision: 1, definition: null } as const;
    const numberAfter = (record: Parameters<RegistryEpochs['read']>[0]) => {
      const epochs = new RegistryEpochs();
      epochs.begin('first', new Map());
      epochs.read(record);
      return epochs.number;
    };
    expect(numberAfter({ kind: 'state', ...facts, asOf: offsetIn(4) })).toBe(4);
    const change = { author, group: 'orders', before: null, after: null, by: null } as const;
    expect(numberAfter({ kind: 'audit', ...change, revision: offsetIn(4) })).toBe(4);
    expect(numberAfter({ kind: 'barrier', author, id: 'x' })).toBe(0);
    expect(numberAfter({ kind: 'epoch', author, number: EPOCHS_MAX })).toBe(EPOCHS_MAX);
    expect(numberAfter({ kind: 'epoch', author, number: EPOCHS_MAX + 1 })).toBe(0);
  });
});
