import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { worstSpan } from '../../sim/cluster/measure.js';
import { World } from '../../sim/cluster/world.js';
import { type AwayFor, playTopicAway } from '../../sim/topic-away.js';
import type { IsolationPolicy } from '../../src/core/base/vocabulary.js';
import { someOf } from '../property/seed.js';
import { GATED, SETTINGS } from './settings.js';

const QUOTA = 900;
const AWAY_SETTINGS = {
  ...SETTINGS,
  groups: [{ ...GATED, quota: { ...GATED.quota, publish: [QUOTA, Infinity] as const } }],
};

/** The rows of docs/operate/when-the-topic-is-away.md, which this file prints and checks. */
const ROWS: string[] = [];

afterAll(() => {
  console.log(ROWS.join('\n'));
  const page = readFileSync(new URL('../../docs/operate/when-the-topic-is-away.md', import.meta.url), 'utf8');
  for (const line of ROWS) expect(page).toContain(line);
});

const CASES: readonly (readonly [IsolationPolicy, number, AwayFor, number, number])[] = [
  // What is admitted under the policy, and in the worst second, at most, in parts of the quota.
  ['equal-share', 10, 'everybody', 1, 1.05],
  ['floor', 10, 'everybody', 0.01, 1.05],
  ['closed', 10, 'everybody', 0, 1.05],
  ['open', 10, 'everybody', 1400 / QUOTA, 1.6],
  ['equal-share', 10, 'one node', 4 / 3, 1.4],
  ['floor', 10, 'one node', 1.01, 1.4],
  ['closed', 10, 'one node', 1, 1.4],
  ['closed', 0, 'one node', 1, 1.05],
  ['open', 10, 'one node', 1400 / QUOTA, 1.6],
];

test.each(someOf(CASES))('%s after %d s, away for %s', (policy, holdSeconds, awayFor, most, worst) => {
  const run = playTopicAway(AWAY_SETTINGS, { policy, holdMs: holdSeconds * 1000 }, awayFor);
  const figures = [run.held, run.policy, run.after, run.worst].map((rate) => rate.toFixed(0));
  ROWS.push(`| \`${policy}\` | ${holdSeconds} s | ${awayFor} | ${figures.join(' | ')} | ${run.backSeconds} |`);
  expect(run.before / QUOTA).toBeCloseTo(1, 1);
  expect(run.policy).toBeLessThanOrEqual(QUOTA * most * 1.01);
  expect(run.backSeconds).toBeLessThanOrEqual(5);
  // The way back has no burst.
  expect(run.worst).toBeLessThanOrEqual(QUOTA * worst);
});

/**
 * Connections come back one after the other, as real ones do in test/long/outage-redis.test.ts. A node that comes later
 * than `stalenessMs` after the first is one node cut off alone, as in the table.
 */
test.each(someOf([0, 600, 1200]))(
  'back after 60 s, one node every %d ms: never above the quota over any 5 s',
  (skewMs) => {
    for (const seed of [1, 2]) {
      const group = { ...GATED, quota: { ...GATED.quota, publish: [600, Infinity] as const } };
      const world = new World(seed, { ...SETTINGS, groups: [group] });
      const demand = Object.entries({ a: 500, b: 300, c: 300 });
      for (const [node, rate] of demand) {
        world.start(node);
        world.drive({ node, ratePerSecond: () => rate });
      }
      world.runFor(4000);
      for (const [node] of demand) world.node(node).cutOff(true);
      world.runFor(60_000);
      for (const [node] of demand) {
        world.node(node).cutOff(false);
        world.runFor(skewMs);
      }
      world.runFor(8000);
      expect(worstSpan(world.arrivals, 5000, 0, world.nowMs) / 600).toBeLessThanOrEqual(1.02);
    }
  },
);
