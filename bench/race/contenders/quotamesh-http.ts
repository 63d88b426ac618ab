import type { Contender } from '../contender.js';
import { HttpClient } from './http-client.js';
import { atOnce, burstOf } from './quotamesh.js';
import { startNodes } from './start-nodes.js';

/** A node process beside each process of the service, which asks it over HTTP on connections that are kept. */
export const contender: Contender = {
  name: 'quotamesh, HTTP',
  burstOf,
  atOnce,
  start: (limit) => startNodes(limit, 'http'),
  join: async (node, _limit, address) => {
    const client = new HttpClient((address as number[])[node]);
    return { ask: (key) => client.ask(key), close: async () => client.close() };
  },
};
