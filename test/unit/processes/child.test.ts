import { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Child } from '../../../src/tools/processes/child.js';
import { isRunning } from '../../is-running.js';

const CHILD = new URL('../../../dist/src/tools/processes/child.js', import.meta.url).href;
const DEADLINE_MS = 20_000;

test('its output is kept, of both streams, and its end told', async () => {
  const child = new Child(['-e', 'console.log("out"); console.error("err"); process.exitCode = 3']);
  expect(await child.ended).toEqual({ code: 3, signal: null });
  expect([child.stdout, child.stderr]).toEqual(['out\n', 'err\n']);
  expect(child.logEnd().split('\n').sort()).toEqual(['err', 'out']);
});

test('answers come to those who asked, in order; who ends instead is an error with its output', async () => {
  const program = 'process.on("message", (n) => n < 3 ? process.send(n) : process.exit(1)); console.log("x")';
  const child = new Child(['-e', program]);
  expect(await Promise.all([child.ask(1), child.ask(2)])).toEqual([1, 2]);
  await expect(child.ask(3)).rejects.toThrow('ended instead of answering:\nx');
});

test('one that does not go is killed, a frozen one goes on to leave in order', async () => {
  const upAtSigterm = (act: string) =>
    new Child(['-e', `process.on("SIGTERM", () => ${act}); setInterval(() => {}, 1000); process.send("up")`]);
  const stubborn = upAtSigterm('{}');
  await stubborn.next();
  expect(await stubborn.stop(100)).toEqual({ code: null, signal: 'SIGKILL' });
  const frozen = upAtSigterm('process.exit(0)');
  await frozen.next();
  frozen.signal('SIGSTOP');
  expect(await frozen.stop(DEADLINE_MS)).toEqual({ code: 0, signal: null });
});

test('a signal that cannot be sent ends nothing: it runs on, and its real end is told', async () => {
  const child = new Child(['-e', 'process.on("message", () => process.exit(3)); process.send("up")']);
  await child.next();
  const { kill } = ChildProcess.prototype;
  const spy = vi.spyOn(ChildProcess.prototype, 'kill').mockImplementation(function (this: ChildProcess, signal) {
    // What the kernel says of another user's process.
    const { _handle } = this as unknown as { _handle: { kill: () => number } };
    _handle.kill = () => -constants.errno.EPERM;
    return kill.call(this, signal);
  });
  child.signal('SIGTERM');
  child.signal('SIGTERM');
  spy.mockRestore();
  expect([child.isRunning, isRunning(child.pid)]).toEqual([true, true]);
  child.send('leave');
  expect(await child.ended).toEqual({ code: 3, signal: null });
});

test('one that listens to its channel ends with us, however we end', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quotamesh-child-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const parent = join(folder, 'parent.mjs');
  await writeFile(parent, PARENT);
  const ours = new Child([parent]);
  const pid = await ours.next<number>();
  expect(isRunning(pid)).toBe(true);
  ours.signal('SIGKILL');
  const givenUpAt = performance.now() + DEADLINE_MS;
  while (isRunning(pid) && performance.now() < givenUpAt) await sleep(20);
  expect(isRunning(pid)).toBe(false);
});

const PARENT = `
  import { Child } from '${CHILD}';
  const program = 'process.on("disconnect", () => process.exit(0)); setInterval(() => {}, 1000); process.send("up")';
  const child = new Child(['-e', program]);
  await child.next();
  process.send(child.pid);
`;
