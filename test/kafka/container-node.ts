import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { CONTAINER_IMAGE } from './distribution.js';
import { type GuardedProcess, startGuarded } from './guarded-process.js';
import type { NodeSetUp } from './java-node.js';
import type { NodeProcess } from './kafka.js';

const run = promisify(execFile);
/** Includes pulling the image. */
const RUN_TIMEOUT_MS = 300_000;
const ENGINE_TIMEOUT_MS = 30_000;
const LOG_FOLDER = '/tmp/quotamesh-log';

/** Kafka as a container on the host's network, so that its ports are the same inside and outside. */
export class ContainerNode implements NodeProcess {
  readonly #engine: string;
  readonly #setUp: NodeSetUp;
  readonly #name = `quotamesh-kafka-${randomBytes(6).toString('hex')}`;
  #guard: GuardedProcess | undefined;
  #running = false;
  #frozen = false;

  constructor(engine: string, setUp: NodeSetUp) {
    if (setUp.formatArguments.length > 0)
      throw new Error('this test needs Java: it puts files and users into the broker');
    this.#engine = engine;
    this.#setUp = setUp;
  }

  async launch(): Promise<void> {
    if (this.#guard) {
      await run(this.#engine, ['start', this.#name], { timeout: ENGINE_TIMEOUT_MS });
    } else {
      // Follows our life: when we die, the container goes. The sleep is only there to have a process to guard.
      this.#guard = await startGuarded('sleep', ['86400'], `${this.#engine} rm -f -v ${this.#name}`);
      await run(this.#engine, runArguments(this.#name, this.#setUp), { timeout: RUN_TIMEOUT_MS });
    }
    this.#running = true;
  }

  async kill(): Promise<void> {
    await run(this.#engine, ['kill', this.#name], { timeout: ENGINE_TIMEOUT_MS });
    this.#running = false;
  }

  async freeze(): Promise<void> {
    await run(this.#engine, ['pause', this.#name], { timeout: ENGINE_TIMEOUT_MS });
    this.#frozen = true;
  }

  async thaw(): Promise<void> {
    if (!this.#frozen) return;
    await run(this.#engine, ['unpause', this.#name], { timeout: ENGINE_TIMEOUT_MS });
    this.#frozen = false;
  }

  isRunning(): boolean {
    return this.#running;
  }

  lastWords(): string {
    return `see \`${this.#engine} logs ${this.#name}\``;
  }

  async remove(): Promise<void> {
    this.#running = false;
    await run(this.#engine, ['rm', '-f', '-v', this.#name], { timeout: ENGINE_TIMEOUT_MS }).catch(() => {});
    this.#guard?.signal('SIGKILL');
    await this.#guard?.ended;
  }
}

/** `docker run` with every line of server.properties as the KAFKA_ variable that the image turns into it again. */
export function runArguments(name: string, setUp: NodeSetUp): string[] {
  const properties = { ...setUp.properties, 'log.dirs': LOG_FOLDER };
  const variables = Object.entries(properties).map(([key, value]) => `${variableOf(key)}=${value}`);
  const environment = [`CLUSTER_ID=${setUp.clusterId}`, ...variables].flatMap((each) => ['-e', each]);
  return ['run', '-d', '--name', name, '--network', 'host', ...environment, CONTAINER_IMAGE];
}

/** The image's rule: `.` becomes `_`, `_` becomes `__`, `-` becomes `___`. */
function variableOf(property: string): string {
  const name = property.replaceAll('_', '__').replaceAll('-', '___').replaceAll('.', '_');
  return `KAFKA_${name.toUpperCase()}`;
}
