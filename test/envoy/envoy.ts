/**
 * A real Envoy for tests, started by the tests themselves on free loopback ports.
 *
 *   const envoy = await startEnvoy({ filters: [...], nodes: [8081] });
 *   await fetch(envoy.url);                                  // passes the filters, and is answered
 *   await envoy.stat('http.front.downstream_rq_2xx');
 *   await envoy.kill(); envoy.freeze(); envoy.thaw();        // kill -9, SIGSTOP, SIGCONT
 *   await envoy.stop();                                      // also when the test process dies
 *
 * `findEnvoy()` (envoy-package.ts) is null where there is none, and tests skip with a printed reason.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../../src/tools/processes/free-ports.js';
import { type GuardedProcess, startGuarded } from '../kafka/guarded-process.js';
import { findEnvoy, WHAT_TO_INSTALL } from './envoy-package.js';
import { bootstrapOf, type FrontProxy } from './front-proxy.js';

const READY_TIMEOUT_MS = 60_000;

export async function startEnvoy(proxy: FrontProxy): Promise<Envoy> {
  const [front, backend, admin] = await freePorts(3);
  return startEnvoyFrom(bootstrapOf(proxy, { front, backend, admin }), { front, admin });
}

/** Starts an Envoy with this bootstrap, which says on which ports it listens. */
export async function startEnvoyFrom(bootstrap: object, { front, admin }: ListeningPorts): Promise<Envoy> {
  const program = await findEnvoy();
  if (program === null) throw new Error(WHAT_TO_INSTALL);
  const folder = await mkdtemp(join(tmpdir(), 'quotamesh-envoy-'));
  const file = join(folder, 'bootstrap.json');
  await writeFile(file, JSON.stringify(bootstrap));
  const once = ['--use-dynamic-base-id', '--concurrency', '1', '-l', 'warning'];
  const process = await startGuarded(program, ['-c', file, ...once], `rm -rf '${folder}'`);
  const envoy = new Envoy(process, folder, front, admin);
  try {
    await envoy.untilReady();
  } catch (error) {
    await envoy.stop();
    throw error;
  }
  return envoy;
}

interface ListeningPorts {
  readonly front: number;
  readonly admin: number;
}

export class Envoy {
  readonly port: number;
  readonly url: string;
  readonly #admin: string;
  readonly #process: GuardedProcess;
  readonly #folder: string;

  constructor(process: GuardedProcess, folder: string, port: number, adminPort: number) {
    this.#process = process;
    this.#folder = folder;
    this.port = port;
    this.url = `http://127.0.0.1:${port}/`;
    this.#admin = `http://127.0.0.1:${adminPort}`;
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Reads a counter or gauge; 0 while it does not exist. */
  async stat(name: string): Promise<number> {
    const filter = `^${name.replaceAll('.', '\\.')}$`;
    const text = await (await fetch(`${this.#admin}/stats?filter=${encodeURIComponent(filter)}`)).text();
    return Number(text.split(': ')[1] ?? 0);
  }

  async kill(): Promise<void> {
    this.#process.signal('SIGKILL');
    await this.#process.ended;
  }

  freeze(): void {
    this.#process.signal('SIGSTOP');
  }

  thaw(): void {
    this.#process.signal('SIGCONT');
  }

  async stop(): Promise<void> {
    if (this.#process.isRunning()) await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async untilReady(): Promise<void> {
    const givenUpAt = performance.now() + READY_TIMEOUT_MS;
    for (;;) {
      if (!this.#process.isRunning()) throw new Error(`Envoy ended: ${this.#process.errorLines()}`);
      const answer = await fetch(`${this.#admin}/ready`).then(
        (response) => response.text(),
        (error: unknown) => String(error),
      );
      if (answer.startsWith('LIVE')) return;
      if (performance.now() > givenUpAt) throw new Error(`Envoy is not ready: ${answer} ${this.#process.errorLines()}`);
      await sleep(20);
    }
  }
}
