import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../../src/tools/processes/free-ports.js';
import { NodeProcess } from '../../../src/tools/processes/node-process.js';
import type { Limit, Servers } from '../contender.js';
import { configOf } from './quotamesh.js';
import { redisStore } from './redis-store.js';

const STOP_MS = 5000;

/** Starts a node process for each process of the service. `address` is that of its HTTP, or of its Envoy's door. */
export async function startNodes(limit: Limit, door: 'http' | 'envoy'): Promise<Servers> {
  const { redis, servers } = await redisStore();
  const folder = await mkdtemp(join(tmpdir(), 'quotamesh-race-'));
  const [ports, doors] = [await freePorts(limit.nodes), await freePorts(limit.nodes)];
  const nodes = await Promise.all(
    ports.map(async (port, node) => {
      const configFile = join(folder, `${node}.yaml`);
      const envoy = door === 'envoy' ? { envoy: { listen: `127.0.0.1:${doors[node]}` } } : {};
      await writeFile(configFile, JSON.stringify({ ...configOf(limit, redis.port), ...envoy }));
      return new NodeProcess({ id: `n${node}`, port, configFile });
    }),
  );
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
  return { address: door === 'http' ? ports : doors, pids, store: servers.store, stop };
}
