import { describe, expect, test } from 'vitest';
import type { ClusterOptions } from './cluster.js';
import { playPools } from './pools-story.js';
import { playRamps } from './ramp-story.js';
import { percent } from './story.js';

/** Four starts, which take half a minute each on a busy machine. */
const TIMEOUT = { timeout: 400_000 };

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
      for (const [what, { least, most }] of Object.entries({ climb, restarting, resumed })) {
        console.log(`[${name}] ramp, ${what}: any 5 s ${percent(least)} to ${percent(most)} of the line`);
      }
      console.log(`[${name}] after the restart a node says ${percent(shown)} of the line`);
      for (const { least, most } of [climb, resumed]) {
        expect(least).toBeGreaterThanOrEqual(0.95);
        expect(most).toBeLessThanOrEqual(1.05);
      }
      expect(restarting.most).toBeLessThanOrEqual(1.05);
      expect(Math.abs(shown - 1)).toBeLessThanOrEqual(0.05);
    });
  });
}
