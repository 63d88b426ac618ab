import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { isRunning } from '../is-running.js';
import { GUARD, startGuarded } from './guarded-process.js';

const DEADLINE_MS = 10_000;

it('is told apart: running, killed, ended by itself', async () => {
  const sleeper = await startGuarded('sleep', ['60']);
  expect(isRunning(sleeper.pid)).toBe(true);
  sleeper.signal('SIGKILL');
  await sleeper.ended;
  expect(sleeper.isRunning()).toBe(false);
  expect(isRunning(sleeper.pid)).toBe(false);
  const talker = await startGuarded('sh', ['-c', 'echo reason >&2; exit 3']);
  await talker.ended;
  expect(talker.errorLines()).toBe('reason');
});

it('dies with us, even frozen, when we are killed with -9, and its scratch folder goes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quotamesh-guard-'));
  const script = join(folder, 'parent.mjs');
  const scratch = join(folder, 'scratch');
  await writeFile(scratch, '');
  await writeFile(script, PARENT);
  try {
    const env = { ...process.env, GUARD, SCRATCH: scratch };
    const parent = fork(script, { env, execArgv: [] });
    const [pid] = (await once(parent, 'message')) as [number];
    process.kill(pid, 'SIGSTOP');
    parent.kill('SIGKILL');
    const givenUpAt = performance.now() + DEADLINE_MS;
    while ((isRunning(pid) || existsSync(scratch)) && performance.now() < givenUpAt) await sleep(20);
    expect(isRunning(pid)).toBe(false);
    expect(existsSync(scratch)).toBe(false);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** What startGuarded does, for a process that cannot import TypeScript. */
const PARENT = `
  import { spawn } from 'node:child_process';
  const env = { ...process.env, CLEAN_UP: 'rm -rf ' + process.env.SCRATCH };
  const shell = spawn('sh', ['-c', process.env.GUARD, 'guard', 'sleep', '60'], { env, detached: true });
  shell.stdout.once('data', (line) => process.send(Number(line)));
`;
