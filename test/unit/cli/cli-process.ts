import { type ChildProcess, type ChildProcessByStdio, fork, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { COMMAND_FILE } from '../../../src/base/package/package-root.js';
import { plainEnvironment } from './run-in-process.js';

/** A process that is up answers within a second; where a dozen start on a core that others use, too, the last is up after 20 s. */
const WAIT_MS = 50_000;

export const ONE_GROUP = `cluster: demo
node: a
topic: { kind: memory }
http: { port: 0 }
groups: { orders: { quota: { publish: { messagesPerSecond: 50 } } } }
`;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** Registers what is to be done when a test ends, or when all tests of a `describe` have ended. */
type OnTestFinished = (end: () => void | Promise<void>) => void;

/** Starts `quotamesh` processes and makes folders for one test; nothing of them is left when it is over. */
export class CliScene {
  readonly #onTestFinished: OnTestFinished;

  /** @param onTestFinished of the test's own context: tests run concurrently */
  constructor(onTestFinished: OnTestFinished) {
    this.#onTestFinished = onTestFinished;
  }

  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): CliProcess {
    const child = spawn(process.execPath, [COMMAND_FILE, ...args], {
      env: { ...plainEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const started = new CliProcess(child);
    this.#onTestFinished(async () => {
      child.kill('SIGKILL');
      await started.exit;
    });
    return started;
  }

  /** The signals of `kill` reach the shell alone. */
  startBelowShell(args: readonly string[], env: Readonly<Record<string, string>>): CliProcess {
    const child = spawn('sh', ['-c', '"$@"; exit $?', 'sh', process.execPath, COMMAND_FILE, ...args], {
      env: { ...plainEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const started = new CliProcess(child);
    this.#onTestFinished(async () => {
      try {
        process.kill(-(child.pid as number), 'SIGKILL');
      } catch {
        // Nobody of its process group is left.
      }
      await started.exit;
    });
    return started;
  }

  folderWith(files: Readonly<Record<string, string>>): string {
    const folder = mkdtempSync(join(tmpdir(), 'quotamesh-cli-'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    // Later than the processes in it have ended: these handlers run in reverse order.
    this.#onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  }

  /** Runs a Node program with an IPC channel. */
  fork(program: string, argument: unknown): ChildProcess {
    const child = fork(program, [JSON.stringify(argument)]);
    this.#onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  }
}

export class CliProcess {
  readonly exit: Promise<Exit>;
  readonly #child: Child;
  #isClosed = false;
  #stdout = '';
  #stderr = '';

  constructor(child: Child) {
    this.#child = child;
    child.stdout.on('data', (chunk) => {
      this.#stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      this.#stderr += chunk;
    });
    this.exit = new Promise((resolve) => {
      child.on('close', (code, signal) => {
        this.#isClosed = true;
        resolve({ code, signal, stdout: this.#stdout, stderr: this.#stderr });
      });
    });
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** The reader of its log goes away. */
  closeStdout(): void {
    this.#child.stdout.destroy();
  }

  get stdout(): string {
    return this.#stdout;
  }

  get lines(): Record<string, unknown>[] {
    return this.#stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }

  /** The first log line with this message. */
  async logged(message: string): Promise<Readonly<Record<string, unknown>>> {
    const find = () => this.lines.find(({ msg }) => msg === message);
    await this.until(() => find() !== undefined, `"${message}" in the log`);
    return find()!;
  }

  /** Where it listens. */
  async url(): Promise<string> {
    return String((await this.logged('http listening')).url);
  }

  /** Waits for a condition; fails with the output when the process ends or it takes too long. */
  async until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const deadline = performance.now() + WAIT_MS;
    while (!(await condition())) {
      const ended = this.#isClosed;
      if (ended || performance.now() > deadline) throw new Error(`no ${what}:\n${this.#stdout}${this.#stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Answers with the status. */
export async function sendJson(method: 'POST' | 'PUT', url: string, body: object): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
  await response.arrayBuffer();
  return response.status;
}
