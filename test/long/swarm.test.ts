import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { defaultSettings } from '../../sim/scenario/world-settings.js';
import { playSeeds } from '../../sim/swarm/play-seeds.js';
import type { SwarmVerdict } from '../../sim/swarm/run-swarm.js';

/** Ten minutes of one core; `SWARM_SEEDS=100000` plays a night. */
const SEEDS = Number(process.env.SWARM_SEEDS ?? 2000);
if (!Number.isInteger(SEEDS) || SEEDS < 2) throw new Error(`SWARM_SEEDS=${process.env.SWARM_SEEDS}: at least 2 seeds`);
/** A day has its own seeds: what failed can be played again, and tomorrow others are tried. */
const FIRST_NEW_SEED = Number(process.env.SWARM_FIRST_SEED ?? 1_000_000 + Math.floor(Date.now() / 86_400_000) * SEEDS);
const WORKERS = availableParallelism();
/** 0.3 s of a core per seed is measured, 1 s allowed: whoever does not get through fails by the time. */
const TIMEOUT_MS = Math.max(60_000, (SEEDS * 1000) / WORKERS);

test.each([
  { says: 'pinned', first: 1, count: Math.floor(SEEDS / 2) },
  { says: 'new', first: FIRST_NEW_SEED, count: Math.ceil(SEEDS / 2) },
])('swarm of $count $says seeds from $first', { timeout: TIMEOUT_MS }, async ({ says, first, count }) => {
  const broken: string[] = [];
  const worst = { faults: 0, after: 0, used: 1 };
  const played = new Set<number>();
  const onVerdict = ({ seed, problems, worst: seen, utilisation }: SwarmVerdict) => {
    played.add(seed);
    if (problems.length > 0) {
      broken.push(`quotamesh sim swarm --seed ${seed}: ${problems[0]}`);
      // At once: what is printed at the end is lost if the time is over before.
      console.error([...broken.slice(-1), ...problems.slice(1)].join('\n  '));
    }
    if (played.size % 1000 === 0) {
      console.log(`${says} seeds: ${played.size} of ${count}, ${broken.length} broke a promise`);
    }
    for (const phase of ['faults', 'after'] as const) worst[phase] = Math.max(worst[phase], seen[phase]);
    worst.used = Math.min(worst.used, utilisation);
    return true;
  };
  await playSeeds({ first, count, workers: WORKERS, settings: defaultSettings(), onVerdict });
  console.log(`${says} seeds ${first} … ${first + count - 1}: worst 5 s ÷ quota, least used ${JSON.stringify(worst)}`);
  expect(broken).toEqual([]);
  expect(played.size).toBe(count);
});
