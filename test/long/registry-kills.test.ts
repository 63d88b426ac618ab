import { expect, it } from 'vitest';
import { killRegistryWriters } from '../integration/registry-kill-rounds.js';

/** Newcomers look after every 50; `KILLS=500` at night. */
const KILLS = Number(process.env.KILLS ?? 150);

it(`${KILLS} nodes killed -9 in the middle of changes: what was answered is never lost, the rest is whole or absent`, async () => {
  const { kills, whole, absent } = await killRegistryWriters(KILLS, { toTheEnd: true });
  expect(kills).toBe(KILLS);
  expect(whole).toBeGreaterThan(KILLS / 10);
  expect(absent).toBeGreaterThan(KILLS / 10);
}, 3_600_000);
