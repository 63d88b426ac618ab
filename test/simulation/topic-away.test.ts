import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { type AwayFor, playTopicAway } from '../../sim/topic-away.js';
import type { IsolationPolicy } from '../../src/core/vocabulary.js';
import { GROUP, SETTINGS } from './settings.js';

const QUOTA = 900;
const AWAY_SETTINGS = {
  ...SETTINGS,
  groups: [{ ...GROUP, quota: { ...GROUP.quota, publish: [QUOTA, Number.POSITIVE_INFINITY] as const } }],
};

/** The rows of docs/when-the-topic-is-away.md, which this file prints and checks. */
const ROWS: string[] = [];

afterAll(() => {
  console.log(ROWS.join('\n'));
  const page = readFileSync(new URL('../../docs/when-the-topic-is-away.md', import.meta.url), 'utf8');
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

test.each(CASES)('%s after %d s, away for %s', (policy, holdSeconds, awayFor, most, worst) => {
  const run = playTopicAway(AWAY_SETTINGS, { policy, holdMs: holdSeconds * 1000 }, awayFor);
  const figures = [run.held, run.policy, run.after, run.worst].map((rate) => rate.toFixed(0));
  ROWS.push(`| \`${policy}\` | ${holdSeconds} s | ${awayFor} | ${figures.join(' | ')} | ${run.backSeconds} |`);
  expect(run.before / QUOTA).toBeCloseTo(1, 1);
  expect(run.policy).toBeLessThanOrEqual(QUOTA * most * 1.01);
  expect(run.backSeconds).toBeLessThanOrEqual(5);
  // The way back has no burst.
  expect(run.worst).toBeLessThanOrEqual(QUOTA * worst);
});
