import { expect, it } from 'vitest';
import { playHalvedQuota } from '../cluster/halved-quota-story.js';

it('a quota halved through the registry under full load: no second above 1.10 × the quota in force since its append', async () => {
  const { most, appliedMs } = await playHalvedQuota(1000);
  expect(most, `applied after ${appliedMs} ms`).toBeLessThan(1.1);
});
