import { describe, expect, test } from 'vitest';
import type { World } from '../../../sim/cluster/world.js';
import { MESSAGES } from '../../../src/core/base/vocabulary.js';
import { someOf } from '../../property/seed.js';
import { LANE, worldOfTokens } from './play.js';

const NAMES = ['a', 'b', 'c'];
const PER_SECOND = 1000;
const DEPTH = 100;

/** Half of the quota is used; what `c` takes comes in clumps of three depths, most of it beyond what is expected. */
function drive(world: World): void {
  const clumps = (nowMs: number) => (nowMs % 1000 < 100 ? 3000 : 0);
  for (const node of NAMES) world.drive({ node, lane: LANE, ratePerSecond: node === 'c' ? clumps : () => 200 });
}

/** The least that the cluster's bucket holds by what one node has read. */
function leastTokens(world: World, name: string, forMs: number): number {
  const { tokens, lanes } = world.node(name).coordinator;
  let least = Infinity;
  for (const endMs = world.nowMs + forMs; world.nowMs < endMs; world.runFor(20)) {
    const mapLane = lanes.get(LANE)?.mapLane as number;
    least = Math.min(least, tokens.tokensOf(mapLane, MESSAGES) ?? DEPTH);
  }
  return least;
}

const FATES: Readonly<Record<string, (world: World) => void>> = {
  'made anew': ({ topic }) => topic.makeAnew(),
  truncated: ({ topic }) => topic.truncate((_, endOffset) => Math.floor(endOffset / 2)),
};

/** With slow appends a report is under way when the node notices, and the next one is sent behind its heartbeat. */
const APPENDS_MS = [2, 400];

const CASES = Object.entries(FATES).flatMap(([fate, befall]) =>
  APPENDS_MS.map((mostMs) => [fate, mostMs, befall] as const),
);

describe.each(CASES)('a log %s, appends take up to %d ms; one node goes on with its charges', (_, mostMs, befall) => {
  test.each(someOf([1, 2, 3, 4, 5, 6, 7, 8]))(
    'they are of another log: nobody pays for them, nobody is named, seed %d',
    (seed) => {
      const world = worldOfTokens(seed, NAMES, PER_SECOND, { appendMs: [0.5, mostMs], deliveryMs: [0.5, 3] });
      drive(world);
      world.runFor(30_000);
      world.node('c').cutOff(true, { reads: true, appends: false });
      befall(world);
      world.runFor(1000 + 50 * seed);
      world.node('c').cutOff(false);
      expect(leastTokens(world, 'a', 3000)).toBeGreaterThan(-DEPTH);
      for (const name of NAMES) {
        expect(world.node(name).notices.map(({ notice }) => notice.kind)).not.toContain('charge-refused');
      }
    },
  );
});

test.each(Object.entries(FATES))('what is taken while the log is %s is charged in the next one', (_, befall) => {
  const world = worldOfTokens(1, ['a', 'b'], 1, { appendMs: [50, 100], deliveryMs: [50, 100] });
  world.runFor(3000);
  for (const name of ['a', 'b']) while (world.ask(name, LANE, 1, 0, false));
  befall(world);
  // Each took the ten messages that the bucket held.
  expect(leastTokens(world, 'a', 2000)).toBeLessThan(-5);
});
