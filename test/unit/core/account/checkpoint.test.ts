import { expect, test } from 'vitest';
import { type Checkpoint, stockNow } from '../../../../src/core/account/checkpoint.js';

const HOURLY = { perSecond: 60 / 3600, depth: 60, pieceOfEach: 0 };

/** A row of ten minutes ago, of which its author had nothing unread. */
function row(of: Partial<Checkpoint>): Checkpoint {
  const usual = { author: null, charge: 0, stock: 60, unread: 0, offset: 0, readUntil: 0, spanMs: 600_000, pauseMs: 0 };
  return { ...usual, ...of };
}

test.each<[what: string, rows: readonly Checkpoint[], stock: number]>([
  ['no row', [], 60],
  ['rows without a stock', [row({ stock: Number.NaN })], 60],
  ['the only row, and its unread charge', [row({ stock: 10, unread: 2 })], 18],
  [
    'an author that had read the other row',
    [row({ stock: 30, offset: 5 }), row({ stock: 20, offset: 9, readUntil: 6 })],
    30,
  ],
  [
    'one that had not: what the other has charged counts, too',
    [row({ stock: 30, unread: 5, offset: 5 }), row({ stock: 20, offset: 9, readUntil: 5 })],
    25,
  ],
  [
    'what came back after the other row',
    [row({ stock: 0, offset: 5 }), row({ stock: 40, offset: 9, readUntil: 6 })],
    50,
  ],
  ['no more than the depth', [row({ stock: 55 })], 60],
])('a stock is restored from %s', (_, rows, stock) => {
  expect(stockNow(rows, HOURLY, 0)).toBeCloseTo(stock, 9);
});

test('a debt of a larger bucket is paid by the inflow since, whatever a smaller one may owe', () => {
  const lowered = { perSecond: 1, depth: 6, pieceOfEach: 0 };
  const after = (spanMs: number) => stockNow([row({ stock: -89, unread: 60, spanMs })], lowered, 0);
  // At most four depths of it count at a node that begins then.
  expect([after(10_000), after(62_000), after(70_000), after(200_000)]).toEqual([-24, -24, -19, 6]);
});
