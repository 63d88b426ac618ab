import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const start = fileURLToPath(new URL('../../scripts/start.mjs', import.meta.url));

/** `npm start` as a user's terminal starts it, without a TTY. */
class Demonstration {
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

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function leftFolders(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('quotamesh-demo-'));
}

/** The figure in the row of that name. */
function measured(verdict: string, name: string): number {
  const row = verdict.split('\n').find((line) => line.includes(name)) ?? '';
  return Number.parseFloat(row.slice(row.indexOf(name) + name.length));
}

describe('npm start', () => {
  test('--for 10s ends by itself with the verdict of its figures, and leaves nothing behind', async () => {
    const before = leftFolders();
    const demonstration = new Demonstration(7370, '--for', '10s');
    const code = await demonstration.exited;
    const verdict = demonstration.output.slice(demonstration.output.indexOf('\nafter '));
    console.log(`[demo]${verdict}`);
    expect(demonstration.nodePids).toHaveLength(3);
    // A count. The part that was used and the worst second tell of the machine, too: virtual-demonstration.test.ts holds them.
    expect(measured(verdict, 'over-admission over any 5 s'), demonstration.output).toBeLessThanOrEqual(2);
    expect(code).toBe(verdict.includes('All three promises kept.') ? 0 : 1);
    expect(verdict.includes('✗')).toBe(code === 1);
    expect(demonstration.nodePids.filter(isRunning)).toEqual([]);
    expect(leftFolders().filter((name) => !before.includes(name))).toEqual([]);
  });

  // These two measure no rates.
  test.concurrent('Ctrl-C leaves within 4 s, farewells published, no process left', async () => {
    const demonstration = new Demonstration(7380);
    await demonstration.until('2 s ');
    const sentMs = performance.now();
    demonstration.child.kill('SIGINT');
    const code = await demonstration.exited;
    const tookMs = performance.now() - sentMs;
    console.log(`[demo] Ctrl-C: left after ${tookMs.toFixed(0)} ms`);
    expect(code).toBe(0);
    expect(tookMs).toBeLessThanOrEqual(4000);
    expect(demonstration.nodePids.filter(isRunning)).toEqual([]);
  });

  test.concurrent('a demonstration that is killed with -9 takes its nodes with it', async () => {
    const demonstration = new Demonstration(7390);
    await demonstration.until('1 s ');
    demonstration.child.kill('SIGKILL');
    const pids = demonstration.nodePids;
    expect(pids).toHaveLength(3);
    const deadline = performance.now() + 10_000;
    while (pids.some(isRunning) && performance.now() < deadline) await sleep(50);
    expect(pids.filter(isRunning)).toEqual([]);
  });
});
