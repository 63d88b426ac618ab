import { describe, expect, test } from 'vitest';
import { createLaneRates } from '../../../../src/core/report/sample/estimate.js';
import { BRIEF, FAST, LONG, MEDIUM, SLOW } from '../../../../src/core/report/sample/lane-sample.js';
import { noticedIn } from '../../../../src/core/report/sample/significant-change.js';
import { Sampling } from '../sample/sampling.js';

const RULE = { reads: 'demand', significantChangeRatio: 0.1, noiseFactor: 5, restsOnMs: 20_000 } as const;

function reportedAt(perSecond: number) {
  const reported = createLaneRates();
  for (const column of [reported.usage, reported.demand, reported.squares]) column[0] = perSecond;
  return reported;
}

/** The first span that notices, and after how long, when a lane reported at one rate goes on at another. */
function noticed(from: number, to: number, withinMs: number, rule: Parameters<typeof noticedIn>[2] = RULE) {
  const sampling = new Sampling();
  sampling.run(20_000, { perSecond: from });
  for (let elapsedMs = 20; elapsedMs <= withinMs; elapsedMs += 20) {
    sampling.run(20, { perSecond: to });
    const span = noticedIn(sampling.sample, reportedAt(from), rule);
    if (span !== -1) return { span, elapsedMs };
  }
  return null;
}

describe('a significant change', () => {
  test('what is known from a moment only is doubted as much as what it is compared with', () => {
    const young = { ...RULE, restsOnMs: 60 };
    expect(noticed(2000, 4200, 60, young)).toMatchObject({ span: FAST });
    expect(noticed(2000, 3300, 60, young)).toBeNull();
    expect(noticed(2000, 500, 60, young)).toMatchObject({ span: FAST });
    expect(noticed(2000, 1000, 60, young)).toBeNull();
  });

  test.each([
    { from: 20, to: 2000, withinMs: 60 },
    { from: 2000, to: 20, withinMs: 60 },
    { from: 80, to: 160, withinMs: 2500 },
    { from: 160, to: 80, withinMs: 2500 },
    { from: 300, to: 450, withinMs: 2500 },
    { from: 80, to: 100, withinMs: 60_000 },
  ])('$from/s → $to/s within $withinMs ms', ({ from, to, withinMs }) => {
    expect(noticed(from, to, withinMs)).not.toBeNull();
  });

  test('it looks at the signal that the strategy reads', () => {
    const sampling = new Sampling();
    sampling.run(2000, { perSecond: 2000, admitted: 0.2 });
    const reported = reportedAt(2000);
    expect(noticedIn(sampling.sample, reported, RULE)).toBe(-1);
    expect(noticedIn(sampling.sample, reported, { ...RULE, reads: 'usage' })).toBe(FAST);
  });

  test('it may begin with a longer span', () => {
    const sampling = new Sampling();
    sampling.run(10_000, { perSecond: 100 });
    expect(
      [FAST, BRIEF, MEDIUM, SLOW, LONG].map((shortest) => noticedIn(sampling.sample, reportedAt(2000), RULE, shortest)),
    ).toEqual([FAST, BRIEF, MEDIUM, SLOW, LONG]);
  });

  test('a change of bytes alone counts', () => {
    const sampling = new Sampling();
    sampling.run(2000, { perSecond: 1000, bytes: 50 });
    const reported = reportedAt(1000);
    reported.demand[1] = 1000 * 200;
    reported.squares[1] = 1000 * 200 * 200;
    expect(noticedIn(sampling.sample, reported, RULE)).not.toBe(-1);
  });
});
