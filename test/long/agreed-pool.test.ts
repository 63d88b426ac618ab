import { expect, test } from 'vitest';
import { runPool } from '../simulation/pool-swarm.js';

const SEEDS = Number(process.env.POOL_SEEDS ?? 10_000);

test(`pools of up to 20 nodes agree under 1 % loss and churn, ${SEEDS} seeds`, () => {
  const worst = { sum: 0, settledMs: 0, recordsPerSecond: 0 };
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { largestSum, settledMs, divisors, live, records } = runPool(seed, 20);
    expect(divisors, `seed ${seed}`).toEqual(Array.from({ length: live }, () => live));
    expect(largestSum, `seed ${seed}`).toBeLessThanOrEqual(1 + 1e-9);
    worst.settledMs = Math.max(worst.settledMs, settledMs);
    worst.sum = Math.max(worst.sum, largestSum);
    worst.recordsPerSecond = Math.max(worst.recordsPerSecond, records / 35);
  }
  console.log(`agreed pools: ${SEEDS} seeds, worst ${JSON.stringify(worst)}`);
});
