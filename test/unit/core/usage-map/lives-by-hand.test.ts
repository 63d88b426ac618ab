import { describe, expect, test } from 'vitest';
import { incarnationCount } from '../../../../src/core/base/ids.js';
import type { LogTime } from '../../../../src/core/log/log-time.js';
import { Membership } from '../../../../src/core/usage-map/membership.js';
import { bundleKeyText, HEARTBEAT_MS, nodeKeyText, Reading, STALENESS_MS } from './reading.js';

const BURIED = { incarnation: 0, sequence: 0 };

function author(nodeKey: number, incarnation = 1) {
  return { nodeKey, incarnation, sequence: 1 };
}

test('what is known of a node is the newest life whose records are left, and the newest of those', () => {
  const reading = new Reading();
  const bundles = [
    { life: 2, sequence: 4 },
    { life: 1, sequence: 9 },
    { life: 2, sequence: 6 },
    { life: 1, sequence: 3 },
    { life: 3, sequence: 1 },
    { life: 2, sequence: 5 },
  ];
  const bury = (life: number) => {
    for (const [bundle, of] of bundles.entries()) if (of.life === life) reading.tombstone(bundleKeyText('a', bundle));
  };
  for (const [bundle, written] of [...bundles.entries()].sort(([, one], [, other]) => one.life - other.life)) {
    reading.report('a', { [`g${bundle}`]: 1 }, { ...written, bundle });
  }
  const known = () => {
    const { incarnation, sequence, lives } = [...reading.membership.all()][0];
    return [incarnationCount(incarnation), sequence, incarnationCount(lives[0])];
  };
  expect(known()).toEqual([3, 1, 3]);
  bury(3);
  expect(known()).toEqual([2, 6, 2]);
  // Its rows count again.
  expect([reading.rowsOf('g0'), reading.rowsOf('g1'), reading.rowsOf('g4')]).toEqual([{ '': 1 }, {}, {}]);
  bury(2);
  expect(known()).toEqual([1, 9, 1]);
  bury(1);
  expect([...reading.membership.all()]).toEqual([]);
});

test.each(['/', '/x!', '/00', '/zzzzz', '/ ', '/-1', '/1/1', '/A'])(
  'a tombstone of a key that no node writes (…%s) takes nothing, that of the NODE record takes its life',
  (ending) => {
    const reading = new Reading();
    reading.node('a');
    reading.farewell('a');
    const lives = () => [...reading.membership.all()].map(({ nodeId }) => nodeId);
    reading.tombstone(nodeKeyText('a') + ending);
    expect(lives()).toEqual(['a']);
    reading.tombstone(nodeKeyText('a'));
    expect(lives()).toEqual([]);
  },
);

test('a node whose records are gone makes room for another one, though other partitions still tell of it', () => {
  const membership = new Membership(STALENESS_MS, 2, 2);
  const elsewhere = membership.memberOf(author(9), 0);
  membership.beginLife(elsewhere, 1, 1, 0);
  const gone = membership.memberOf(author(1), 0);
  for (const partition of [0, 1]) membership.beginLife(gone, partition, 1, 0);
  const here = membership.memberOf(author(2), 0);
  membership.beginLife(here, 0, 1, 0);
  expect([membership.hasRoomFor(3, 0), membership.hasRoomFor(1, 0)]).toEqual([false, true]);
  membership.fallBack(gone, 0, BURIED);
  expect([membership.hasRoomFor(3, 0), membership.isAccepted(1)]).toEqual([true, false]);
  // An older life that the log still holds is a life.
  membership.fallBack(here, 0, { incarnation: 1, sequence: 1 });
  const third = membership.memberOf(author(3), 0);
  membership.beginLife(third, 0, 1, 0);
  expect(membership.hasRoomFor(4, 0)).toBe(false);
});

test('whoever keeps sums over the members learns of every change of them', () => {
  const membership = new Membership(STALENESS_MS, 1);
  const seen = new Set([membership.changes]);
  const changed = () => {
    const isNew = !seen.has(membership.changes);
    seen.add(membership.changes);
    return isNew;
  };
  const join = (nodeKey: number, logMs: number) => {
    const member = membership.memberOf(author(nodeKey), logMs);
    membership.beginLife(member, 0, 1, logMs);
    membership.join(member, `n-${nodeKey}`, 'test', logMs, 0);
    return member;
  };
  const [one] = [join(1, 0), join(2, 0), join(3, 9000)];
  expect(changed()).toBe(true);
  membership.leave(one);
  expect(changed()).toBe(true);
  expect(membership.expire(9000)).toHaveLength(1);
  expect(changed()).toBe(true);
  expect(membership.expire(9001)).toHaveLength(0);
  expect(changed()).toBe(false);
  membership.forgetAll();
  expect(changed()).toBe(true);
});

