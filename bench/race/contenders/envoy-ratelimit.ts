import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../../../src/tools/processes/free-ports.js';
import { type GuardedProcess, startGuarded } from '../../../test/kafka/guarded-process.js';
import type { Contender, Servers } from '../contender.js';
import { goProgram, RATELIMIT } from './go-program.js';
import { RateLimitClient } from './rate-limit-client.js';
import { redisStore } from './redis-store.js';

const DOMAIN = 'race';
const READY_TIMEOUT_MS = 20_000;
const POLL_MS = 50;

/** The service that Envoy asks for global limits, on a Redis, asked as Envoy does: gRPC on one connection a node. */
export const contender: Contender = {
  name: 'envoyproxy/ratelimit',
  burstOf: ({ perSecond }) =>
    `a window of 1 s, its least, by the clock: ${perSecond} at once, ${2 * perSecond} around its edge (${RATELIMIT.version})`,
  atOnce: ({ perSecond }) => perSecond,
  start: async ({ perSecond }) => {
    const program = await goProgram(RATELIMIT);
    const { redis, servers } = await redisStore();
    const folder = await mkdtemp(join(tmpdir(), 'quotamesh-race-'));
    await mkdir(join(folder, 'ratelimit/config'), { recursive: true });
    const rule = { key: 'key', rate_limit: { unit: 'second', requests_per_unit: perSecond } };
    await writeFile(
      join(folder, 'ratelimit/config/race.yaml'),
      JSON.stringify({ domain: DOMAIN, descriptors: [rule] }),
    );
    const [http = 0, grpc = 0, debug = 0] = await freePorts(3);
    const variables = {
      PORT: http,
      GRPC_PORT: grpc,
      DEBUG_PORT: debug,
      HOST: '127.0.0.1',
      GRPC_HOST: '127.0.0.1',
      REDIS_SOCKET_TYPE: 'tcp',
      REDIS_URL: redis.address,
      USE_STATSD: false,
      LOG_LEVEL: 'error',
      RUNTIME_ROOT: folder,
      RUNTIME_SUBDIRECTORY: 'ratelimit',
      RUNTIME_WATCH_ROOT: false,
    };
    const settings = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
    const service = await startGuarded('env', [...settings, program], `rm -rf '${folder}'`);
    return withService(servers, service, folder, grpc, http);
  },
  join: async (_node, { key }, address) => {
    const client = new RateLimitClient(Number(address), DOMAIN, key);
    await client.connected;
    return { ask: () => client.ask(), close: async () => client.close() };
  },
};

async function withService(
  servers: Servers,
  service: GuardedProcess,
  folder: string,
  grpc: number,
  http: number,
): Promise<Servers> {
  const stop = async () => {
    service.signal('SIGKILL');
    await service.ended;
    await servers.stop();
    await rm(folder, { recursive: true, force: true });
  };
  const givenUpAt = performance.now() + READY_TIMEOUT_MS;
  while (!(await isHealthy(http))) {
    if (!service.isRunning() || performance.now() > givenUpAt) {
      await stop();
      throw new Error(`envoyproxy/ratelimit does not start: ${service.errorLines()}`);
    }
    await sleep(POLL_MS);
  }
  return { address: grpc, pids: () => [...servers.pids(), service.pid], store: servers.store, stop };
}

function isHealthy(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/healthcheck`).then(
    ({ ok }) => ok,
    () => false,
  );
}
