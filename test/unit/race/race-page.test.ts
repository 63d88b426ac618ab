import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { pageOf } from '../../../bench/race/race-document.js';
import { merged, type Results, type Setup, type TrafficResult } from '../../../bench/race/results.js';
import { standingsOf } from '../../../bench/race/standing.js';
import { PACKAGE_ROOT } from '../../../src/base/package/package-root.js';

const SETUP: Setup = { limit: { key: 'api', perSecond: 1000, burst: 100, nodes: 3 }, seed: 1, machine: 'a machine' };

test('the page and its plots are what their results make', () => {
  const results = JSON.parse(readFileSync(new URL('docs/reference/race.json', PACKAGE_ROOT), 'utf8')) as Results;
  const files = pageOf(results);
  expect([...files.keys()]).toContain('docs/reference/race.md');
  for (const [file, text] of files) {
    const place = new URL(file, PACKAGE_ROOT);
    expect([file, existsSync(place) && readFileSync(place, 'utf8') === text]).toEqual([file, true]);
  }
});

describe('parts of a race', () => {
  test('add up; who runs again takes the place of what it was', () => {
    const first = merged(null, SETUP, [contender('a', steady({ p99Ms: 1 })), contender('b', steady({ p99Ms: 2 }))]);
    const { contenders } = merged(first, SETUP, [contender('a', steady({ p99Ms: 3 })), contender('c', steady({}))]);
    expect(contenders.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(contenders.map(({ traffics }) => traffics.map(({ whole }) => whole.p99Ms))).toEqual([[3], [2], [1]]);
  });

  test('of another limit, seed or machine are refused', () => {
    const first = merged(null, SETUP, [contender('a', steady({}))]);
    expect(() => merged(first, { ...SETUP, seed: 2 }, [])).toThrow(/"seed":1.*"seed":2/);
    expect(() => merged(first, { ...SETUP, limit: { ...SETUP.limit, burst: 1000 } }, [])).toThrow(/1000/);
  });
});

describe('who is first', () => {
  test('is the best of all limiters, or who is within what two runs of one differ by; no limit is none', () => {
    const results = merged(null, SETUP, [
      contender('no limit', steady({ p99Ms: 0.1, total: 1 })),
      contender('ours', steady({ p99Ms: 2, worstSecond: 1.05, belowFair: 0.02 })),
      contender('other', steady({ p99Ms: 1, worstSecond: 1, belowFair: 0 })),
    ]);
    const losses = standingsOf(results, 'ours').filter(({ isFirst }) => !isFirst);
    expect(losses.map(({ figure, by }) => [figure, by])).toEqual([
      ['worst second above the quota', 'other'],
      ['p99', 'other'],
    ]);
    expect(losses[0]).toMatchObject({ own: expect.closeTo(0.05, 9), best: 0 });
    expect(standingsOf(results, 'other').every(({ isFirst }) => isFirst)).toBe(true);
  });

  test('nobody is first who ran alone', () => {
    const results = merged(null, SETUP, [contender('no limit', steady({})), contender('ours', steady({}))]);
    expect(standingsOf(results, 'ours')).toEqual([]);
  });

  test('what is lost counts from the first request', () => {
    const results = merged(null, SETUP, [contender('ours', steady({ lost: 1 })), contender('other', steady({}))]);
    const losses = standingsOf(results, 'ours').filter(({ isFirst }) => !isFirst);
    expect(losses.map(({ figure }) => figure)).toEqual(['lost']);
  });
});

function contender(name: string, traffic: TrafficResult) {
  return { name, burst: 'a bucket', failure: null, traffics: [traffic] };
}

function steady(figures: Partial<TrafficResult['whole']>): TrafficResult {
  const whole = {
    asked: 40_000,
    admitted: 20_000,
    total: 0,
    buckets: [0, 0, 0, 0],
    worstSecond: 1,
    used: 1,
    belowFair: 0,
    p50Ms: 0.6,
    p99Ms: 1,
    lost: 0,
    ...figures,
  };
  return {
    name: 'steady',
    ran: 'now',
    seconds: 20,
    whole,
    bursts: [],
    away: null,
    back: null,
    cpuMicrosPerRequest: 50,
    series: { stepMs: 250, perSecond: [1000, 1000] },
    measuredFromMs: 0,
    awayMs: null,
  };
}
