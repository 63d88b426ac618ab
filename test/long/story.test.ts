import { expect, test } from 'vitest';
import { Demonstration } from '../integration/demonstration.js';
import { isRunning } from '../is-running.js';

/** Real processes: 80 s. What is good in virtual time is held by test/unit/demo/virtual-story.test.ts. */
test('npm start tells its six acts, leaves nothing behind, and its exit code says whether they were good', async () => {
  const demonstration = new Demonstration(7376);
  const code = await demonstration.exited;
  console.log(`[story]\n${demonstration.output}`);
  const { output } = demonstration;
  expect([...output.matchAll(/^Act (\d) of 6: /gm)].map(([, act]) => Number(act))).toEqual([1, 2, 3, 4, 5, 6]);
  expect(output).toContain('  now: node B is killed.');
  expect(output).toMatch(/ {2}now: node B is ready, [\d.]+ s after it was started\./);
  expect(output).toContain('  now: the quota is 150 per second.');
  expect(output).toMatch(/^The whole story, \d+ s: /m);
  // Counts of the same requests at the same moments: the other systems hang on no machine but for the clients' timers.
  const [burst] = output.match(/Act 2 of 6[\s\S]*?Act 3 of 6/) ?? [];
  expect(Number(/static split +(\d+) of 150/.exec(burst ?? '')?.[1])).toBeLessThan(120);
  expect(/one central bucket +150 of 150/.test(burst ?? '')).toBe(true);
  expect(code).toBe(/^ .*✗/m.test(output) ? 1 : 0);
  expect(demonstration.nodePids.filter(isRunning)).toEqual([]);
});
