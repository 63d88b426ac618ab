import { expect, it } from 'vitest';
import { killWriters } from './embedded-kill-rounds.js';

it('loses no acknowledged record and blocks nobody when writers are killed -9, 50 times', async () => {
  const figures = await killWriters(50);
  expect(figures.kills).toBe(50);
  // By chance alone some kills hit a commit: a writer spends most of its life in one.
  expect(figures.insideCommit).toBeGreaterThan(0);
}, 120_000);
