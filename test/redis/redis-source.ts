/** Where the Redis of the tests comes from; redis.ts says in which order. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PROBE_TIMEOUT_MS = 5_000;
const INSTALL_TIMEOUT_MS = 300_000;

export const CONTAINER_IMAGE = 'redis:7';

export type RedisSource = { readonly kind: 'installed' } | { readonly kind: 'container'; readonly engine: string };

export const WHAT_TO_INSTALL =
  'these tests need a Redis: install redis-server and redis-sentinel (Debian: apt-get install redis-server ' +
  'redis-sentinel), or start Docker or Podman; REDIS_URL=redis://host:port serves those that break nothing';

let found: Promise<RedisSource | null> | undefined;

/** Null where there is none; then WHAT_TO_INSTALL is the reason to skip. */
export function findRedis(): Promise<RedisSource | null> {
  found ??= find();
  return found;
}

async function find(): Promise<RedisSource | null> {
  if (await isInstalled()) return { kind: 'installed' };
  for (const engine of ['docker', 'podman']) if (await answers(engine, ['info'])) return { kind: 'container', engine };
  const mayInstall = process.env.CI === 'true' && process.getuid?.() === 0 && existsSync('/etc/debian_version');
  if (mayInstall) {
    await install(['redis-server', 'redis-sentinel']);
    if (await isInstalled()) return { kind: 'installed' };
  }
  console.log(WHAT_TO_INSTALL);
  return null;
}

/**
 * What has to be preloaded into a server so that `CLOCK_FILE` moves its clock (moved-clock.c); null where there is no C
 * compiler, or where the server runs in a container.
 */
export async function buildMovedClock(folder: string): Promise<string | null> {
  if ((await findRedis())?.kind !== 'installed') return null;
  const library = join(folder, 'moved-clock.so');
  const source = join(import.meta.dirname, 'moved-clock.c');
  return (await answers('cc', ['-shared', '-fPIC', '-O1', '-o', library, source])) ? library : null;
}

async function isInstalled(): Promise<boolean> {
  return (await answers('redis-server', ['--version'])) && (await answers('redis-sentinel', ['--version']));
}

async function answers(command: string, args: readonly string[]): Promise<boolean> {
  return run(command, [...args], { timeout: PROBE_TIMEOUT_MS, killSignal: 'SIGKILL' }).then(
    () => true,
    () => false,
  );
}

async function install(packages: readonly string[]): Promise<void> {
  // A policy of 101 keeps Debian from starting the server that nobody has asked for.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const options = { timeout: INSTALL_TIMEOUT_MS, env };
  await run('apt-get', ['update', '-qq'], options);
  const flags = ['install', '-y', '-qq', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=240'];
  await run('apt-get', [...flags, ...packages], options);
}
