import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ChildOptions {
  /** Where its output goes; absent: it is kept here. */
  readonly logFile?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** So many characters of what it writes are kept, the last ones. */
const KEPT_MAX = 16_000_000;
const LOG_LINES_SHOWN = 10;

/**
 * A Node.js process of ours: in a process group of its own, so that Ctrl-C in the terminal reaches only us and we stop
 * it in order; with an IPC channel, whose end tells it that we are gone, however that happened; its output kept.
 */
export class Child {
  readonly pid: number;
  /** It is gone, and all of its output has been read. */
  readonly ended: Promise<ChildExit>;
  exit: ChildExit | null = null;
  stdout = '';
  stderr = '';
  /** Both, as they came. */
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
        // With a pid it has started: a signal could not be sent, and 'close' will tell its end.
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

  /** What it says next; rejects with the end of its output when it ends instead. */
  next<Message>(): Promise<Message> {
    return new Promise((resolve, reject) => {
      this.#process.once('message', (message) => resolve(message as Message));
      void this.ended.then(() => reject(new Error(`a process ended instead of answering:\n${this.logEnd()}`)));
    });
  }

  /** Its answer to a message. Questions wait for each other's answers, since an answer does not name its question. */
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

  /** SIGTERM, also for one that is frozen; what has not ended after `patienceMs` is killed. */
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

/** Without our own settings: a node is what its file says. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('QUOTAMESH_')));
}
