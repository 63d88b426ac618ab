import { expect, test } from 'vitest';
import { medianOf } from '../../../src/tools/load/quantile.js';
import { someOf } from '../../property/seed.js';
import { figuresOf } from './figures.js';

/** Nothing was tuned to these; test/long/tokens.test.ts plays sixteen. */
const SEEDS = someOf([9102, 9103]);

const PLAYED = [5, 50].flatMap((deliveryMs) => [3, 5, 10].map((nodes) => ({ nodes, deliveryMs })));
const SAYS = 'demand that moves every second, $nodes nodes, delivery in $deliveryMs ms: as exact as one central bucket';

test.each(someOf(PLAYED))(SAYS, ({ nodes, deliveryMs }) => {
  const all = SEEDS.map((seed) => figuresOf(seed, nodes, deliveryMs));
  for (const { over5s, used, reportsPerSecond } of all) {
    expect(over5s).toBeLessThanOrEqual(0.025);
    expect(used).toBeGreaterThanOrEqual(0.99);
    expect(reportsPerSecond).toBeLessThanOrEqual(0.5);
  }
  expect(medianOf(all.map(({ secondBesideCentral }) => secondBesideCentral))).toBeLessThanOrEqual(0.05);
});
