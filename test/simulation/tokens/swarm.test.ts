import { expect, test } from 'vitest';
import { runSwarm } from '../../../sim/swarm/run-swarm.js';
import { someOf } from '../../property/seed.js';
import { KINDS, MAX_MIN, settingsOf } from './swarm-kinds.js';

/** Seeds and faults are those of the swarm. test/long/tokens-swarm.test.ts plays more seeds of each kind. */
const SEEDS_OF_MAX_MIN = 8;
const SEEDS_OF_OTHERS = 2;

test.each(KINDS)('a swarm of groups that share tokens: %s', (name, group) => {
  const seeds = name === MAX_MIN ? SEEDS_OF_MAX_MIN : SEEDS_OF_OTHERS;
  for (const seed of someOf(Array.from({ length: seeds }, (_, at) => 8100 + at))) {
    const { problems, plan } = runSwarm(seed, settingsOf(group));
    expect(problems, plan.join('\n')).toEqual([]);
  }
});

test.each(
  someOf([
    // A node that the log had given up went on taking tokens that others used.
    58,
    // A member went in the middle of a batch that others read in two: they settled the bucket elsewhere.
    46, 138,
    // A lane that nobody looked at was viewed only when the next record came, by rows that had changed twice.
    66, 115,
    // Nodes whose demand had fallen were not corrected: the floors of idle nodes hid that the others were throttled.
    99, 186,
    // A node's demand had ended, and it did not say so: whenever its lane had its turn, another lane had just been told.
    303_671,
  ]),
)('seed %i, which broke a promise while this was built, keeps all of them', (seed) => {
  const { problems, plan } = runSwarm(seed, settingsOf({}));
  expect(problems, plan.join('\n')).toEqual([]);
});
