import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type GuardedProcess, startGuarded } from './guarded-process.js';
import type { NodeProcess } from './kafka.js';

const run = promisify(execFile);

/** What a node of either kind is made of. */
export interface NodeSetUp {
  readonly properties: Readonly<Record<string, string>>;
  /** Its own; log directories lie in it. */
  readonly folder: string;
  readonly clusterId: string;
  readonly formatArguments: readonly string[];
}

const FORMAT_TIMEOUT_MS = 60_000;
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
    const java = ['java', ...JVM_FLAGS, ...LOG_FLAGS, '-cp', this.#classPath, 'kafka.Kafka', this.#propertiesFile];
    this.#process = await startGuarded(java[0], java.slice(1), `rm -rf '${this.#scratch}'`);
  }

  async kill(): Promise<void> {
    this.#process?.signal('SIGKILL');
    await this.#process?.ended;
  }

  freeze(): void {
    this.#process?.signal('SIGSTOP');
  }

  thaw(): void {
    this.#process?.signal('SIGCONT');
  }

  isRunning(): boolean {
    return this.#process?.isRunning() ?? false;
  }

  lastWords(): string {
    return this.#process?.errorLines() || 'it said nothing';
  }

  /** The scratch folder is the cluster's to remove. */
  remove(): Promise<void> {
    return this.kill();
  }

  async #format(): Promise<void> {
    const { properties, folder, clusterId, formatArguments } = this.#setUp;
    await mkdir(folder, { recursive: true });
    const lines = Object.entries(properties).map(([name, value]) => `${name}=${value}\n`);
    await writeFile(this.#propertiesFile, lines.join(''));
    const format = ['format', '-t', clusterId, '-c', this.#propertiesFile, ...formatArguments];
    const args = [...JVM_FLAGS, ...LOG_FLAGS, '-cp', this.#classPath, 'kafka.tools.StorageTool', ...format];
    await run('java', args, { timeout: FORMAT_TIMEOUT_MS });
  }
}
