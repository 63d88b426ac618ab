/** Random numbers that a seed repeats (mulberry32): two runs of a benchmark read the same records. */
export interface Random {
  /** 0 ≤ unit < 1 */
  unit(): number;
  below(count: number): number;
  poisson(mean: number): number;
}

export function createRandom(seed: number): Random {
  let state = seed;
  const unit = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const below = (count: number) => Math.floor(unit() * count);
  /** Knuth's: a product of uniforms falls below e^−mean. Split, so that the exponential does not underflow. */
  const poisson = (mean: number): number => {
    if (mean > 100) return poisson(100) + poisson(mean - 100);
    const limit = Math.exp(-mean);
    let count = 0;
    for (let product = unit(); product > limit; product *= unit()) count++;
    return count;
  };
  return { unit, below, poisson };
}
