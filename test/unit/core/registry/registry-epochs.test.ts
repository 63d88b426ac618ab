import { describe, expect, test } from 'vitest';
import { GroupHistory, NEVER } from '../../../../src/core/beside/registry/group-history.js';
import { BASE_MAX, RegistryEpochs, UNREAD_MAX } from '../../../../src/core/beside/registry/registry-epochs.js';

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
  expect(epochs.begin('first', new Map(), 0)).toBe(false);
  expect(epochs.begin('second', groupsAt(revisions), 0)).toBe(true);
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
    epochs.begin('third', groupsAt({ orders: 9, billing: 21 }), 0);
    expect(['orders', 'billing'].map((name) => epochs.rememberedOf(name).revision)).toEqual([10, 21]);
    expect([epochs.name, epochs.changes]).toEqual(['third', 2]);
  });
});

describe('lasting offsets', () => {
  const author = 'a';
  const redis = 1_700_000_000 * 2 ** 20;
  const reading = (...records: readonly (readonly [base: number, offset: number, at?: number])[]) => {
    const epochs = new RegistryEpochs();
    epochs.begin('first', new Map(), 0);
    for (const [base, offset, at] of records)
      epochs.read({ kind: 'epoch', author, id: 'x', base, ...(at && { at }) }, offset);
    return epochs;
  };

  test.each([
    ['are unknown ahead of an epoch record', [], 7, null],
    ['begin at 0 behind it, wherever offsets begin', [[0, redis]], redis + 1, 0],
    [
      'are not moved by another node that begins likewise',
      [
        [0, redis],
        [0, redis + 5],
      ],
      redis + 6,
      5,
    ],
    [
      'rise where another node has read more of an earlier log',
      [
        [100, 0],
        [900, 5],
      ],
      6,
      900,
    ],
    [
      'are not moved where it has read less',
      [
        [900, 0],
        [100, 5],
      ],
      6,
      905,
    ],
    ['stay where the record was written again to renew its signature', [[100, 90, 10]], 91, 180],
  ] as const)('%s', (_, records, offset, lasting) => {
    expect(reading(...records).lastingOffsetOf(offset)).toBe(lasting);
  });

  test('are proved by a state, whose writer has read an epoch record that was written again behind it', () => {
    const epochs = reading();
    const facts = { author, group: 'orders', revision: 1, definition: null } as const;
    epochs.read({ kind: 'state', ...facts, asOf: 4, shift: -redis }, redis + 9);
    expect(epochs.lastingOffsetOf(redis + 10)).toBe(10);
  });

  test('in the next log begin above all that was read, and by a margin above what was not', () => {
    const epochs = reading([0, redis]);
    expect(epochs.unwritten).toBeNull();
    epochs.begin('second', new Map(), redis + 51);
    expect([epochs.unwritten, epochs.lastingOffsetOf(3)]).toEqual([50 + UNREAD_MAX, null]);
    epochs.begin('third', new Map(), 0);
    expect(epochs.unwritten).toBe(50 + 2 * UNREAD_MAX);
    epochs.read({ kind: 'epoch', author, id: 'y', base: 60 + 2 * UNREAD_MAX }, 0);
    expect(epochs.unwritten).toBeNull();
  });

  test('are exact numbers for ever: no base is above the last one', () => {
    const epochs = reading([BASE_MAX, 0]);
    epochs.begin('second', new Map(), 10);
    expect(epochs.unwritten).toBe(BASE_MAX);
    expect(Number.isSafeInteger(2 * BASE_MAX - 1)).toBe(true);
  });
});
