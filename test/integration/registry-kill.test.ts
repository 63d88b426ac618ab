import { expect, it } from 'vitest';
import { partOf } from '../property/seed.js';
import { killRegistryWriters } from './registry-kill-rounds.js';

/** Many more in test:long: a start costs a second. */
const KILLS = Math.max(4, partOf(12));

it(`${KILLS} nodes killed -9 in the middle of changes: what was answered is never lost, the rest is whole or absent`, async () => {
  const { kills, whole, absent } = await killRegistryWriters(KILLS);
  expect(kills).toBe(KILLS);
  // Changes were under way; how many of them have reached the log tells of the machine, and test:long asks for both kinds.
  expect(whole + absent).toBeGreaterThan(0);
}, 600_000);
