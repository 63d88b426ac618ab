import { describe, expect, test } from 'vitest';
import type { RegistryAppend } from '../../../../src/core/beside/registry/registry-protocol.js';
import { attachmentName } from '../../../../src/core/beside/registry/registry-record.js';
import { ADOPT_AFTER_MS, OneRegistry, proposalOf } from './one-registry.js';

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
});

function untilItWantsStates(one: OneRegistry): void {
  const latestMs = one.nowMs + 3 * ADOPT_AFTER_MS;
  while (!one.wants.includes('state') && one.nowMs < latestMs) one.wait(1000);
}
