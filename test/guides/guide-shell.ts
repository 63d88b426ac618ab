import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

const LAST_WORDS_MS = 500;

/** Runs a script by bash in a folder, with `bin` before the PATH. What it has started ends with the test. */
export async function runShell(cwd: string, bin: string, script: string, timeoutMs: number) {
  const shell = spawn('bash', ['-c', script], {
    cwd,
    // A group of its own, so that what it has started ends with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
  });
  const end = () => {
    try {
      process.kill(-(shell.pid as number), 'SIGKILL');
    } catch {
      // Nobody of the group is left.
    }
  };
  process.once('exit', end);
  onTestFinished(() => {
    end();
    process.off('exit', end);
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk));
  const timer = setTimeout(end, timeoutMs);
  const closed = new Promise((resolve) => shell.once('close', resolve));
  const code = await new Promise<number | null>((resolve) => shell.once('exit', resolve));
  clearTimeout(timer);
  // Its last words; what it has left running keeps the pipe open.
  await Promise.race([closed, sleep(LAST_WORDS_MS)]);
  return { code, output };
}
