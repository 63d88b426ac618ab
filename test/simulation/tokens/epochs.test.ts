import { describe, expect, test } from 'vitest';
import type { World } from '../../../sim/cluster/world.js';
import { MESSAGES } from '../../../src/core/base/vocabulary.js';
import { LANE, worldOfTokens } from './play.js';

const NAMES = ['a', 'b', 'c'];
const PER_SECOND = 1000;
const DEPTH = 100;

/** Half of the quota is used; what `c` takes comes in clumps of three depths, most of it beyond what is expected. */
function drive(world: World): void {
  const clumps = (nowMs: number) => (nowMs % 1500 < 100 ? 3000 : 0);
  for (const node of NAMES) world.drive({ node, lane: LANE, ratePerSecond: node === 'c' ? clumps : () => 200 });
}

/** The least that the cluster's bucket holds by what one node has read. */
function leastTokens(world: World, name: string, forMs: number): number {
  const { tokens, lanes } = world.node(name).coordinator;
  let least = Number.POSITIVE_INFINITY;
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

describe.each(Object.entries(FATES))('a log %s; one node goes on writing its charges into it', (_, befall) => {
  test.each([1, 2, 3, 4])('they are of another log: nobody pays for them, nobody is named, seed %d', (seed) => {
    const world = worldOfTokens(seed, NAMES, PER_SECOND);
    drive(world);
    world.runFor(30_000);
    world.node('c').cutOff(true, { reads: true, appends: false });
    befall(world);
    world.runFor(1500);
    world.node('c').cutOff(false);
    expect(leastTokens(world, 'a', 3000)).toBeGreaterThan(-DEPTH);
    for (const name of NAMES) {
      expect(world.node(name).notices.map(({ notice }) => notice.kind)).not.toContain('charge-refused');
    }
  });
});
