import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../../src/tools/processes/free-ports.js';
import { NodeProcess } from '../../../src/tools/processes/node-process.js';
import type { Contender } from '../contender.js';
import { HttpClient } from './http-client.js';
import { atOnce, burstOf, configOf } from './quotamesh.js';
import { redisStore } from './redis-store.js';

const STOP_MS = 5000;

/** A node process beside each process of the service, which asks it over HTTP on connections that are kept. */
export const contender: Contender = {
  name: 'quotamesh, HTTP',
  burstOf,
  atOnce,
  start: async (limit) => {
    const { redis, servers } = await redisStore();
    const folder = await mkdtemp(join(tmpdir(), 'quotamesh-race-'));
    const configFile = join(folder, 'node.yaml');
    await writeFile(configFile, JSON.stringify(configOf(limit, redis.port)));
    const ports = await freePorts(limit.nodes);
    const nodes = ports.map((port, node) => new NodeProcess({ id: `n${node}`, port, configFile }));
    const stop = async () => {
      await Promise.all(nodes.map(({ child }) => child.stop(STOP_MS)));
      await servers.stop();
      await rm(folder, { recursive: true, force: true });
    };
    try {
      await Promise.all(nodes.map((node) => node.ready()));
    } catch (error) {
      await stop();
      throw error;
    }
    const pids = () => [...servers.pids(), ...nodes.map(({ child }) => child.pid)];
    return { address: ports, pids, store: servers.store, stop };
  },
  join: async (node, _limit, address) => {
    const client = new HttpClient((address as number[])[node]);
    return { ask: (key) => client.ask(key), close: async () => client.close() };
  },
};
