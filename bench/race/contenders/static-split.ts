import { type Contender, NO_SERVERS } from '../contender.js';
import { TokenBucket } from '../token-bucket.js';

/** Every node an equal part of quota and burst, for ever. */
export const contender: Contender = {
  name: 'static split',
  burstOf: ({ burst, nodes }) => `a bucket of ${burst} ÷ ${nodes} at each node`,
  atOnce: ({ burst, nodes }, nodesAsked) => (burst * nodesAsked) / nodes,
  start: async () => NO_SERVERS,
  join: async (_node, { perSecond, burst, nodes }) => {
    const bucket = new TokenBucket(perSecond / nodes, burst / nodes);
    return { ask: () => bucket.take(performance.now()), close: async () => undefined };
  },
};
