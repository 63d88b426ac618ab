import { setTimeout as sleep } from 'node:timers/promises';
import { type RedisServer, startRedis } from './redis.js';

export const MASTER = 'quotamesh-test';
const READY_TIMEOUT_MS = 30_000;

/** A master, a replica of it, and three Sentinels that act when the master has been silent for a second. */
export interface SentinelSet {
  readonly servers: readonly [RedisServer, RedisServer];
  /** host:port of each Sentinel. */
  readonly addresses: readonly string[];
  /** The server that the Sentinels call the master now. */
  master(): Promise<RedisServer>;
  /** Resolves when the Sentinels have made the other one the master, and it takes writes. */
  untilMaster(server: RedisServer): Promise<void>;
  stop(): Promise<void>;
}

export async function startSentinels(): Promise<SentinelSet> {
  const first = await startRedis();
  const second = await startRedis({ config: [`replicaof 127.0.0.1 ${first.port}`] });
  const config = [
    `sentinel monitor ${MASTER} 127.0.0.1 ${first.port} 2`,
    `sentinel down-after-milliseconds ${MASTER} 1000`,
    `sentinel failover-timeout ${MASTER} 5000`,
  ];
  const sentinels = await Promise.all([0, 1, 2].map(() => startRedis({ sentinel: true, config })));
  const servers = [first, second] as const;
  const set: SentinelSet = {
    servers,
    addresses: sentinels.map(({ address }) => address),
    master: async () => {
      const answer = (await sentinels[0].command('SENTINEL', 'get-master-addr-by-name', MASTER)) as string[];
      return servers.find(({ port }) => port === Number(answer[1])) as RedisServer;
    },
    untilMaster: (server) =>
      until(async () => {
        return (await set.master()) === server && String(await server.command('ROLE')).startsWith('master');
      }, 'the failover'),
    stop: async () => {
      await Promise.all([...sentinels, ...servers].map((each) => each.stop()));
    },
  };
  try {
    await until(async () => (await knows(first)) && (await all(sentinels.map(isComplete))), 'the Sentinels');
  } catch (error) {
    await set.stop();
    throw error;
  }
  return set;
}

async function knows(master: RedisServer): Promise<boolean> {
  return /slave0:.*state=online/.test(String(await master.command('INFO', 'replication')));
}

async function isComplete(sentinel: RedisServer): Promise<boolean> {
  const flat = (await sentinel.command('SENTINEL', 'master', MASTER)) as string[];
  const fact = (name: string) => flat[flat.indexOf(name) + 1];
  return fact('num-slaves') === '1' && fact('num-other-sentinels') === '2';
}

async function all(answers: readonly Promise<boolean>[]): Promise<boolean> {
  return (await Promise.all(answers)).every(Boolean);
}

async function until(condition: () => Promise<boolean>, what: string): Promise<void> {
  const givenUpAt = performance.now() + READY_TIMEOUT_MS;
  while (!(await condition().catch(() => false))) {
    if (performance.now() > givenUpAt) throw new Error(`${what}: not within ${READY_TIMEOUT_MS} ms`);
    await sleep(25);
  }
}
