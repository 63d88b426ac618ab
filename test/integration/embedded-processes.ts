import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Child, type ChildExit } from '../../src/tools/processes/child.js';
import { makeTopicFolder } from '../../src/topic/embedded/topic-folder.js';

const DIST = new URL('../../dist/src/topic/embedded/embedded-topic.js', import.meta.url);

const LOOK_EVERY_MS = 5;
/** A whole node starts in 0.3 s where it has a core for itself. */
const START_DEADLINE_MS = 60_000;

/** A folder for one test and the processes on it; `end` kills what is left of them. */
export class EmbeddedProcesses {
  readonly path: string;
  readonly #children: Participant[] = [];

  private constructor(path: string) {
    this.path = path;
  }

  static async begin(): Promise<EmbeddedProcesses> {
    if (!existsSync(DIST)) throw new Error('the processes of this test run dist/: npm run build');
    return new EmbeddedProcesses(await mkdtemp(join(tmpdir(), 'quotamesh-embedded-')));
  }

  /** Runs test/integration/programs/`program` with `facts` and the folder as its argument, until it says "ready". */
  async start(program: string, facts: Readonly<Record<string, unknown>> = {}): Promise<Participant> {
    const child = new Participant(program, { path: this.path, ...facts });
    this.#children.push(child);
    await child.says((message) => message === 'ready', START_DEADLINE_MS);
    return child;
  }

  /** The gate's socket is gone and no process holds a file of the folder. */
  async nothingLeftBehind(): Promise<void> {
    const { gateName } = await makeTopicFolder(this.path);
    const sockets = process.platform === 'linux' ? await readFile('/proc/net/unix', 'utf8') : '';
    if (sockets.includes(gateName)) throw new Error('the socket of the gate is still there');
  }

  async end(): Promise<void> {
    for (const child of this.#children) child.kill();
    await Promise.all(this.#children.map((child) => child.exited));
    await rm(this.path, { recursive: true, force: true });
  }
}

export class Participant {
  /** Everything it wrote to standard output is read once it has resolved. */
  readonly exited: Promise<ChildExit>;
  readonly #child: Child;
  readonly #messages: unknown[] = [];
  #onMessage: () => void = () => {};

  constructor(program: string, facts: Readonly<Record<string, unknown>>) {
    const file = fileURLToPath(new URL(`programs/${program}`, import.meta.url));
    this.#child = new Child(['--expose-gc', file, JSON.stringify(facts)]);
    this.exited = this.#child.ended;
    this.#child.onMessage((message) => {
      this.#messages.push(message);
      this.#onMessage();
    });
  }

  get output(): string {
    return this.#child.stdout;
  }

  send(message: string): void {
    this.#child.send(message);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.signal(signal);
  }

  /** -9, which also ends a stopped process. */
  kill(): void {
    this.#child.signal('SIGKILL');
  }

  /** The first message, also of the past, that fits; it is taken out. */
  async says<T = unknown>(fits: (message: unknown) => boolean, deadlineMs: number): Promise<T> {
    let found = -1;
    await this.#until('the expected message', deadlineMs, () => {
      found = this.#messages.findIndex(fits);
      return found >= 0;
    });
    return this.#messages.splice(found, 1)[0] as T;
  }

  async writes(fits: (output: string) => boolean, deadlineMs: number): Promise<void> {
    await this.#until('the expected output', deadlineMs, () => fits(this.output));
  }

  async exitsWithin(deadlineMs: number): Promise<ChildExit> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`the process was still there after ${deadlineMs} ms`)), deadlineMs);
    });
    return Promise.race([this.exited, late]).finally(() => clearTimeout(timer));
  }

  async #until(what: string, deadlineMs: number, condition: () => boolean): Promise<void> {
    const exit = this.exited.then(({ code, signal }) => `exit ${code ?? signal}`);
    const givenUpAt = performance.now() + deadlineMs;
    while (!condition()) {
      const leftMs = givenUpAt - performance.now();
      if (leftMs <= 0) throw new Error(`${what} did not come within ${deadlineMs} ms`);
      const ended = await Promise.race([exit, this.#next(Math.min(leftMs, LOOK_EVERY_MS))]);
      if (ended !== undefined && !condition()) {
        throw new Error(`${what} did not come before ${ended}:\n${this.#child.logEnd()}`);
      }
    }
  }

  #next(timeoutMs: number): Promise<undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(undefined), timeoutMs);
      this.#onMessage = () => {
        clearTimeout(timer);
        resolve(undefined);
      };
    });
  }
}
