import { expect, test } from 'vitest';
import { waterLevelOf } from '../../../../src/core/convergence/water-level-of.js';

const UNKNOWN = Infinity;

test.each([
  [500, [800, 100], 400],
  [500, [800, 800], 250],
  [500, [UNKNOWN, UNKNOWN, 100], 200],
  [500, [UNKNOWN], 500],
  [500, [UNKNOWN, 0, 0], 500],
  [100, [10, 80, 80], 45],
  [0, [10, 80], 0],
])('of %d, wants of %j: %d each', (capacity, demands, waterLevel) => {
  expect(waterLevelOf(demands, capacity)).toBeCloseTo(waterLevel, 9);
});

test.each([
  [500, [300, 100]],
  [500, [500]],
  [500, []],
  [500, [0, 0]],
])('of %d, wants of %j: enough for all', (capacity, demands) => {
  expect(waterLevelOf(demands, capacity)).toBe(Infinity);
});
