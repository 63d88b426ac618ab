import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CUT_OFF_QUOTA, playCutOff } from '../cluster/cut-off-story.js';
import { type RedisServer, startRedis } from '../redis/redis.js';
import { findRedis } from '../redis/redis-source.js';

const isHere = (await findRedis()) !== null;

/**
 * Bounds in quotas: what is held is what b had beside the whole quota of the others (docs/operate/when-the-topic-is-away.md: it adds
 * what it held, then its fallback of a third), and with `closed` from the beginning nothing.
 */
const CASES = [
  { policy: 'equal-share', holdMs: '10s', held: 4 / 3, fallback: 4 / 3 },
  { policy: 'closed', holdMs: '10s', held: 4 / 3, fallback: 1 },
  { policy: 'closed', holdMs: '0s', held: 1, fallback: 1 },
];

describe.skipIf(!isHere)('one node cut off from a healthy Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  test.each(CASES)('$policy after $holdMs', async ({ policy, holdMs, held, fallback }) => {
    const prefix = `cut-${process.pid}-${policy}-${holdMs}:`;
    const run = await playCutOff(redis, prefix, { policy, holdMs });
    const figures = [run.held, run.policy, run.after].map((rate) => rate.toFixed(0)).join(' | ');
    console.log(`| \`${policy}\` | ${holdMs} | one node | ${figures} | worst 5 s ${run.worst.toFixed(3)} |`);
    expect(run.degraded.join()).toContain('isolated');
    expect(run.held / CUT_OFF_QUOTA).toBeLessThanOrEqual(held * 1.02);
    expect(run.policy / CUT_OFF_QUOTA).toBeLessThanOrEqual(fallback * 1.02);
    expect(run.worst).toBeLessThanOrEqual(Math.max(held, fallback) * 1.02);
    expect(Math.abs(run.after / CUT_OFF_QUOTA - 1)).toBeLessThanOrEqual(0.02);
  });
});
