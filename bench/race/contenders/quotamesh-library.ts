import { createNode } from '../../../src/index.js';
import type { Contender } from '../contender.js';
import { atOnce, burstOf, configOf } from './quotamesh.js';
import { redisStore } from './redis-store.js';

/** A node in the process of the service, on the same store as the others. */
export const contender: Contender = {
  name: 'quotamesh, library',
  burstOf,
  atOnce,
  start: async () => (await redisStore()).servers,
  join: async (node, limit, address) => {
    const joined = await createNode({ nodeId: `n${node}`, config: configOf(limit, Number(address)), env: {} });
    return {
      ask: (key) => {
        const { granted, ...refusal } = joined.tryAcquire(key, { messages: 1 });
        if (!granted && !('reason' in refusal && refusal.reason === 'quota')) throw new Error(JSON.stringify(refusal));
        return granted;
      },
      close: () => joined.close(),
    };
  },
};
