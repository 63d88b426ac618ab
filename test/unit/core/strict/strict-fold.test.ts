import { describe, expect, test } from 'vitest';
import { EXPIRY_MS, LEAD_MS } from '../../../../src/core/strict/constants.js';
import { StrictFold } from '../../../../src/core/strict/strict-fold.js';
import type { StrictQuota } from '../../../../src/core/strict/strict-quota.js';
import type { StrictClaim, StrictRecord } from '../../../../src/core/strict/strict-record.js';
import { emptyState } from '../../../../src/core/strict/strict-state.js';

const HOUR_MS = 3_600_000;
/** Three tokens, one in 7 s: nothing flows by itself while a table is read. */
const SMALL: StrictQuota = { amount: 1, perMs: 7000, depth: 3 };

/** Folds records `[time, record]`; the bucket is founded at 0, and filled first. */
function folded(quota: StrictQuota, records: readonly (readonly [number, StrictRecord])[]): StrictFold {
  const fold = new StrictFold({ ...emptyState(quota, 1), appendMs: 0, pool: quota.depth * quota.perMs });
  for (const [at, [appendMs, record]] of records.entries()) fold.apply({ offset: at + 1, appendMs, record });
  return fold;
}

function claim(node: string, seq: number, taken: number, hold: number, want = 0): StrictClaim {
  return { kind: 'claim', node, life: 1, seq, want, lagMs: 10, taken, hold };
}

/** Node → what it has been granted, and what it may hold. */
function heldIn(fold: StrictFold): Record<string, readonly [taken: number, hold: number]> {
  return Object.fromEntries([...fold.holders.values()].map(({ node, taken, hold }) => [node, [taken, hold]]));
}

describe('3 tokens', () => {
  test.each([
    {
      says: 'the order of the log decides, and the second gets the rest',
      records: [claim('a', 1, 2, 2), claim('b', 1, 2, 2)],
      held: { a: [2, 2], b: [1, 1] },
      pool: 0,
    },
    {
      says: 'a return is there for the next order',
      records: [claim('a', 1, 2, 2), claim('a', 2, 1, 1), claim('b', 1, 2, 2)],
      held: { a: [1, 1], b: [2, 2] },
      pool: 0,
    },
    {
      says: 'what is held and not full is kept free: b gets what a leaves',
      records: [claim('a', 1, 2, 2), claim('a', 2, 1, 2), claim('b', 1, 2, 2)],
      held: { a: [1, 2], b: [1, 1] },
      pool: 0,
    },
    {
      says: 'a repeated claim, and one that comes after a newer one, change nothing',
      records: [claim('a', 2, 1, 1), claim('a', 2, 1, 1), claim('a', 1, 3, 3)],
      held: { a: [1, 1] },
      pool: 2,
    },
    {
      says: 'a lost order is published by the next claim, as the sum',
      records: [claim('a', 1, 1, 1), claim('a', 3, 3, 3)],
      held: { a: [3, 3] },
      pool: 0,
    },
    {
      says: 'who was never granted anything gives nothing back',
      records: [claim('a', 1, 3, 3), claim('b', 1, -2, 0)],
      held: { a: [3, 3] },
      pool: 0,
    },
    {
      says: 'who leaves gives back what it says',
      records: [claim('a', 1, 3, 3), { kind: 'leave', node: 'a', life: 1, seq: 2, taken: 1 } as const],
      held: {},
      pool: 2,
    },
    {
      says: 'a life that has ended gets nothing more',
      records: [
        { ...claim('a', 1, 1, 1) },
        { kind: 'leave', node: 'a', life: 1, seq: 2, taken: 0 } as const,
        claim('a', 3, 2, 2),
      ],
      held: {},
      pool: 3,
    },
  ])('$says', ({ records, held, pool }) => {
    const fold = folded(
      SMALL,
      records.map((record) => [0, record]),
    );
    expect(heldIn(fold)).toEqual(held);
    expect(fold.pool / SMALL.perMs).toBe(pool);
  });
});

test('time brings whole units: 7 s are a token, 6,999 ms are none, and what overflows leaves no remainder', () => {
  const join = { kind: 'join', node: 'z', life: 1 } as const;
  const emptied = [0, claim('a', 1, 3, 3)] as const;
  const lowered = [0, claim('a', 2, 3, 0)] as const;
  const order = (ms: number) => folded(SMALL, [emptied, lowered, ...steps(ms), [ms, claim('b', 1, 1, 1)]]);
  expect(heldIn(order(6999)).b).toEqual([0, 0]);
  expect(heldIn(order(7000)).b).toEqual([1, 1]);
  // Full at 21,000: of the 999 ms more nothing is left behind.
  const full = folded(SMALL, [emptied, lowered, ...steps(21_999)]);
  expect(full.pool).toBe(21_000);

  function steps(toMs: number): (readonly [number, StrictRecord])[] {
    return Array.from({ length: Math.ceil(toMs / 2000) }, (_, at) => [Math.min(toMs, (at + 1) * 2000), join] as const);
  }
});

