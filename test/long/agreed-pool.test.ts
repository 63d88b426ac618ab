import { expect, test } from 'vitest';
import { runPool } from '../simulation/pool-swarm.js';

/** `POOL_SEEDS=100000` plays more at night. */
const SEEDS = Number(process.env.POOL_SEEDS ?? 2000);

test.each([
  { says: 'up to 20 nodes', seeds: SEEDS, most: 20, least: 1 },
  // Ten of 1,000 claims are lost and said again with the next heartbeat, so it takes a second and more.
  { says: '900 to 1,000 nodes', seeds: Math.ceil(SEEDS / 500), most: 1000, least: 900 },
])('pools of $says agree under 1 % loss and churn, $seeds seeds', ({ says, seeds, most, least }) => {
  const worst = { sum: 0, rounds: 0, recordsPerNodeAndSecond: 0 };
  const rounds: number[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    const run = runPool(seed, most, least);
    expect(run.divisors, `seed ${seed}`).toEqual(Array.from({ length: run.live }, () => run.live));
    expect(run.largestSum, `seed ${seed}`).toBeLessThanOrEqual(1 + 1e-9);
    rounds.push(run.rounds);
    worst.rounds = Math.max(worst.rounds, run.rounds);
    worst.sum = Math.max(worst.sum, run.largestSum);
    worst.recordsPerNodeAndSecond = Math.max(worst.recordsPerNodeAndSecond, run.recordsPerNodeAndSecond);
  }
  const median = rounds.sort((left, right) => left - right)[Math.floor(seeds / 2)];
  console.log(`agreed pools of ${says}: ${seeds} seeds, median ${median} rounds, worst ${JSON.stringify(worst)}`);
  // Two starts or ends a second, each one record more of every node, and a heartbeat a second.
  expect(worst.recordsPerNodeAndSecond).toBeLessThan(5);
});
