import { expect, it } from 'vitest';
import { playHalvedQuota } from '../cluster/halved-quota-story.js';

/** A median on a machine that does nothing else is some 20 ms. */
const APPLIED_MAX_MS = 2000;

/** test:long has the machine alone, and counts every second from the append. */
it('a quota halved through the registry under full load is in force in all nodes, and none admits more from then on', async () => {
  const { sinceApplied, windows, appliedMs } = await playHalvedQuota(5000);
  expect(windows).toBeGreaterThan(100);
  for (const lateMs of appliedMs) expect(lateMs).toBeLessThan(APPLIED_MAX_MS);
  expect(sinceApplied).toBeLessThan(1.05);
});
