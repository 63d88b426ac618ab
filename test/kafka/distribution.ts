/**
 * Where the broker of the tests comes from: a folder of jars that Maven fetches once into the cache of the user,
 * outside the tree, or a container engine. See kafka.ts for the order.
 */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const KAFKA_VERSION = '4.3.0';
export const CONTAINER_IMAGE = `apache/kafka:${KAFKA_VERSION}`;

/** Old enough for Debian 12 (17), new enough for Kafka 4.x brokers. */
const JAVA_MAJOR_MIN = 17;
/** 5 s with a warm mirror; a first fetch over a slow line takes longer than any test would wait. */
const FETCH_TIMEOUT_MS = 300_000;
const INSTALL_TIMEOUT_MS = 300_000;
const ENGINE_TIMEOUT_MS = 5_000;

export type Distribution =
  | { readonly kind: 'java'; readonly classPath: string }
  | { readonly kind: 'container'; readonly engine: string };

/** What to do when there is neither: one line. */
export const WHAT_TO_INSTALL =
  `these tests need a Kafka: set KAFKA_BOOTSTRAP=host:port, or install Java ${JAVA_MAJOR_MIN} or newer and Maven ` +
  '(Debian: apt-get install default-jre-headless maven), or start Docker or Podman';

export interface Probes {
  hasJava(): Promise<boolean>;
  hasMaven(): Promise<boolean>;
  /** The jars have been fetched before; Maven is not needed then. */
  isCached(): Promise<boolean>;
  /** Name of an engine that answers, or null. */
  containerEngine(): Promise<string | null>;
  mayInstall(): boolean;
  install(): Promise<void>;
}

let found: Promise<Distribution> | undefined;

export function findDistribution(): Promise<Distribution> {
  found ??= chooseSource(systemProbes).then(async (source) =>
    source === 'java'
      ? { kind: 'java', classPath: join(await fetchJars(KAFKA), '*') }
      : { kind: 'container', engine: source },
  );
  return found;
}

/** The jar of the JMX exporter, which runs in the broker's JVM. */
export async function exporterAgent({ kind }: Distribution): Promise<string> {
  if (kind !== 'java') throw new Error(`the JMX exporter of these tests needs Java: ${WHAT_TO_INSTALL}`);
  const folder = await fetchJars(EXPORTER);
  const jar = (await readdir(folder)).find((name) => name.startsWith('jmx_prometheus_javaagent'));
  if (jar === undefined) throw new Error(`no JMX exporter in ${folder}`);
  return join(folder, jar);
}

/** 'java', or the name of a container engine; throws the one line that says what to install. */
export async function chooseSource(probes: Probes): Promise<string> {
  if (await hasToolchain(probes)) return 'java';
  const engine = await probes.containerEngine();
  if (engine) return engine;
  if (probes.mayInstall()) {
    await probes.install();
    if (await hasToolchain(probes)) return 'java';
  }
  throw new Error(WHAT_TO_INSTALL);
}

async function hasToolchain(probes: Probes): Promise<boolean> {
  return (await probes.hasJava()) && ((await probes.isCached()) || (await probes.hasMaven()));
}

const systemProbes: Probes = {
  async hasJava() {
    const output = await outputOf('java', ['-version']);
    const major = /version "(\d+)/.exec(output ?? '')?.[1];
    return Number(major ?? 0) >= JAVA_MAJOR_MIN;
  },
  async hasMaven() {
    return (await outputOf('mvn', ['-v'])) !== null;
  },
  async isCached() {
    return existsSync(await cacheFolder(KAFKA));
  },
  async containerEngine() {
    for (const engine of ['docker', 'podman']) if ((await outputOf(engine, ['info'])) !== null) return engine;
    return null;
  },
  mayInstall() {
    return process.env.CI === 'true' && process.getuid?.() === 0 && existsSync('/etc/debian_version');
  },
  async install() {
    const options = { timeout: INSTALL_TIMEOUT_MS, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
    await run('apt-get', ['update', '-qq'], options);
    // Another test process may be at it.
    const flags = ['install', '-y', '-qq', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=240'];
    await run('apt-get', [...flags, 'default-jre-headless', 'maven'], options);
  },
};

async function outputOf(command: string, args: readonly string[]): Promise<string | null> {
  try {
    const { stdout, stderr } = await run(command, [...args], { timeout: ENGINE_TIMEOUT_MS, killSignal: 'SIGKILL' });
    return stdout + stderr;
  } catch {
    return null;
  }
}

/** Runs that fetch at the same time each fetch into a folder of their own; the first rename wins. */
export async function fetchJars(jars: Jars): Promise<string> {
  const folder = await cacheFolder(jars);
  if (existsSync(folder)) return folder;
  const own = `${folder}.${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    await mkdir(own, { recursive: true });
    await copyFile(jars.pom, join(own, 'pom.xml'));
    const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${own}`];
    await run('mvn', ['-q', '-B', '-f', join(own, 'pom.xml'), ...goal], { timeout: FETCH_TIMEOUT_MS });
    await rename(own, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(own, { recursive: true, force: true });
  }
  return folder;
}

/** What a pom.xml makes a folder of. */
export interface Jars {
  readonly pom: string;
  /** First part of the folder's name. */
  readonly name: string;
}

const EXPORTER: Jars = { pom: join(import.meta.dirname, 'exporter/pom.xml'), name: 'jmx-exporter' };
const KAFKA: Jars = { pom: join(import.meta.dirname, 'pom.xml'), name: `kafka-${KAFKA_VERSION}` };

/** Named by what is in it, so that a changed pom.xml is fetched again. */
async function cacheFolder({ pom, name }: Jars): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const contents = createHash('sha256')
    .update(await readFile(pom))
    .digest('hex')
    .slice(0, 8);
  return join(cache, 'quotamesh', `${name}-${contents}`);
}
