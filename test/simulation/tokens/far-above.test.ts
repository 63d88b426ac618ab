import { expect, test } from 'vitest';
import { someOf } from '../../property/seed.js';
import { GROUP } from '../settings.js';
import { poisson } from './arrivals.js';
import { central, mostIn, play } from './play.js';

const SECONDS = 600;
const DEPTH = 60;
const burst = { ...GROUP.burst, messages: DEPTH };

/** Messages per second at each of three nodes, of 1/s; `most` records per second and node: 0.39 in pieces. */
const DEMANDS = [
  { name: 'is even', most: 0.2, rateOf: () => 2 / 3 },
  { name: 'ends each minute', most: 0.3, rateOf: (ms: number) => (Math.floor(ms / 30_000) % 2 === 0 ? 1 : 0.15) },
];

test.each(someOf(DEMANDS))('a key of 60 per minute writes no record for each message: demand $name', (demand) => {
  for (const seed of [1, 2, 3]) {
    const scene = poisson(seed, 3, 1, SECONDS, demand.rateOf);
    const { admitted, reportsPerSecond } = play(scene, { group: { burst } });
    const exact = central(scene, DEPTH);
    expect(admitted.length / exact.length, `used, seed ${seed}`).toBeGreaterThan(0.97);
    expect(mostIn(admitted, 60_000), `in a minute, seed ${seed}`).toBeLessThanOrEqual(60 + DEPTH + 3);
    expect(reportsPerSecond, `records, seed ${seed}`).toBeLessThan(demand.most);
  }
});