describe('what ends by log time ends before the record that shows the time is judged', () => {
  /** `a` lives its second life, and its key may be buried; then it is silent for as long as it may be. */
  function silent({ isBuried }: { readonly isBuried: boolean }): Reading {
    const reading = new Reading();
    reading.node('a', { life: 2 });
    reading.node('b');
    if (isBuried) reading.tombstone(nodeKeyText('a'));
    for (let silentMs = 0; silentMs < STALENESS_MS; silentMs += 1000) reading.node('b', { afterMs: 1000 });
    expect(reading.alive).toEqual(['a', 'b']);
    return reading;
  }

  test('a life that is forgotten then refuses no record of an older one', () => {
    const reading = silent({ isBuried: true });
    reading.node('a', { afterMs: 1 });
    expect(reading.alive).toEqual(['a', 'b']);
    expect(reading.log.ignored['old-incarnation']).toBe(0);
    expect(reading.notices.slice(-2).map(({ kind }) => kind)).toEqual(['member-expired', 'member-joined']);
  });

  test('the time before that record counts whole, as before any first record of a life', () => {
    const reading = silent({ isBuried: true });
    const [time] = reading.log.logTimes as readonly [LogTime];
    const before = { ms: time.ms, spanMs: time.spanMs };
    reading.node('a', { afterMs: 60_000 });
    expect([time.ms - before.ms, time.spanMs - before.spanMs]).toEqual([2 * HEARTBEAT_MS, 60_000]);
  });

  test.each(['node', 'report', 'farewell'] as const)('who gives a sign of life then (%s) does not expire', (kind) => {
    const reading = silent({ isBuried: true });
    if (kind === 'report') reading.report('a', { g: 1 }, { life: 2, afterMs: 1 });
    else reading[kind]('a', { life: 2, afterMs: 1 });
    expect(reading.alive).toEqual(kind === 'farewell' ? ['b'] : ['a', 'b']);
    expect(reading.notices.filter((notice) => notice.kind === 'member-expired')).toEqual([]);
  });

  test('a record that is no news is no sign of life', () => {
    const reading = silent({ isBuried: false });
    reading.node('a', { life: 2, sequence: 1, afterMs: 1 });
    expect(reading.alive).toEqual(['b']);
  });
});

describe('a life that the log has lost, of an id of which a process runs in an older one', () => {
  function lostLife(): { readonly reading: Reading; readonly known: () => number | undefined } {
    const reading = new Reading();
    reading.node('a', { life: 2 });
    reading.farewell('a', { life: 2 });
    reading.node('b');
    reading.node('a', { life: 1 });
    const known = () => {
      const member = [...reading.membership.all()].find(({ nodeId }) => nodeId === 'a');
      return member && incarnationCount(member.incarnation);
    };
    return { reading, known };
  }

  test('is not forgotten by a tombstone while that process runs: it would be unknown until its next beat', () => {
    const { reading, known } = lostLife();
    for (let beat = 0; beat < 20; beat++) {
      reading.node('b', { afterMs: 1000 });
      reading.node('a', { life: 1 });
      reading.tombstone(nodeKeyText('a'));
    }
    expect([known(), reading.alive]).toEqual([2, ['b']]);
    // It has been told, and has taken a life above.
    reading.node('a', { life: 3 });
    expect([known(), reading.alive]).toEqual([3, ['a', 'b']]);
  });

  test('is forgotten by a tombstone when that process has been silent for as long as a member may be', () => {
    const { reading, known } = lostLife();
    for (let silentMs = 0; silentMs < STALENESS_MS; silentMs += 1000) reading.node('b', { afterMs: 1000 });
    reading.tombstone(nodeKeyText('a'));
    expect(known()).toBe(2);
    reading.node('b', { afterMs: 1 });
    reading.tombstone(nodeKeyText('a'));
    expect(known()).toBeUndefined();
  });

  test('a farewell in the older life is no beat, and a newer life than all begins anew', () => {
    const { reading, known } = lostLife();
    for (let silentMs = 0; silentMs < STALENESS_MS; silentMs += 1000) reading.node('b', { afterMs: 1000 });
    reading.farewell('a', { life: 1, afterMs: 1 });
    reading.tombstone(nodeKeyText('a'));
    expect(known()).toBeUndefined();
    reading.node('a', { life: 2 });
    reading.node('a', { life: 1 });
    reading.node('a', { life: 3 });
    reading.farewell('a', { life: 3 });
    reading.tombstone(nodeKeyText('a'));
    expect(known()).toBeUndefined();
  });
});
