import { expect, test } from 'vitest';
import { runSwarm } from '../../sim/swarm/run-swarm.js';
import { SETTINGS } from './settings.js';

/** SWARM_SEED=n replays one seed. */
const SEEDS = process.env.SWARM_SEED
  ? [Number(process.env.SWARM_SEED)]
  : Array.from({ length: 8 }, (_, at) => 8100 + at);

test.each(SEEDS)('swarm, seed %i', (seed) => {
  const { plan, problems, worst, utilisation } = runSwarm(seed, SETTINGS);
  const figures = Object.entries(worst).map(([phase, rate]) => `${phase} ${rate.toFixed(2)}`);
  console.log(
    `seed ${seed}: worst 5 s ${figures.join(', ')} × quota, utilisation after ${(100 * utilisation).toFixed(1)} %`,
  );
  const replay = `quotamesh sim swarm --seed ${seed}`;
  expect(problems, [`replay: ${replay}`, ...plan].join('\n')).toEqual([]);
});
