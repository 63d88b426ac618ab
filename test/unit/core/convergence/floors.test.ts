import { expect, test } from 'vitest';
import { liftTo } from '../../../../src/core/convergence/floors.js';

test.each([
  { says: 'nobody lies below: all stay', amounts: [60, 40], low: [10, 10], most: 90, out: [60, 40] },
  { says: 'there is room: nobody else loses', amounts: [10, 0], low: [0, 5], most: 100, out: [10, 5] },
  { says: 'one unit is missing', amounts: [10, 0], low: [0, 1], most: 100, out: [10, 1] },
  { says: 'just enough room', amounts: [10, 0], low: [0, 5], most: 15, out: [10, 5] },
  // 10 from 50 and 30 above the floors: an eighth of each.
  { says: 'no room: the others pay', amounts: [60, 40, 0], low: [10, 10, 10], most: 100, out: [53.75, 36.25, 10] },
  { says: 'half of it room', amounts: [60, 40, 0], low: [10, 10, 10], most: 105, out: [56.875, 38.125, 10] },
  { says: 'all that there is are floors', amounts: [100, 0], low: [50, 50], most: 100, out: [50, 50] },
  { says: 'all below their floors', amounts: [1, 2], low: [50, 50], most: 100, out: [50, 50] },
  { says: 'parts of one unit', amounts: [1, 0], low: [0, 0.5], most: 1, out: [0.5, 0.5] },
  // equal-residual gives more than the target for some rounds.
  {
    says: 'more was given than there is: no more by lifting',
    amounts: [100, 100, 0],
    low: [0, 0, 20],
    most: 100,
    out: [90, 90, 20],
  },
])('$says', ({ amounts, low, most, out }) => {
  const lifted = Float64Array.from(amounts);
  liftTo(lifted, Float64Array.from(low), amounts.length, most);
  lifted.forEach((amount, at) => {
    expect(amount).toBeCloseTo(out[at], 12);
  });
});
