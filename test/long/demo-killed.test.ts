import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Demonstration } from '../integration/demonstration.js';
import { isRunning } from '../is-running.js';

test('a demonstration that is killed with -9 takes its nodes with it', async () => {
  const demonstration = new Demonstration(7390);
  await demonstration.until('1 s ');
  demonstration.child.kill('SIGKILL');
  const pids = demonstration.nodePids;
  expect(pids).toHaveLength(3);
  const deadline = performance.now() + 10_000;
  while (pids.some(isRunning) && performance.now() < deadline) await sleep(50);
  expect(pids.filter(isRunning)).toEqual([]);
});
