import { expect, it } from 'vitest';
import { playHotReloads } from '../cluster/hot-reloads-story.js';

/** `RELOADS=100` at night. */
const RELOADS = Number(process.env.RELOADS ?? 40);

it(`${RELOADS} hot reloads under full load: any 5 s within 2 % of what the quotas in force allow`, async () => {
  const { most, least, taken } = await playHotReloads(RELOADS);
  expect(taken).toEqual([RELOADS, RELOADS, RELOADS]);
  expect(most).toBeLessThan(1.02);
  expect(least).toBeGreaterThan(0.98);
});
