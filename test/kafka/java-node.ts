import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type GuardedProcess, startGuarded } from './guarded-process.js';
import type { NodeProcess } from './kafka.js';
import { formatStorage } from './storage-format.js';

/** What a node of either kind is made of. */
export interface NodeSetUp {
  readonly properties: Readonly<Record<string, string>>;
  /** Its own; log directories lie in it. */
  readonly folder: string;
  readonly clusterId: string;
  readonly formatArguments: readonly string[];
  /** Agents of the broker's JVM: the jar, and what it is told. */
  readonly javaAgents: readonly string[];
  /** Variables beside ours. */
  readonly environment: Readonly<Record<string, string>>;
}

const STOP_TIMEOUT_MS = 1000;
const ARCHIVE_TIMEOUT_MS = 15_000;
/** One compiler tier and the serial collector: less CPU and fewer threads, which start-up and small heaps like best. */
const JVM_FLAGS = ['-Xmx384m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto'];
const LOG_FLAGS = ['-Dorg.slf4j.simpleLogger.defaultLogLevel=error'];

/** Kafka as a child process, from the jars of distribution.ts. */
export class JavaNode implements NodeProcess {
  readonly #classPath: string;
  readonly #setUp: NodeSetUp;
  readonly #scratch: string;
  readonly #propertiesFile: string;
  #formatted = false;
  /** Where the JVM writes the classes that it has loaded, once it is told to end. */
  #writesArchive: string | undefined;
  #process: GuardedProcess | undefined;

  constructor(classPath: string, setUp: NodeSetUp, scratch: string) {
    this.#classPath = classPath;
    this.#setUp = setUp;
    this.#scratch = scratch;
    this.#propertiesFile = join(setUp.folder, 'server.properties');
  }

  async launch(): Promise<void> {
    if (!this.#formatted) await this.#format();
    this.#formatted = true;
    const agents = this.#setUp.javaAgents.map((agent) => `-javaagent:${agent}`);
    const java = [
      'env',
      ...Object.entries(this.#setUp.environment).map(([name, value]) => `${name}=${value}`),
      'java',
      ...agents,
      ...JVM_FLAGS,
      ...LOG_FLAGS,
      ...this.#classArchive(),
      '-cp',
      this.#classPath,
      'kafka.Kafka',
      this.#propertiesFile,
    ];
    this.#process = await startGuarded(java[0], java.slice(1), `rm -rf '${this.#scratch}'`);
  }

  async kill(): Promise<void> {
    this.#process?.signal('SIGKILL');
    await this.#process?.ended;
  }

  async freeze(): Promise<void> {
    this.#process?.signal('SIGSTOP');
    if (this.#process) await untilStopped(this.#process.pid);
  }

  async thaw(): Promise<void> {
    this.#process?.signal('SIGCONT');
  }

  isRunning(): boolean {
    return this.#process?.isRunning() ?? false;
  }

  lastWords(): string {
    return this.#process?.errorLines() || 'it said nothing';
  }

  /** The scratch folder is the cluster's to remove. */
  async remove(): Promise<void> {
    if (this.#writesArchive !== undefined && this.isRunning()) {
      this.#process?.signal('SIGTERM');
      await Promise.race([this.#process?.ended, sleep(ARCHIVE_TIMEOUT_MS)]);
      if (existsSync(this.#writesArchive)) await rename(this.#writesArchive, this.#archive);
    }
    await this.kill();
  }

  get #archive(): string {
    return join(dirname(this.#classPath), 'classes.jsa');
  }

  /** A start takes 1.0 s of CPU instead of 1.8 with the classes of one before; a JVM that cannot use them goes without. */
  #classArchive(): string[] {
    if (existsSync(this.#archive)) return [`-XX:SharedArchiveFile=${this.#archive}`];
    if (this.#setUp.javaAgents.length > 0) return [];
    this.#writesArchive = join(dirname(this.#classPath), `classes.${process.pid}-${this.#setUp.clusterId}.jsa`);
    return [`-XX:ArchiveClassesAtExit=${this.#writesArchive}`];
  }

  async #format(): Promise<void> {
    const { properties, folder, clusterId, formatArguments } = this.#setUp;
    await mkdir(folder, { recursive: true });
    const lines = Object.entries(properties).map(([name, value]) => `${name}=${value}\n`);
    await writeFile(this.#propertiesFile, lines.join(''));
    await formatStorage({
      classPath: this.#classPath,
      jvmFlags: [...JVM_FLAGS, ...LOG_FLAGS],
      propertiesFile: this.#propertiesFile,
      logFolder: properties['log.dirs'],
      nodeId: properties['node.id'],
      clusterId,
      formatArguments,
    });
  }
}

/** A process with many threads goes on for a moment after SIGSTOP was sent, long enough to answer a request. */
async function untilStopped(pid: number): Promise<void> {
  const givenUpAt = performance.now() + STOP_TIMEOUT_MS;
  const tasks = `/proc/${pid}/task`;
  // Without /proc (macOS) there is only waiting for it.
  if (!existsSync(tasks)) return sleep(STOP_TIMEOUT_MS / 10);
  while (!(await readdir(tasks)).every((task) => isStopped(`${tasks}/${task}/stat`))) {
    if (performance.now() > givenUpAt) throw new Error(`process ${pid} did not stop within ${STOP_TIMEOUT_MS} ms`);
    await sleep(1);
  }
}

/** A thread that has ended meanwhile counts as stopped. The state stands behind the name, which is in parentheses. */
function isStopped(statFile: string): boolean {
  const stat = existsSync(statFile) ? readFileSync(statFile, 'utf8') : ') T';
  return /\) [TtZX]/.test(stat);
}
