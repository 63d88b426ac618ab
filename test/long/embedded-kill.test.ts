import { expect, it } from 'vitest';
import { killWriters } from '../integration/embedded-kill-rounds.js';

/** `KILLS=500` at night. */
const KILLS = Number(process.env.KILLS ?? 150);

it(`loses no acknowledged record and blocks nobody when writers are killed -9, ${KILLS} times`, async () => {
  const figures = await killWriters(KILLS);
  expect(figures.kills).toBe(KILLS);
  expect(figures.insideCommit).toBeGreaterThan(KILLS / 10);
}, 900_000);
