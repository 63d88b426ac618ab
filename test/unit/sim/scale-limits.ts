import { MESSAGES } from '../../../src/core/base/vocabulary.js';
import type { Limiter } from '../../../src/core/limiter/limiter.js';

/** Breaks a limiter: from now on it takes `factor` of each limit in messages for the whole. */
export function scaleLimits(limiter: Limiter, factor: number): void {
  const setLimit = limiter.setLimit.bind(limiter);
  limiter.setLimit = (lane, dimension, limit, ...others) => {
    setLimit(lane, dimension, dimension === MESSAGES ? limit * factor : limit, ...others);
  };
}
