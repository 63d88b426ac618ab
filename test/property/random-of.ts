import { Random } from '../../sim/cluster/random.js';

/** Numbers from 0 to 1, the same for the same seed. */
export function randomOf(seed: number): () => number {
  const random = new Random(seed);
  return () => random.next();
}
