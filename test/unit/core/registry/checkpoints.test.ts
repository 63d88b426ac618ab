import { describe, expect, test } from 'vitest';
import { UNREAD_MAX } from '../../../../src/core/beside/registry/registry-epochs.js';
import type { RegistryAppend } from '../../../../src/core/beside/registry/registry-protocol.js';
import { attachmentName } from '../../../../src/core/beside/registry/registry-record.js';
import { ADOPT_AFTER_MS, DEFINITION, OneRegistry, proposalOf } from './one-registry.js';

const DAY_MS = 86_400_000;
const kindsOf = ({ records }: RegistryAppend) => records.map(({ record }) => record?.kind ?? 'tombstone');

/** Appends and reads back what it wants, and does not say so yet. */
function appendAll(one: OneRegistry): RegistryAppend[] {
  const sent = one.take();
  for (const append of sent) one.append(append);
  return sent;
}

const groupsOf = (appends: readonly RegistryAppend[]) =>
  appends.map(({ records }) => records.flatMap(({ record }) => (record?.kind === 'state' ? [record.group] : [])));

describe('states behind their proposals', () => {
  test('the change stands before the state in one append, and both say the same', () => {
    const one = OneRegistry.ready();
    one.propose('first', 0);
    appendAll(one);
    const { revision, definition } = one.registry.stateOf('orders');
    const [append] = one.take();
    expect(append?.records.map(({ record }) => record)).toEqual([
      { kind: 'audit', author: 'own', group: 'orders', revision, before: null, after: DEFINITION, by: null },
      { kind: 'state', author: 'own', group: 'orders', ...one.readUpTo, revision, definition },
    ]);
  });

  test('one append of states is under way at a time: what changes meanwhile is in the next one, once', () => {
    const one = OneRegistry.ready();
    one.propose('first', null);
    appendAll(one);
    const [underWay] = one.take() as [RegistryAppend];
    for (const id of ['second', 'third']) one.propose(id, null);
    appendAll(one);
    expect(one.wants).toEqual([]);
    one.append(underWay);
    expect(one.decisions).toEqual([]);
    one.step({ kind: 'appended', ticket: underWay.ticket });
    expect(one.decisions.map(({ id }) => id)).toEqual(['first']);
    const next = appendAll(one);
    expect(groupsOf(next).flat()).toEqual(['orders']);
    for (const { ticket } of next) one.step({ kind: 'appended', ticket });
    expect(one.decisions.map(({ id }) => id)).toEqual(['first', 'second', 'third']);
  });

  test('an append has 500 states at most, and the rest comes in the next', () => {
    const one = OneRegistry.ready();
    for (let at = 0; at < 1100; at++) {
      one.write({ ...proposalOf('other', `p${at}`, 0), group: `group ${at}` });
    }
    untilItWantsStates(one);
    const states: number[] = [];
    for (let sent = one.take(); sent.length > 0; sent = one.take()) {
      for (const append of sent) one.append(append);
      states.push(...groupsOf(sent).map((groups) => groups.length));
      for (const { ticket } of sent) one.step({ kind: 'appended', ticket });
    }
    expect(states.filter((count) => count > 0)).toEqual([500, 500, 100]);
    expect(new Set(one.logged('state').map(({ group }) => group)).size).toBe(1100);
  });

  test.each(['appended', 'append-failed'] as const)('of another append it says nothing that it has %s', (kind) => {
    const one = OneRegistry.ready();
    one.propose('first', 0);
    const [proposal] = appendAll(one) as [RegistryAppend];
    expect(kindsOf(one.take()[0])).toContain('state');
    one.step({ kind, ticket: proposal.ticket });
    expect([one.decisions, one.wants]).toEqual([[], []]);
  });

  test('its author frees what they replace: the proposal, and the state before', () => {
    const one = OneRegistry.ready();
    const buried = () =>
      appendAllAndSay(one).flatMap(({ records }) =>
        records.flatMap(({ key, record }) => (record === null ? [key] : [])),
      );
    one.propose('first', null);
    const { keys } = one.registry;
    expect(buried()).toEqual([keys.proposal('first')]);
    const { asOf } = one.logged('state').at(-1) as { asOf: number };
    one.propose('second', null);
    expect(buried()).toEqual([keys.state('orders', asOf), keys.proposal('second')]);
  });

  test('a change that the state in the log does not contain waits for the next state', () => {
    const one = OneRegistry.ready();
    one.propose('first', null);
    appendAll(one);
    const [state] = one.take() as [RegistryAppend];
    one.propose('second', null);
    appendAll(one);
    // Before the state in the log, and not in it.
    one.append(state);
    one.step({ kind: 'appended', ticket: state.ticket });
    expect(one.decisions.map(({ id }) => id)).toEqual(['first']);
  });

  test('if a state of a deletion fails, all are tried again a tick later, and then its caller is told', () => {
    const one = OneRegistry.ready();
    const acme = attachmentName('acme');
    one.propose('gold', 0, {}, 'gold');
    one.deliver();
    one.propose('acme', 0, { group: 'gold' }, acme);
    one.deliver();
    one.decisions.splice(0);
    one.step({
      kind: 'proposed',
      id: 'all',
      group: 'gold',
      expected: null,
      definition: null,
      detaching: true,
      by: null,
    });
    appendAll(one);
    const [first, ...more] = one.take() as [RegistryAppend];
    expect([groupsOf([first]), more]).toEqual([[[acme]], []]);
    one.step({ kind: 'append-failed', ticket: first.ticket });
    expect([one.decisions, one.wants]).toEqual([[], []]);
    one.wait(1000);
    expect(one.wants).toContain('state');
    one.deliver();
    expect(one.decisions.map(({ id, accepted }) => [id, accepted])).toEqual([['all', true]]);
    const written = one.logged('state').map(({ group, definition }) => [group, definition]);
    expect(written.slice(-2)).toEqual([
      [acme, null],
      ['gold', null],
    ]);
    expect(one.decisions).toHaveLength(1);
  });
});

