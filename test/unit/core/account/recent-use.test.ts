import { describe, expect, test } from 'vitest';
import { RecentUse } from '../../../../src/core/account/recent-use.js';

/** What is taken is recent for 2 s and the second in which the depth flows in. */
const BUCKET = { perSecond: 10, depth: 10 };

function recentOf(charges: readonly (readonly [node: number, units: number, atMs: number])[]): RecentUse {
  const recent = new RecentUse();
  // All come before anybody takes something: who comes later is counted as having had nearly as much.
  for (const [node, , atMs] of charges) recent.charge(node, 0, atMs - 1, BUCKET, 1);
  for (const [node, units, atMs] of charges) recent.charge(node, units, atMs, BUCKET, 1);
  return recent;
}

function look(recent: RecentUse, own: number, logMs: number) {
  return { active: recent.othersLately(own, logMs, BUCKET), rank: recent.countBefore(own, logMs, BUCKET) };
}

describe('who is active, and who had fewer', () => {
  /** Node and units of each, all at 1,000 ms. */
  test.each([
    { charges: '', own: 5, active: 0, rank: 0, why: 'nobody' },
    { charges: '5:3', own: 5, active: 0, rank: 0, why: 'not itself' },
    { charges: '1:3 5:4', own: 5, active: 1, rank: 1, why: 'one had fewer' },
    { charges: '1:3 5:2', own: 5, active: 1, rank: 0, why: 'one had more' },
    { charges: '1:3 9:3 5:3', own: 5, active: 2, rank: 1, why: 'as many: by id' },
    { charges: '1:3 9:3', own: 5, active: 2, rank: 0, why: 'it had nothing' },
    { charges: '1:0', own: 5, active: 1, rank: 1, why: 'nothing is as little as nothing: by id' },
    { charges: '1:-7', own: 5, active: 1, rank: 1, why: 'what came back counts as nothing' },
    { charges: '1:1 1:1 5:1.5', own: 5, active: 1, rank: 0, why: 'it adds up' },
  ])('$charges seen by $own: $active active, rank $rank; $why', ({ charges, own, active, rank }) => {
    const each = charges.match(/\S+/g) ?? [];
    const recent = recentOf(each.map((one) => [Number(one.split(':')[0]), Number(one.split(':')[1]), 1000]));
    expect(look(recent, own, 1000)).toEqual({ active, rank });
  });

  test('all agree on one order', () => {
    const recent = recentOf([1, 2, 3, 4, 5, 6].map((node) => [node, [2, 0, 1, 1, 0, 3][node - 1], 1000]));
    const ranks = [1, 2, 3, 4, 5, 6].map((node) => recent.countBefore(node, 1000, BUCKET));
    expect(ranks).toEqual([4, 0, 2, 3, 1, 5]);
  });
});

describe('as time passes', () => {
  test.each([
    { afterMs: 3000, active: 1 },
    { afterMs: 3001, active: 0 },
  ])('a node is active for 3 s: $afterMs ms later $active', ({ afterMs, active }) => {
    expect(recentOf([[1, 3, 1000]]).othersLately(5, 1000 + afterMs, BUCKET)).toBe(active);
  });

  test('what it had fades within four depths: 3 of long ago are fewer than 2 of now', () => {
    // 42 units flow in within 4.2 s: e^(−1) of 3 is 1.1, of the two nodes that are known.
    const [early, late] = [0, 3000].map((atMs) =>
      recentOf([
        [1, 3, atMs],
        [1, 0, 4200],
        [5, 2, 4200],
      ]),
    );
    expect([early.countBefore(5, 4200, BUCKET), late.countBefore(5, 4200, BUCKET)]).toEqual([1, 0]);
  });

  test('who comes is one piece behind the one that had the fewest, and nobody ever more than three', () => {
    const recent = recentOf([
      [1, 9, 1000],
      [2, 12, 1000],
    ]);
    const lagOf = (node: number) => recent.lagOfOthers(node, 1000, BUCKET);
    recent.charge(5, 0, 1000, BUCKET, 1);
    expect(lagOf(1)).toBeCloseTo(1, 9);
    for (let units = 0; units < 20; units++) for (const node of [1, 2]) recent.charge(node, 1, 1000, BUCKET, 1);
    expect(lagOf(1)).toBeCloseTo(21, 9);
    recent.charge(5, 0, 1000, BUCKET, 1);
    expect(lagOf(1)).toBeCloseTo(3, 9);
    expect(lagOf(5)).toBe(0);
  });

  test('a lag counts for four times as long, and what is behind by bytes is a piece of them', () => {
    const recent = recentOf([[1, 9000, 0]]);
    recent.charge(5, 0, 0, BUCKET, 1000);
    expect(recent.lagOfOthers(1, 0, BUCKET)).toBeCloseTo(1000, 9);
    expect(recent.lagOfOthers(1, 12_000, BUCKET)).toBeGreaterThan(0);
    expect(recent.lagOfOthers(1, 12_001, BUCKET)).toBe(0);
  });

  test('who has been silent for eight times as long is forgotten, and what is remembered stays bounded', () => {
    const recent = new RecentUse();
    const ofNobody = new RecentUse();
    // A thousand nodes that come and go: the fading depends on how many are remembered.
    for (let node = 10; node < 1010; node++) recent.charge(node, 1, node, BUCKET, 1);
    const lateMs = 1010 + 8 * 3000 + 1;
    recent.othersLately(5, lateMs, BUCKET);
    for (const each of [recent, ofNobody]) {
      each.charge(1, 10, lateMs, BUCKET, 1);
      each.charge(5, 5, lateMs + 3000, BUCKET, 1);
    }
    expect(look(recent, 5, lateMs + 3000)).toEqual(look(ofNobody, 5, lateMs + 3000));
    expect(look(recent, 5, lateMs + 3000)).toEqual({ active: 1, rank: 1 });
  });
});
