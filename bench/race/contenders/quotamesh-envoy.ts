import type { Contender } from '../contender.js';
import { atOnce, burstOf } from './quotamesh.js';
import { RateLimitClient } from './rate-limit-client.js';
import { startNodes } from './start-nodes.js';

/** A node process beside each process of the service, which asks it as Envoy asks a rate limit service. */
export const contender: Contender = {
  name: "quotamesh, Envoy's rate limit service",
  burstOf,
  atOnce,
  start: (limit) => startNodes({ ...limit, key: nameOf(limit.key) }, 'envoy'),
  join: async (node, { key }, address) => {
    const client = new RateLimitClient((address as number[])[node], DOMAIN, key);
    await client.connected;
    return { ask: () => client.ask(), close: async () => client.close() };
  },
};

const DOMAIN = 'race';

/** Names the group that limits the descriptor (key, value). */
function nameOf(value: string): string {
  return `${DOMAIN}/key:${value}`;
}
