import { describe, expect, test } from 'vitest';
import { isolatedShare } from '../../../../src/core/account/lanes/isolation.js';
import { ISOLATION_POLICIES } from '../../../../src/core/base/vocabulary.js';

/** The worked example of the function's comment: target 900, N = 3, floors 3 each. */
const WORKED = { equalShare: 300, floor: 3 };

describe('share of a node that cannot hear itself', () => {
  test.each(ISOLATION_POLICIES)('%s: held is held', (policy) => {
    expect([500, 300, 100].map((held) => isolatedShare({ ...WORKED, link: 'held', policy, held }))).toEqual([
      500, 300, 100,
    ]);
  });

  test.each([
    { policy: 'equal-share' as const, shares: [300, 300, 100, 0] },
    { policy: 'floor' as const, shares: [3, 3, 3, 0] },
    { policy: 'closed' as const, shares: [0, 0, 0, 0] },
    { policy: 'open' as const, shares: [Infinity, Infinity, Infinity, Infinity] },
  ])('$policy: fallback', ({ policy, shares }) => {
    const fallback = (held: number) => isolatedShare({ ...WORKED, link: 'fallback', policy, held });
    expect([500, 300, 100, 0].map(fallback)).toEqual(shares);
  });

  test.each(['equal-share', 'floor', 'closed'] as const)('%s: nobody rises', (policy) => {
    for (const held of [0, 0.1, 2, 299, 301, 1e9]) {
      expect(isolatedShare({ ...WORKED, link: 'fallback', policy, held })).toBeLessThanOrEqual(held);
    }
  });
});
