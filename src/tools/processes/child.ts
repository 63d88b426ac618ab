import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ChildOptions {
  /** File for its output; absent: kept here. */
  readonly logFile?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Characters of output kept, the last ones. */
const KEPT_MAX = 16_000_000;
const LOG_LINES_SHOWN = 10;

/** Runs a Node.js process in its own group, out of Ctrl-C's reach. The end of its IPC channel shows ours. */
export class Child {
  readonly pid: number;
  /** Resolves when it is gone and its output is read. */
  readonly ended: Promise<ChildExit>;
  exit: ChildExit | null = null;
  stdout = '';
  stderr = '';
  /** Both streams, as they came. */
  output = '';
  readonly #process: ChildProcess;
  readonly #logFile: string | undefined;
  #asked: Promise<unknown> = Promise.resolve();

  /** @param args as `node` takes them */
  constructor(args: readonly string[], { logFile, env = ownEnvironment() }: ChildOptions = {}) {
    const log = logFile === undefined ? 'pipe' : openSync(logFile, 'a');
    this.#logFile = logFile;
    this.#process = spawn(process.execPath, args, {
      detached: true,
      stdio: ['ignore', log, log, 'ipc'],
      serialization: 'advanced',
      env,
    });
    if (log !== 'pipe') closeSync(log);
    this.pid = this.#process.pid ?? 0;
    this.#keep('stdout');
    this.#keep('stderr');
    this.#process.once('exit', (code, signal) => {
      this.exit ??= { code, signal };
    });
    this.ended = new Promise((resolve) => {
      this.#process.once('close', (code, signal) => resolve(this.exit ?? { code, signal }));
      this.#process.on('error', () => {
        // With a pid a signal failed to be sent; 'close' brings its end.
        if (this.#process.pid !== undefined) return;
        this.exit ??= { code: 1, signal: null };
        resolve(this.exit);
      });
    });
  }

  get isRunning(): boolean {
    return this.exit === null;
  }

  onMessage(listener: (message: unknown) => void): void {
    this.#process.on('message', listener);
  }

  send(message: unknown): void {
    if (this.#process.connected) this.#process.send(message as object, () => undefined);
  }

  /** Returns its next message; rejects with its last output at its end. */
  next<Message>(): Promise<Message> {
    return new Promise((resolve, reject) => {
      this.#process.once('message', (message) => resolve(message as Message));
      void this.ended.then(() => reject(new Error(`a process ended instead of answering:\n${this.logEnd()}`)));
    });
  }

  /** Returns its answer; questions queue, as answers do not name them. */
  ask<Answer>(message: unknown): Promise<Answer> {
    const answer = this.#asked.then(() => {
      const next = this.next<Answer>();
      this.send(message);
      return next;
    });
    this.#asked = answer.catch(() => undefined);
    return answer;
  }

  signal(name: NodeJS.Signals): void {
    if (this.isRunning) this.#process.kill(name);
  }

  /** Stops by SIGTERM, even a frozen one; kills it after `patienceMs`. */
  async stop(patienceMs: number): Promise<ChildExit> {
    this.signal('SIGTERM');
    this.signal('SIGCONT');
    const timer = setTimeout(() => this.signal('SIGKILL'), patienceMs);
    const exit = await this.ended;
    clearTimeout(timer);
    return exit;
  }

  logEnd(lines = LOG_LINES_SHOWN): string {
    const log = this.#logFile === undefined ? this.output : readFileSync(this.#logFile, 'utf8');
    return log.trimEnd().split('\n').slice(-lines).join('\n');
  }

  #keep(name: 'stdout' | 'stderr'): void {
    this.#process[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      this[name] = (this[name] + chunk).slice(-KEPT_MAX);
      this.output = (this.output + chunk).slice(-KEPT_MAX);
    });
  }
}

/** Drops our own settings: a node is what its file says. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('QUOTAMESH_')));
}
