import { expect, it } from 'vitest';
import { killWriters } from '../integration/embedded-kill-rounds.js';

it('loses no acknowledged record and blocks nobody when writers are killed -9, 500 times', async () => {
  const figures = await killWriters(500);
  expect(figures.kills).toBe(500);
  expect(figures.insideCommit).toBeGreaterThan(50);
}, 900_000);
