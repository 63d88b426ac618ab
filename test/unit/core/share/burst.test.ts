import { expect, test } from 'vitest';
import { gateDepth, shareDepth } from '../../../../src/core/limiter/burst.js';

test.each([
  { says: '100 ms of a large limit', limit: 10_000, piece: 1, equalShare: 10_000, depth: 1000 },
  { says: 'at least 20 messages', limit: 50, piece: 1, equalShare: 333, depth: 20 },
  { says: 'at least 20 pieces of 500 bytes', limit: 10_000, piece: 500, equalShare: 333_000, depth: 10_000 },
  { says: 'the minimum is bounded by 250 ms of target/N', limit: 1, piece: 1, equalShare: 10, depth: 2.5 },
  { says: 'but never below one piece', limit: 0.1, piece: 1, equalShare: 0.3, depth: 1 },
  { says: 'a blocked limit still has a depth above 0', limit: 0, piece: 1, equalShare: 0, depth: 1 },
])('$says', ({ limit, piece, equalShare, depth }) => {
  expect(gateDepth(limit, piece, equalShare)).toBeCloseTo(depth, 9);
});

test.each([
  { says: 'with a demand as above', limit: 10, equalShare: 100, hasDemand: true, depth: 20 },
  { says: 'without one 100 ms of target/N', limit: 10, equalShare: 100, hasDemand: false, depth: 10 },
  { says: '100 ms of the limit all the same', limit: 500, equalShare: 100, hasDemand: false, depth: 50 },
  { says: 'and one piece', limit: 1, equalShare: 1, hasDemand: false, depth: 1 },
  { says: 'a second piece, half a second of target/N', limit: 1, equalShare: 1, hasDemand: true, depth: 1.5 },
  { says: 'and no more than one', limit: 1, equalShare: 5, hasDemand: true, depth: 2 },
  { says: 'until a quarter of a second is more', limit: 1, equalShare: 10, hasDemand: true, depth: 2.5 },
])('a share: $says', ({ limit, equalShare, hasDemand, depth }) => {
  expect(shareDepth(limit, { pieceSize: 1, equalShare, hasDemand })).toBeCloseTo(depth, 9);
});
