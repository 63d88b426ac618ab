import { type Contender, NO_SERVERS } from '../contender.js';

/** The harness by itself: what it adds to every other row. */
export const contender: Contender = {
  name: 'no limit',
  burstOf: () => 'everything',
  atOnce: () => Infinity,
  start: async () => NO_SERVERS,
  join: async () => ({ ask: () => true, close: async () => undefined }),
};
