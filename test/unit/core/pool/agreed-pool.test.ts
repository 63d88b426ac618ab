import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AgreedPool } from '../../../../src/core/usage-map/pool/agreed-pool.js';
import { runs } from '../../../property/seed.js';

type Entry = readonly ['says', number, number] | readonly ['gone' | 'restarted', number];

function poolAfter(log: readonly Entry[]): AgreedPool {
  const pool = new AgreedPool();
  for (const [what, node, claim = 0] of log) {
    if (what === 'says') pool.heard(node, claim);
    else pool[what](node);
  }
  return pool;
}

const [A, B, C, D] = [1, 2, 3, 4];
const TWO: readonly Entry[] = [
  ['says', A, 1],
  ['says', B, 2],
  ['says', A, 2],
];

describe('the pool, record by record', () => {
  test.each<[string, readonly Entry[], number, boolean, number[]]>([
    ['nobody has said anything', [], 1, false, []],
    ['one alone', [['says', A, 1]], 1, true, [A]],
    ['two agree', TWO, 2, true, [A, B]],
    ['a third waits, and makes the others divide by three', [...TWO, ['says', C, 3]], 3, false, [A, B]],
    ['half of them have made room', [...TWO, ['says', C, 3], ['says', A, 3]], 3, false, [A, B]],
    ['all have', [...TWO, ['says', C, 3], ['says', A, 3], ['says', B, 3]], 3, true, [A, B, C]],
    ['it gives up again', [...TWO, ['says', C, 3], ['says', A, 3], ['gone', C]], 3, false, [A, B]],
    ['one leaves: nobody rises yet', [...TWO, ['gone', B]], 2, false, [A]],
    ['… until the other says so', [...TWO, ['gone', B], ['says', A, 1]], 1, true, [A]],
    ['one restarts: it waits for the next agreement', [...TWO, ['restarted', B]], 2, true, [A]],
    ['… which its first record may be', [...TWO, ['restarted', B], ['says', B, 2]], 2, true, [A, B]],
    ['one that claims what cannot be', [...TWO, ['says', C, 4_294_967_295]], 3, false, [A, B]],
    ['… and leaves', [...TWO, ['says', C, 4_294_967_295], ['gone', C]], 2, true, [A, B]],
    ['one that says nothing of pools', [...TWO, ['says', C, 0]], 3, false, [A, B]],
  ])('%s', (_, log, divisor, agreed, served) => {
    const pool = poolAfter(log);
    expect([pool.divisor, pool.isAgreed]).toEqual([divisor, agreed]);
    expect([A, B, C, D].filter((node) => pool.isServed(node))).toEqual(served);
  });
});

test('whoever keeps what follows from the pool is told of every record that moves a part of it', () => {
  // So few that they often agree.
  const node = fc.constantFrom(A, B, B, C);
  const entry = fc.oneof(
    { weight: 4, arbitrary: fc.tuple(fc.constant('says' as const), node, fc.integer({ min: 1, max: 3 })) },
    fc.tuple(fc.constantFrom('gone' as const, 'restarted' as const), node),
  );
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 60, size: 'max' }), fc.nat(200), (log, epochAt) => {
      const pool = new AgreedPool();
      const view = () => [pool.divisor, ...[A, B, C, D].map((each) => pool.isServed(each))];
      for (const [at, [what, who, claim = 0]] of log.entries()) {
        const [before, changes] = [view(), pool.changes];
        if (at === epochAt) pool.forgetAll();
        else if (what === 'says') pool.heard(who, claim);
        else pool[what](who);
        if (view().join() !== before.join()) expect(pool.changes).toBeGreaterThan(changes);
      }
    }),
    runs(300),
  );
});

test('who has said nothing, or has gone already, changes nothing by going', () => {
  const forgotten = poolAfter([...TWO, ['says', C, 3]]);
  forgotten.forgetAll();
  const pools = [poolAfter([]), forgotten, poolAfter(TWO), poolAfter([...TWO, ['gone', C]]), poolAfter([['gone', A]])];
  for (const pool of pools) {
    const view = () => [pool.divisor, pool.isAgreed, pool.changes, ...[A, B, C, D].map((each) => pool.isServed(each))];
    const before = view();
    for (const node of [C, D]) pool.gone(node);
    expect(view()).toEqual(before);
  }
});
