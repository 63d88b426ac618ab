import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { defaultSettings } from '../../sim/scenario/world-settings.js';
import { playSeeds } from '../../sim/swarm/play-seeds.js';
import type { SwarmVerdict } from '../../sim/swarm/run-swarm.js';

const SEEDS = Number(process.env.SWARM_SEEDS ?? 20_000);
/** A day has its own seeds: what failed can be played again, and tomorrow others are tried. */
const FIRST_NEW_SEED = Number(process.env.SWARM_FIRST_SEED ?? 1_000_000 + Math.floor(Date.now() / 86_400_000) * SEEDS);
const WORKERS = availableParallelism();
/** 0.1 s of a core per seed is measured, 0.35 s allowed. */
const TIMEOUT_MS = Math.max(60_000, (SEEDS * 350) / WORKERS);

test.each([
  { says: 'pinned', first: 1, count: Math.floor(SEEDS / 2) },
  { says: 'new', first: FIRST_NEW_SEED, count: Math.ceil(SEEDS / 2) },
])('swarm of $count $says seeds from $first', { timeout: TIMEOUT_MS }, async ({ says, first, count }) => {
  const broken: string[] = [];
  const worst = { faults: 0, after: 0 };
  let played = 0;
  const onVerdict = ({ seed, problems, worst: seen }: SwarmVerdict) => {
    played++;
    if (played % 1000 === 0) console.log(`${says} seeds: ${played} of ${count}, ${broken.length} broke a promise`);
    if (problems.length > 0) broken.push(`quotamesh sim swarm --seed ${seed}: ${problems[0]}`);
    for (const phase of ['faults', 'after'] as const) worst[phase] = Math.max(worst[phase], seen[phase]);
    return true;
  };
  await playSeeds({ first, count, workers: WORKERS, settings: defaultSettings(), onVerdict });
  console.log(`${says} seeds ${first} … ${first + count - 1}: worst 5 s ÷ quota ${JSON.stringify(worst)}`);
  expect(played).toBe(count);
  expect(broken).toEqual([]);
});
