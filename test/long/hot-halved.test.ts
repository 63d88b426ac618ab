import { expect, it } from 'vitest';
import { playHalvedQuota } from '../cluster/halved-quota-story.js';

/** A median on a machine that does nothing else is some 20 ms. */
const APPLIED_MAX_MS = 2000;
const SPAN_MS = 5000;

it('a quota halved through the registry under full load is in force in all nodes, and no window admits more from then on', async () => {
  const { appliedMs, sinceAppend, sinceApplied } = await playHalvedQuota();
  for (const lateMs of appliedMs) expect(lateMs).toBeLessThan(APPLIED_MAX_MS);
  console.log(`worst second since the append: ${sinceAppend(1000).most.toFixed(3)} of the quota`);
  // Until a node has applied the change, it admits up to its part of the former quota, twice the new one.
  const untilAppliedMs = Math.max(...appliedMs);
  expect(sinceAppend(SPAN_MS).most, `applied after ${appliedMs} ms`).toBeLessThan(1.05 + untilAppliedMs / SPAN_MS);
  const { most, windows } = sinceApplied(SPAN_MS);
  expect(windows).toBeGreaterThan(100);
  expect(most, 'of any 5 s').toBeLessThan(1.05);
});
