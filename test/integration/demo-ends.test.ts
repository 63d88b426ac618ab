import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isRunning } from '../is-running.js';
import { Demonstration } from './demonstration.js';

// No rates are measured here, so that others may run beside; test/integration/demo.test.ts has the verdict.

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
