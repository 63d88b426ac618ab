/** Where the Redis of the tests comes from; redis.ts says in which order. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type FetchedRedis, fetchRedis } from './redis-package.js';

const run = promisify(execFile);
const PROBE_TIMEOUT_MS = 5_000;

export const CONTAINER_IMAGE = 'redis:7';

export type RedisSource =
  | ({ readonly kind: 'program' } & FetchedRedis)
  | { readonly kind: 'container'; readonly engine: string };

export const WHAT_TO_INSTALL =
  'these tests need a Redis: install redis-server, or apt or pip to fetch one with, or start Docker or Podman; ' +
  'REDIS_URL=redis://host:port serves those that break nothing';

export interface RedisProbes {
  isInstalled(): Promise<boolean>;
  fetch(): Promise<FetchedRedis | { readonly reason: string }>;
  containerEngine(): Promise<string | null>;
}

const INSTALLED: FetchedRedis = { server: 'redis-server', libraries: null, hasTls: true };

let found: Promise<RedisSource | null> | undefined;

/** Null where there is none; the reason has been printed then. */
export function findRedis(): Promise<RedisSource | null> {
  found ??= chooseRedis(systemProbes).then((choice) => {
    if (!('reason' in choice)) return choice;
    console.log(`skipped: ${choice.reason}`);
    return null;
  });
  return found;
}

export async function chooseRedis(probes: RedisProbes): Promise<RedisSource | { readonly reason: string }> {
  if (await probes.isInstalled()) return { kind: 'program', ...INSTALLED };
  const fetched = await probes.fetch();
  if (!('reason' in fetched)) return { kind: 'program', ...fetched };
  const engine = await probes.containerEngine();
  if (engine !== null) return { kind: 'container', engine };
  return { reason: `${WHAT_TO_INSTALL} (${fetched.reason})` };
}

/**
 * What has to be preloaded into a server so that `CLOCK_FILE` moves its clock (moved-clock.c); null where there is no C
 * compiler, or where the server runs in a container.
 */
export async function buildMovedClock(folder: string): Promise<string | null> {
  if ((await findRedis())?.kind !== 'program') return null;
  const library = join(folder, 'moved-clock.so');
  const source = join(import.meta.dirname, 'moved-clock.c');
  return (await answers('cc', ['-shared', '-fPIC', '-O1', '-o', library, source])) ? library : null;
}

const systemProbes: RedisProbes = {
  isInstalled: () => answers('redis-server', ['--version']),
  fetch: fetchRedis,
  async containerEngine() {
    for (const engine of ['docker', 'podman']) if (await answers(engine, ['info'])) return engine;
    return null;
  },
};

async function answers(command: string, args: readonly string[]): Promise<boolean> {
  return run(command, [...args], { timeout: PROBE_TIMEOUT_MS, killSignal: 'SIGKILL' }).then(
    () => true,
    () => false,
  );
}