describe('a silent holder', () => {
  const join = { kind: 'join', node: 'z', life: 1 } as const;
  const silent = [
    [0, claim('a', 1, 3, 3)],
    [2000, join],
    [4000, join],
  ] as const;
  const expire = { kind: 'expire', node: 'a', life: 1, seq: 1 } as const;

  test.each([
    { says: 'ends by a record after an expiry', records: [[EXPIRY_MS, expire]], held: {} },
    { says: 'does not end sooner', records: [[EXPIRY_MS - 1, expire]], held: { a: [3, 3] } },
    {
      says: 'does not end by time alone',
      records: [
        [6000, join],
        [8000, join],
      ],
      held: { a: [3, 3] },
    },
    {
      says: 'goes on if a record of it precedes',
      records: [
        [EXPIRY_MS, claim('a', 2, 3, 3)],
        [EXPIRY_MS, expire],
      ],
      held: { a: [3, 3] },
    },
  ] as const)('$says', ({ records, held }) => {
    const all: (readonly [number, StrictRecord])[] = [...silent, ...records];
    expect(heldIn(folded(SMALL, all))).toEqual(held);
  });

  test('that has ended leaves its room, and not its tokens', () => {
    const fold = folded(SMALL, [...silent, [EXPIRY_MS, expire]]);
    expect(fold.pool).toBe(0);
    expect(fold.poolMost).toBe(21_000);
  });
});

describe('3 slots', () => {
  const SLOTS: StrictQuota = { amount: 0, perMs: 1, depth: 3, slots: true };
  const holdsIn = (fold: StrictFold) => [...fold.holders.values()].map(({ hold }) => hold);

  test.each([
    { says: 'the second gets the rest', records: [claim('a', 1, 0, 2), claim('b', 1, 0, 2)], holds: [2, 1] },
    {
      says: 'what one lowers another may hold',
      records: [claim('a', 1, 0, 3), claim('a', 2, 0, 1), claim('b', 1, 0, 2)],
      holds: [1, 2],
    },
    {
      says: 'who leaves frees all',
      records: [
        claim('a', 1, 0, 3),
        { kind: 'leave', node: 'a', life: 1, seq: 2, taken: 0 } as const,
        claim('b', 1, 0, 3),
      ],
      holds: [3],
    },
    {
      says: 'a late claim raises nothing',
      records: [claim('a', 2, 0, 1), claim('b', 1, 0, 2), claim('a', 1, 0, 3)],
      holds: [1, 2],
    },
  ])('$says', ({ records, holds }) => {
    const fold = folded(
      SLOTS,
      records.map((record) => [0, record]),
    );
    expect(holdsIn(fold)).toEqual(holds);
    expect(fold.pool + fold.heldTokens).toBe(3);
  });

  test('what a silent node holds is free after an expiry by record', () => {
    const join = { kind: 'join', node: 'z', life: 1 } as const;
    const expire = { kind: 'expire', node: 'a', life: 1, seq: 1 } as const;
    const silent = [
      [0, claim('a', 1, 0, 3)],
      [2000, join],
      [4000, join],
    ] as const;
    const fold = folded(SLOTS, [...silent, [EXPIRY_MS, expire], [EXPIRY_MS, claim('b', 1, 0, 3)]]);
    expect(holdsIn(fold)).toEqual([3]);
  });
});

test('a lowered quota is in force when holders fit into it and no stream follows the former one', () => {
  const join = { kind: 'join', node: 'z', life: 1 } as const;
  const change = { kind: 'quota', revision: 2, amount: 1, depth: 2 } as const;
  const until = (ms: number, ...more: (readonly [number, StrictRecord])[]) =>
    folded(SMALL, [[0, claim('a', 1, 3, 3)], [0, change], ...more, [2000, join], [ms, join]]).inForce.depth;
  expect(until(3000)).toBe(3);
  expect(until(1000, [0, claim('a', 2, 2, 2)])).toBe(2);
  expect(until(LEAD_MS + 200, [0, claim('a', 2, 2, 2)])).toBe(2);
  expect(
    folded(SMALL, [
      [0, claim('a', 1, 3, 3)],
      [0, change],
      [0, claim('a', 2, 2, 2)],
    ]).inForce.depth,
  ).toBe(3);
});

test('a raised quota is in force at once', () => {
  const fold = folded(SMALL, [[0, { kind: 'quota', revision: 2, amount: 2, depth: 5 }]]);
  expect(fold.inForce).toEqual({ amount: 2, depth: 5 });
});

test('streams follow what is wanted a lead later, in units per millisecond', () => {
  const quota = { amount: HOUR_MS, perMs: HOUR_MS, depth: 300 };
  const fold = folded(quota, [
    [0, claim('a', 1, 0, 20, 900_000)],
    [0, claim('b', 1, 0, 20, 3_600_000)],
  ]);
  expect(fold.rateAt('a/1', LEAD_MS - 1)).toBe(0);
  expect(fold.rateAt('a/1', LEAD_MS)).toBe(900_000);
  expect(fold.rateAt('b/1', LEAD_MS)).toBe(2_700_000);
});

test('the state is all there is: who goes on from it holds the same', () => {
  const records = [claim('a', 1, 2, 2), claim('b', 1, 2, 2), claim('a', 2, 0, 1)];
  const fold = folded(
    SMALL,
    records.slice(0, 2).map((record) => [5, record]),
  );
  const other = new StrictFold(JSON.parse(JSON.stringify(fold.state)));
  for (const each of [fold, other]) each.apply({ offset: 3, appendMs: 900, record: records[2] });
  expect(other.state).toEqual(fold.state);
});
