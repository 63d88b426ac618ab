import { describe, expect, test } from 'vitest';
import { Random } from '../../sim/cluster/random.js';
import { exhaust, SMALL_WORLDS } from '../../sim/strict/exhaust.js';
import { countOnPublication, MUTATIONS } from '../../sim/strict/mutations.js';
import { playStrict, StrictPlay } from '../../sim/strict/play-strict.js';
import { SmallWorld } from '../../sim/strict/small-world.js';
import { calmWorld } from '../../sim/strict/strict-world.js';
import type { StrictWallet } from '../../src/core/strict/strict-wallet.js';
import { someOf } from '../property/seed.js';

/** `quotamesh sim strict --from 1 --seeds 100` plays the same. */
const SEEDS = someOf(Array.from({ length: 100 }, (_, at) => 1 + at));
/** First seeds in which the judge finds a fault that was put in; test:long looks for them among the first 1,000. */
const FOUND = {
  'count-on-publication': 4,
  'expiry-without-record': 719,
  'raise-before-echo': 38,
  'restart-forgets-orders': 106,
};
const STATES = 1500;
/** a is expired while it sleeps; b takes what has flowed since; a wakes and spends. */
const SLEEP = 'order 0, append 0, read 0, pass, read 1, expire 1, append 0, pass, pass, pass, read 1';
const FROZEN = `${SLEEP}, order 1, append 0, read 1, use 1, use 1, use 0, use 0`.split(', ');

test(`${SEEDS.length} random clusters with every fault admit nothing that one central bucket would not`, () => {
  const used = { admitted: 0, central: 0 };
  for (const seed of SEEDS) {
    const verdict = playStrict(seed);
    expect(verdict.over, `quotamesh sim strict --from ${seed} --seeds 1: ${verdict.plan}`).toBe(0);
    used.admitted += verdict.admitted;
    used.central += verdict.central;
  }
  expect(used.admitted).toBeGreaterThan(0.1 * used.central);
  console.log(`strict: ${SEEDS.length} seeds, 0 over, used ${((100 * used.admitted) / used.central).toFixed(1)} %`);
});

test.each(someOf(Object.entries(FOUND)))('the judge finds %s', (name, seed) => {
  expect(playStrict(seed).over).toBe(0);
  const { over, firstOverMs } = playStrict(seed, MUTATIONS[name]);
  console.log(`strict: ${name}: seed ${seed}, ${over.toFixed(2)} tokens over from ${firstOverMs} ms on`);
  expect(over).toBeGreaterThan(0);
});

describe('every order of actions of three nodes with three tokens', () => {
  test.each(someOf(Object.entries(SMALL_WORLDS)))('%s', (name, bounds) => {
    const { states, depth, broken } = exhaust(bounds, 40, STATES);
    console.log(`strict: ${name}: ${states} states, every order of ${depth} actions`);
    expect(broken).toBeNull();
    expect(depth).toBeGreaterThanOrEqual(3);
  });

  test.each([
    {
      says: 'what counts on publication',
      fault: countOnPublication,
      story: ['order 0', 'append 0', 'read 0', 'order 0', 'use 0', 'use 0', 'use 0', 'use 0'],
    },
    {
      says: 'what goes on when it may have been expired',
      fault: (wallet: StrictWallet) => {
        wallet.isAlive = () => true;
      },
      story: FROZEN,
    },
  ])('finds $says', ({ fault, story }) => {
    const bounds = { ...SMALL_WORLDS['frozen past expiry'], expiries: 4 };
    const [sound, broken] = [new SmallWorld(bounds), new SmallWorld(bounds, fault)];
    for (const world of [sound, broken]) for (const action of story) world.act(action);
    expect(sound.broken).toBeNull();
    expect(broken.broken).toMatch(/tokens more than one central bucket/);
  });
});

const CALM = [
  { nodes: 3, perSecond: 590, depth: 59, delayMs: 5, waitMs: 80, least: 0.95 },
  { nodes: 5, perSecond: 900, depth: 270, delayMs: 50, waitMs: 160, least: 0.95 },
  { nodes: 3, perSecond: 5, depth: 5, delayMs: 5, waitMs: 160, least: 0.9 },
];

test.each(someOf(CALM))(
  'without faults $nodes nodes use most of $perSecond/s, depth $depth, $delayMs ms away',
  ({ least, ...of }) => {
    const { over, admitted, central } = new StrictPlay(1, calmWorld({ ...of, load: 1 }), new Random(1)).run();
    expect(over).toBe(0);
    expect(admitted / central).toBeGreaterThan(least);
  },
);
