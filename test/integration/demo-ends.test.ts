import { expect, test } from 'vitest';
import { isRunning } from '../is-running.js';
import { Demonstration } from './demonstration.js';

// No rates are measured here, so that others may run beside; test/integration/demo.test.ts has the verdict.

test('Ctrl-C leaves within 4 s, farewells published, no process left', async () => {
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
