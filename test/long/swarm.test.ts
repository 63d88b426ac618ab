import { expect, test } from 'vitest';
import { runSwarm } from '../../sim/swarm/run-swarm.js';
import { SETTINGS } from '../simulation/settings.js';

const SEEDS = Number(process.env.SWARM_SEEDS ?? 200);
/** Pinned seeds and as many new ones, which a failure names. */
const FIRST_NEW_SEED = Number(process.env.SWARM_FIRST_SEED ?? Date.now() % 1_000_000_000);

test.each([
  { says: 'pinned', first: 1 },
  { says: 'new', first: FIRST_NEW_SEED },
])('swarm of $says seeds', ({ says, first }) => {
  console.log(`${says} seeds ${first} … ${first + SEEDS - 1}`);
  const worst = { faults: 0, after: 0 };
  for (let seed = first; seed < first + SEEDS; seed++) {
    const verdict = runSwarm(seed, SETTINGS);
    const replay = `quotamesh sim swarm --seed ${seed}`;
    expect(verdict.problems, [`replay: ${replay}`, ...verdict.plan].join('\n')).toEqual([]);
    for (const phase of ['faults', 'after'] as const)
      worst[phase] = Math.max(worst[phase], verdict.worst[phase]);
  }
  console.log(`worst 5 s × quota: ${JSON.stringify(worst)}`);
});