describe('the trail', () => {
  test('keeps as many changes as it may: with each one the oldest is freed', () => {
    const one = OneRegistry.ready('own', 3);
    for (let at = 0; at < 5; at++) {
      one.propose(`p${at}`, null);
      one.deliver();
    }
    const keyOfChange = new Map(
      one.logged('audit').map(({ revision }) => [one.registry.keys.audit(`${revision}`), revision]),
    );
    const freed = one.log.flatMap(({ key, record }) => (record === null ? (keyOfChange.get(key) ?? []) : []));
    const all = [...keyOfChange.values()];
    expect(freed).toEqual(all.slice(0, 2));
    expect(one.registry.trail.after(0, 10, null).map(({ revision }) => revision)).toEqual(all.slice(2));
  });

  test('what has fallen out and was freed by nobody is freed by the others when they have waited', () => {
    const one = OneRegistry.ready('own', 1);
    for (const revision of [1, 2]) {
      one.write({ kind: 'audit', author: 'dead', group: 'orders', revision, before: null, after: null, by: null });
    }
    one.wait(ADOPT_AFTER_MS);
    expect(one.wants).toEqual([]);
    one.wait(ADOPT_AFTER_MS + 1000);
    expect(one.take().flatMap(({ records }) => records)).toEqual([{ key: one.registry.keys.audit('1'), record: null }]);
  });
});

describe('the state of a deleted group', () => {
  const buriedAfter = (days: number, more: (one: OneRegistry) => void = () => undefined) => {
    const one = OneRegistry.ready();
    one.propose('made', 0);
    one.deliver();
    one.propose('gone', null, null);
    one.deliver();
    more(one);
    const begin = one.log.length;
    one.nowMs += days * DAY_MS;
    // The clock of the log is that of what stands in it.
    one.write({ kind: 'yaml', author: 'other', version: '1', part: 0, groups: {} });
    one.wait(1000);
    one.deliver();
    const buried = one.log.slice(begin).flatMap(({ key, record }) => (record === null ? [key] : []));
    return { one, buried };
  };

  test.each([6.9, 7])('stays for seven days of the log: %f', (days) => {
    expect(buriedAfter(days).buried).toEqual([]);
  });

  test('stays where a record says that it is of another decade', () => {
    expect(buriedAfter(20_000).buried).toEqual([]);
  });

  test('is freed then, and nothing is known of the group any more', () => {
    const { one, buried } = buriedAfter(7.1);
    const last = one.logged('state').at(-1);
    expect(last).toMatchObject({ group: 'orders', definition: null });
    expect(buried).toEqual([one.registry.keys.state('orders', last?.asOf as number)]);
    expect(one.registry.stateOf('orders')).toEqual({ revision: 0, definition: null });
    one.wait(3 * ADOPT_AFTER_MS);
    expect(one.wants).toEqual([]);
  });

  test('is not freed where the group is there again, or is about to be', () => {
    const again = buriedAfter(8, (one) => {
      one.propose('again', 0);
      one.deliver();
    });
    expect(again.buried).toEqual([]);
    const proposed = buriedAfter(8, (one) => void one.write(proposalOf('other', 'again', 0)));
    expect(proposed.one.registry.stateOf('orders').definition).toEqual(DEFINITION);
  });
});

describe('behind a lost log', () => {
  test('the base of the new one stands before everything else of this node, and what it lacks is written back', () => {
    const one = OneRegistry.ready();
    for (const group of ['orders', 'billing']) one.propose(group, 0, DEFINITION, group);
    one.deliver();
    const states = ['orders', 'billing'].map((group) => one.registry.stateOf(group));
    const lost = one.lastingOffset as number;
    one.replaceLog();
    one.deliver();
    expect(one.log[0]?.record).toEqual({ kind: 'epoch', author: 'own', id: 'own-1/1', base: lost + UNREAD_MAX });
    expect(one.logged('state').map(({ revision, definition }) => ({ revision, definition }))).toEqual(states);
  });

  test('who had a change that a node without it takes back is told that it was rejected', () => {
    const one = OneRegistry.ready();
    one.propose('first', null);
    one.deliver();
    const before = one.registry.stateOf('orders');
    one.propose('lost', null, { quota: 2 });
    appendAll(one);
    const [state] = one.take() as [RegistryAppend];
    one.write({ kind: 'state', author: 'other', group: 'orders', ...one.readUpTo, ...before });
    one.decisions.splice(0);
    one.step({ kind: 'append-failed', ticket: state.ticket });
    one.wait(1000);
    one.deliver();
    expect(one.decisions).toEqual([
      { id: 'lost', group: 'orders', accepted: false, change: null, detached: [], state: before },
    ]);
  });
});

function untilItWantsStates(one: OneRegistry): void {
  const latestMs = one.nowMs + 3 * ADOPT_AFTER_MS;
  while (!one.wants.includes('state') && one.nowMs < latestMs) one.wait(1000);
}

function appendAllAndSay(one: OneRegistry): RegistryAppend[] {
  const all: RegistryAppend[] = [];
  for (let sent = one.take(); sent.length > 0; sent = one.take()) {
    for (const append of sent) one.append(append);
    for (const { ticket } of sent) one.step({ kind: 'appended', ticket });
    all.push(...sent);
  }
  return all;
}
