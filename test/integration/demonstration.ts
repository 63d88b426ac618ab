import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const start = fileURLToPath(new URL('../../scripts/start.mjs', import.meta.url));

/** `npm start` as a user's terminal starts it, without a TTY. */
export class Demonstration {
  readonly child: ChildProcess;
  output = '';
  readonly exited: Promise<number | null>;

  constructor(httpPort: number, ...args: string[]) {
    this.child = spawn(process.execPath, [start, '--http-port', String(httpPort), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    }
    this.exited = new Promise((resolve) => {
      this.child.once('exit', (code) => resolve(code));
    });
  }

  /** Process ids of the nodes, as printed. */
  get nodePids(): number[] {
    return [...this.output.matchAll(/\(pid (\d+)\)/g)].map(([, pid]) => Number(pid));
  }

  async until(text: string): Promise<void> {
    const deadline = performance.now() + 60_000;
    while (!this.output.includes(text)) {
      if (performance.now() > deadline) throw new Error(`no "${text}" within 60 s:\n${this.output}`);
      await sleep(20);
    }
  }
}
