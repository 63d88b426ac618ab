import { Random } from '../../sim/cluster/random.js';

/** Random numbers of a benchmark: two runs of one seed read the same records. */
export class TrafficRandom extends Random {
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  /** Knuth's: a product of uniforms falls below e^−mean. Split, so that the exponential does not underflow. */
  poisson(mean: number): number {
    if (mean > 100) return this.poisson(100) + this.poisson(mean - 100);
    const limit = Math.exp(-mean);
    let count = 0;
    for (let product = this.next(); product > limit; product *= this.next()) count++;
    return count;
  }
}
