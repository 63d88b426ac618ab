import { expect, it } from 'vitest';
import { playHotReloads } from '../cluster/hot-reloads-story.js';

it('100 hot reloads under full load: any 5 s within 2 % of what the quotas in force allow', async () => {
  const { most, least, taken } = await playHotReloads(100);
  expect(taken).toEqual([100, 100, 100]);
  expect(most).toBeLessThan(1.02);
  expect(least).toBeGreaterThan(0.98);
});
