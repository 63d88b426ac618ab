import { describe, expect, test } from 'vitest';
import type { ClusterOptions } from './cluster.js';
import { playPools } from './pools-story.js';
import { playRamps } from './ramp-story.js';
import { percent } from './story.js';

/** Four starts, which take half a minute each on a busy machine. */
const TIMEOUT = { timeout: 400_000 };

/**
 * A bucket returns to its set point with a second's time constant: 0.35 of the depth at the top are 2 % of the climb's
 * first 5 s. test/simulation/tokens/ramps.test.ts bounds the same use by the same number.
 */
const USED_LEAST = 0.97;

/** What agreed pools and ramps promise on real processes; test/simulation/pools-story.test.ts plays the same exactly. */
export function poolsPromises(name: string, topicOf: () => Promise<ClusterOptions['topic']>): void {
  describe(`agreed pools and ramps on the ${name} topic`, () => {
    test('1 → 3 → 2 → 1 nodes by start, SIGTERM and kill -9: the quota, and never more', TIMEOUT, async () => {
      const { phases, worstFiveSeconds, worstSecond } = await playPools(await topicOf());
      for (const { what, least, most, carriable } of phases) {
        const shown = `any 5 s at least ${percent(least)} of the quota, certainly no more than ${percent(most)}`;
        console.log(`[${name}] ${what}: ${shown}; asked for ${percent(carriable)}`);
      }
      console.log(`[${name}] worst 5 s of all ${percent(worstFiveSeconds)}, worst second ${percent(worstSecond)}`);
      expect(phases).toHaveLength(4);
      for (const { what, least, most, carriable } of phases) {
        expect(least / carriable, what).toBeGreaterThanOrEqual(0.98);
        expect(most, what).toBeLessThanOrEqual(1.02);
      }
      expect(worstFiveSeconds).toBeLessThanOrEqual(1.02);
      expect(worstSecond).toBeLessThanOrEqual(1.1);
    });

    test('a ramp is followed within 5 %, and resumed at its level after a rolling restart', TIMEOUT, async () => {
      const { climb, restarting, resumed, shown } = await playRamps(await topicOf());
      for (const [what, { given, used, most }] of Object.entries({ climb, resumed })) {
        const ofLine = `shares gave ${percent(given)} of the line, any 5 s hold at most ${percent(most)} of it`;
        console.log(`[${name}] ramp, ${what}: ${ofLine} and at least ${percent(used)} of the shares`);
      }
      console.log(`[${name}] ramp, restarting: any 5 s hold at most ${percent(restarting.most)} of the line`);
      console.log(`[${name}] after the restart a node says ${percent(shown)} of the line`);
      for (const { given, used, most } of [climb, resumed]) {
        expect(Math.abs(given - 1)).toBeLessThanOrEqual(0.05);
        expect(used).toBeGreaterThanOrEqual(USED_LEAST);
        expect(most).toBeLessThanOrEqual(1.05);
      }
      expect(restarting.most).toBeLessThanOrEqual(1.05);
      expect(Math.abs(shown - 1)).toBeLessThanOrEqual(0.05);
    });
  });
}
