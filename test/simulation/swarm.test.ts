import { expect, test } from 'vitest';
import { defaultSettings } from '../../sim/scenario/world-settings.js';
import { withGates } from '../../sim/swarm/draw-world.js';
import { playSeed } from '../../sim/swarm/play-seed.js';
import { runSwarm } from '../../sim/swarm/run-swarm.js';
import { partOf, someOf } from '../property/seed.js';

/** The settings of `quotamesh sim swarm`, so that it plays the same seeds. */
const SETTINGS = defaultSettings();
/** SWARM_SEED=n replays one seed. */
const SEEDS = process.env.SWARM_SEED
  ? [Number(process.env.SWARM_SEED)]
  : someOf(Array.from({ length: 15 }, (_, at) => 8100 + at));
/** The first of them play the story of an account, too. */
const ACCOUNTS = partOf(4);

test(`swarm, ${SEEDS.length} seeds`, async () => {
  const worst = { faults: 0, after: 0, utilisation: 1 };
  for (const [at, seed] of SEEDS.entries()) {
    const verdict = at < ACCOUNTS ? await playSeed(seed, SETTINGS) : runSwarm(seed, SETTINGS, 'by-seed');
    const replay = `quotamesh sim swarm --seed ${seed}`;
    expect(verdict.problems, [`replay: ${replay}`, ...verdict.plan].join('\n')).toEqual([]);
    for (const phase of ['faults', 'after'] as const) worst[phase] = Math.max(worst[phase], verdict.worst[phase]);
    worst.utilisation = Math.min(worst.utilisation, verdict.utilisation);
  }
  console.log(`swarm: worst 5 s ÷ quota and least utilisation ${JSON.stringify(worst)}`);
});

test.each(
  someOf([
    // All of them had gates.
    // A node that remembered a life which a wrong key had written over had agreed with others on a pool; two that began with
    // a compacted log had not read the agreement.
    24_115, 60_867, 64_912,
    // A reader was given "again" what compaction had removed before it began; only the simulator did that.
    34_278, 74_949,
    // An id that was forgotten came back with the nonce that it had had before.
    41_961,
  ]),
)('seed %i, which once broke a promise, keeps all of them', (seed) => {
  const { problems, plan } = runSwarm(seed, withGates(SETTINGS));
  expect(problems, plan.join('\n')).toEqual([]);
});

test.each(
  someOf([
    // A process that was fenced by what its forerunner still wrote was not started again, as a supervisor does.
    416_623_152,
    // The clock of a machine that two causes suspended at once went back.
    416_625_673,
    // Members and lives were read from another partition than the bucket's records.
    29, 37, 76,
    // So were ceilings of ramps.
    35, 83,
    // A tombstone of a row on a partition where its group had been before settled the bucket.
    140,
    // A node that counted a dead one behind a compacted log, or not a life behind a wrong key, kept other tokens.
    84_145_190, 92,
    // A life behind a wrong key was remembered on another partition than the members', and its node unknown there for good.
    7_300_384,
    // A dead node behind a wrong key was unknown to who read a compacted log, and no farewell reached its partition.
    701_191,
    // A process drew the nonce that its forerunner had, whose life a wrong key hid.
    1_011_073,
    // A node came back while all were stopped for more partitions, read a last record of the old number, and was not
    // started again; nor was one whose processes stopped each other long after the wrong key that had hidden their lives.
    1_011_847, 1_023_658,
    // A node remembered a life, on one partition alone, that a wrong key had written over; three that did not know a dead
    // node behind a wrong key agreed on a pool without it.
    1_063_148,
    1_072_524,
  ]),
)('seed %i of groups as drawn, too', (seed) => {
  const { problems, plan } = runSwarm(seed, SETTINGS, 'by-seed');
  expect(problems, plan.join('\n')).toEqual([]);
});

test('the same seed gives the same verdict', () => {
  expect(runSwarm(8101, SETTINGS)).toEqual(runSwarm(8101, SETTINGS));
});
