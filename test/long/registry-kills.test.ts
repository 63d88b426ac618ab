import { expect, it } from 'vitest';
import { killRegistryWriters } from '../integration/registry-kill-rounds.js';

it('500 nodes killed -9 in the middle of changes: what was answered is never lost, the rest is whole or absent', async () => {
  const { kills, whole, absent } = await killRegistryWriters(500, { toTheEnd: true });
  expect(kills).toBe(500);
  expect(whole).toBeGreaterThan(50);
  expect(absent).toBeGreaterThan(50);
}, 3_600_000);
