import { describe, expect, test } from 'vitest';
import { type Unsettled, unsettledShare } from '../../../../src/core/account/share/unsettled-share.js';

/** A node that decided in the old log and has read its own records back in the new one. */
const KEPT: Unsettled = {
  held: 300,
  floor: 1,
  computed: 870,
  target: 900,
  quota: 1000,
  pool: null,
  keepsShares: true,
  isOwnRead: true,
};
const NOT_SERVED = Infinity;

describe('the share while the new log does not say everything yet', () => {
  test.each<Partial<Unsettled> & { says: string; share: number }>([
    { says: 'nobody rises: the worked numbers', share: 300 },
    { says: 'whoever computes less than it held falls', computed: 200, share: 200 },
    {
      says: 'before its own records are read back, what is computed counts nothing',
      isOwnRead: false,
      computed: 0,
      share: 300,
    },
    { says: '… and the quota bounds what was held', isOwnRead: false, held: 5000, share: 1000 },
    { says: 'a lane not served in the old log has its floor', held: NOT_SERVED, share: 1 },
    { says: '… or what is computed, where that is less', held: NOT_SERVED, computed: 0.5, share: 0.5 },
    {
      says: '… its floor too before its records are read back',
      held: NOT_SERVED,
      isOwnRead: false,
      computed: 0,
      share: 1,
    },
    {
      says: 'a node that has begun in the new log has its floor, whatever it was given before',
      keepsShares: false,
      share: 1,
    },
    { says: '… or what is computed, where that is less', keepsShares: false, computed: 0.5, share: 0.5 },
    { says: 'a pool: no more than was held', pool: 2, computed: 0, share: 300 },
    { says: '… and no more than the target by the larger pool', pool: 4, computed: 0, share: 225 },
    {
      says: '… by the quota while ramps may be missing',
      pool: 4,
      computed: 0,
      isOwnRead: false,
      held: 800,
      share: 250,
    },
    { says: '… a newcomer to a pool has its floor', pool: 4, keepsShares: false, share: 1 },
    { says: 'an unlimited target is the quota', target: Infinity, quota: 1000, share: 1000 },
    { says: 'a blocked group stays blocked', quota: 0, share: 0 },
  ])('$says', ({ says: _, share, ...own }) => {
    expect(unsettledShare({ ...KEPT, ...own })).toBe(share);
  });
});
