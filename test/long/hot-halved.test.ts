import { expect, it } from 'vitest';
import { playHalvedQuota } from '../cluster/halved-quota-story.js';

/** A median on a machine that does nothing else is some 20 ms. */
const APPLIED_MAX_MS = 2000;

it('a quota halved through the registry under full load is in force in all nodes, and no window admits more from then on', async () => {
  const { appliedMs, sinceAppend, sinceApplied } = await playHalvedQuota();
  for (const lateMs of appliedMs) expect(lateMs).toBeLessThan(APPLIED_MAX_MS);
  expect(sinceAppend(1000).most, `seconds; applied after ${appliedMs} ms`).toBeLessThan(1.1);
  const { most, windows } = sinceApplied(5000);
  expect(windows).toBeGreaterThan(100);
  expect(most, 'of any 5 s').toBeLessThan(1.05);
});
