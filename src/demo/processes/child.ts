import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * A process of the demonstration: in a process group of its own, so that Ctrl-C in the terminal reaches only us and we stop it
 * in order; its output in a file; and with an IPC channel, whose end tells it that we are gone, however that happened.
 */
export class Child {
  readonly pid: number;
  readonly ended: Promise<ChildExit>;
  exit: ChildExit | null = null;
  readonly #process: ChildProcess;
  readonly #logFile: string;

  constructor(args: readonly string[], logFile: string) {
    const log = openSync(logFile, 'a');
    this.#logFile = logFile;
    this.#process = spawn(process.execPath, args, {
      detached: true,
      stdio: ['ignore', log, log, 'ipc'],
      serialization: 'advanced',
      env: ownEnvironment(),
    });
    closeSync(log);
    this.pid = this.#process.pid ?? 0;
    this.ended = new Promise((resolve) => {
      this.#process.once('exit', (code, signal) => this.#end({ code, signal }, resolve));
      this.#process.once('error', () => this.#end({ code: 1, signal: null }, resolve));
    });
  }

  get isRunning(): boolean {
    return this.exit === null;
  }

  onMessage(listener: (message: unknown) => void): void {
    this.#process.on('message', listener);
  }

  send(message: object): void {
    if (this.#process.connected) this.#process.send(message, () => undefined);
  }

  signal(name: NodeJS.Signals): void {
    if (this.isRunning) this.#process.kill(name);
  }

  /** SIGTERM; what has not ended after `patienceMs` is killed. */
  async stop(patienceMs: number): Promise<ChildExit> {
    this.signal('SIGTERM');
    const timer = setTimeout(() => this.signal('SIGKILL'), patienceMs);
    const exit = await this.ended;
    clearTimeout(timer);
    return exit;
  }

  logEnd(lines: number): string {
    return readFileSync(this.#logFile, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  }

  #end(exit: ChildExit, resolve: (exit: ChildExit) => void): void {
    this.exit ??= exit;
    resolve(this.exit);
  }
}

/** Without our own settings: the demonstration is what its file says. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('QUOTAMESH_')));
}
