import type { StrictHolder } from './strict-state.js';

/**
 * Divides a rate among streams in whole units: max-min over what the lives want; what is left goes to all while the
 * pool is full, half of it in equal parts, half by want. Σ ≤ `rate`, exactly.
 *
 * *Worked:* 100 for wants of 10/80/80: 10/45/45. 100 for 10/20, full: 70 are left, of which 35 go in equal parts and 35
 * by want: 10 + 17 + 11 and 20 + 17 + 24; one is lost to whole numbers.
 */
export function streamRates(holders: readonly StrictHolder[], rate: number, isFull: boolean): number[] {
  const wanted = holders.reduce((sum, { want }) => sum + want, 0);
  if (wanted > rate) {
    const level = waterLevelOf(holders, rate);
    return holders.map(({ want }) => Math.min(want, level));
  }
  const left = isFull && wanted > 0 ? rate - wanted : 0;
  const equal = Math.floor(left / 2 / holders.length);
  const byWant = Math.floor(left / 2);
  // Parts between rounded sums add up to the whole, whatever a division lacks.
  let sum = 0;
  let given = 0;
  return holders.map(({ want }) => {
    sum += want;
    const before = given;
    given = left > 0 ? Math.floor(byWant * (sum / wanted)) : 0;
    return want + equal + given - before;
  });
}

/** Finds the greatest whole L with Σ min(want, L) ≤ rate. Requires Σ want > rate. */
function waterLevelOf(holders: readonly StrictHolder[], rate: number): number {
  const wants = holders.map(({ want }) => want).sort((left, right) => left - right);
  let left = rate;
  for (const [at, want] of wants.entries()) {
    const level = Math.floor(left / (wants.length - at));
    if (want > level) return level;
    left -= want;
  }
  return rate;
}
