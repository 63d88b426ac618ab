import { describe, expect, test } from 'vitest';
import type { ClusterOptions } from './cluster.js';
import { percent } from './story.js';
import { BUSY_PER_SECOND, playTokens, SMALL, type TokensSeen } from './tokens-story.js';

/** docs/guide/tokens.md: that many depths are taken by nodes that wake within one delivery. */
const DEPTHS_TOGETHER = 3;
/** The bucket of a group of 300/s: three standard deviations of a second's arrivals. */
const BUSY_DEPTH = 3 * Math.sqrt(BUSY_PER_SECOND);
/** A quota of few tokens is exceeded by so many requests in any 5 s, and used to so much where news takes 200 ms. */
const SMALL_EXCESS_MAX = 2;
const SMALL_USED_MIN = 0.83;
/** As of groups that share rates (promises.ts): machines with few cores have no time for some requests. */
const USED_MIN = 0.9;

/** What docs/guide/tokens.md says of three nodes, on node processes. Counts are over 5 s and more; times are printed. */
export function tokensPromises(name: string, topicOf: () => Promise<ClusterOptions['topic']>): void {
  describe(`groups that share tokens on the ${name} topic`, () => {
    let seen: TokensSeen;

    test('an idle quota of 10/s, burst 10: ten requests at once at any node are admitted', async () => {
      seen = await playTokens(await topicOf());
      expect(seen.alone).toEqual([10, 10, 10]);
    });

    test('sixty at once over the three give 10 to 30, then nothing until that is paid back', () => {
      const { together, laterMs, laterToMs } = seen;
      const { admitted, fromMs, toMs } = together;
      const inflow = (untilMs: number) => (SMALL.perSecond * (untilMs - fromMs)) / 1000;
      const paidMs = fromMs + (1000 * (admitted - SMALL.depth)) / SMALL.perSecond;
      const totalUntil = (untilMs: number) => admitted + laterMs.filter((atMs) => atMs < untilMs).length;
      const [first = Number.NaN] = laterMs;
      console.log(
        `[${name}] at once ${admitted} in ${(toMs - fromMs).toFixed(0)} ms, the next after ${(first - fromMs).toFixed(0)} ms; ` +
          `${totalUntil(laterToMs)} in ${((laterToMs - fromMs) / 1000).toFixed(1)} s`,
      );
      expect(admitted).toBeGreaterThanOrEqual(SMALL.depth);
      expect(admitted).toBeLessThanOrEqual(DEPTHS_TOGETHER * SMALL.depth + inflow(toMs));
      expect(totalUntil(paidMs)).toBe(admitted);
      for (const untilMs of [fromMs + 5000, laterToMs]) {
        const inOneBucket = SMALL.depth + inflow(untilMs);
        expect(totalUntil(untilMs)).toBeLessThanOrEqual(inOneBucket + SMALL_EXCESS_MAX);
        expect(totalUntil(untilMs)).toBeGreaterThanOrEqual(SMALL_USED_MIN * inOneBucket);
      }
    });

    test('300/s of which one node wants 600/s and two want 15/s: the quota, and the two are met', () => {
      const { worstFiveSeconds, used, quiet } = seen.busy;
      console.log(
        `[${name}] 600/15/15: worst 5 s ${percent(worstFiveSeconds)}, used ${percent(used)}, the quiet got ${percent(quiet)}`,
      );
      expect(worstFiveSeconds).toBeLessThanOrEqual(1 + (DEPTHS_TOGETHER * BUSY_DEPTH) / (5 * BUSY_PER_SECOND));
      expect(used).toBeGreaterThanOrEqual(USED_MIN);
      expect(quiet).toBeGreaterThanOrEqual(USED_MIN);
    });
  });
}
