import { expect, test } from 'vitest';
import { SlotTokens } from '../../../../src/core/account/slot-tokens.js';

test.each([
  [0, 3],
  [2, 1],
  [-4, 7],
  // It has been looked at and was not refused, so the next threshold is the one that counts.
  [3, 2],
  [4.5, 0.5],
  [5, Infinity],
  [9, Infinity],
])('%d units unpublished: %d more until a look is due', (taken, more) => {
  const slot = new SlotTokens();
  slot.bucket = { perSecond: 1000, depth: 100 };
  slot.shortThreshold = 3;
  slot.takenThreshold = 5;
  slot.account.take(taken);
  expect(slot.untilPublished).toBe(more);
});

test('where there is no bucket, no look is due', () => {
  expect(new SlotTokens().untilPublished).toBe(Infinity);
});
