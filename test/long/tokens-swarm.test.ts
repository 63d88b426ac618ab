import { expect, test } from 'vitest';
import { runSwarm } from '../../sim/swarm/run-swarm.js';
import { KINDS, settingsOf } from '../simulation/tokens/swarm-kinds.js';

/** `TOKENS_SWARM_SEEDS=1000` plays a night. */
const SEEDS = Number(process.env.TOKENS_SWARM_SEEDS ?? 40);
const FIRST = 9100;

test.each(KINDS)(`${SEEDS} seeds of groups that share tokens: %s`, (name, group) => {
  const broke: number[] = [];
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
    const { problems } = runSwarm(seed, settingsOf(group));
    if (problems.length > 0) broke.push(seed);
    if (problems.length > 0) console.log(`${name}, seed ${seed}: ${problems[0]}`);
  }
  expect(broke).toEqual([]);
});
