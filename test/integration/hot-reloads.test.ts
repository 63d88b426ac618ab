import { expect, it } from 'vitest';
import { playHotReloads } from '../cluster/hot-reloads-story.js';

const RELOADS = 8;

it(`${RELOADS} hot reloads under full load: no 5 s 2 % above what the quotas in force allow, and none without grants`, async () => {
  const { most, least, windows, taken } = await playHotReloads(RELOADS);
  expect(taken).toEqual([RELOADS, RELOADS, RELOADS]);
  expect(windows).toBeGreaterThan(30);
  expect(most).toBeLessThan(1.02);
  // How much of the quotas is used, test:long asserts (98 %): a node that waits for a core loses what its bucket cannot hold.
  console.log(`[hot reloads] the emptiest 5 s had ${(100 * least).toFixed(1)} % of what could be admitted`);
  expect(least).toBeGreaterThan(0);
});
