import { describe, expect, test } from 'vitest';
import { createLaneRates } from '../../../../src/core/report/sample/estimate.js';
import {
  beginSettling,
  createSettling,
  isUnsettled,
  isUsageOutdated,
  shareMoved,
} from '../../../../src/core/report/sample/settling.js';
import { Sampling } from '../sample/sampling.js';

const RULE = { reads: 'demand', significantChangeRatio: 0.1, fastSpanMs: 50, target: [1000, Infinity] } as const;

/**
 * A change to `trueRate` reported as `reportedRate`; the times after it at which a look finds the report wrong,
 * uncorrected.
 */
function looksThatDiffer(reportedRate: number, trueRate: number, { restsOnMs = 0, target = 1000 } = {}): number[] {
  const sampling = new Sampling();
  const reported = createLaneRates();
  reported.demand[0] = reportedRate;
  reported.squares[0] = reportedRate;
  const settling = createSettling();
  beginSettling(settling, sampling.nowMs, restsOnMs);
  const found: number[] = [];
  for (let elapsedMs = 20; elapsedMs <= 120_000; elapsedMs += 20) {
    sampling.run(20, { perSecond: trueRate });
    const rule = { ...RULE, target: [target, Infinity] as const };
    if (isUnsettled(settling, sampling.sample, reported, rule)) found.push(elapsedMs);
  }
  return found;
}

describe('looks after a change', () => {
  test('are fifteen at most, and end', () => {
    const expected = [60, 100, 160, 200, 300, 400, 560, 760, 1000, 1400, 2000, 3000, 5000, 15_000, 50_000];
    expect(looksThatDiffer(3000, 1000)).toEqual(expected);
  });

  test('an error within one standard deviation is not corrected before more is known', () => {
    // ± √80 of 80 after one second, ± √(80 · 15) of 1,200 after fifteen.
    expect(looksThatDiffer(84, 80)).toEqual([15_000, 50_000]);
  });

  test('a look that knows less than the report does needs more certainty', () => {
    // Reported from a second of arrivals, ± √900: 1,000 differs by three deviations, but 60 ms know it to ± 129 only.
    expect(looksThatDiffer(900, 1000, { restsOnMs: 1000 })[0]).toBe(760);
    expect(looksThatDiffer(900, 1000)[0]).toBe(160);
    expect(looksThatDiffer(900, 0, { restsOnMs: 1000 })[0]).toBe(60);
  });
});

describe('usage after the own share moved', () => {
  test('is looked at five seconds after the first move, however often it moves until then', () => {
    const sampling = new Sampling();
    const settling = createSettling();
    const reported = createLaneRates();
    reported.usage[0] = 500;
    sampling.run(10_000, { perSecond: 1000, admitted: 0.3 });
    for (let second = 0; second < 5; second++) {
      shareMoved(settling, sampling.nowMs);
      expect(isUsageOutdated(settling, sampling.sample, reported, RULE)).toBe(false);
      sampling.run(1000, { perSecond: 1000, admitted: 0.3 });
    }
    expect(isUsageOutdated(settling, sampling.sample, reported, RULE)).toBe(true);
  });

  test('is looked at once, five seconds later, and replaced when it is off by more than 10 %', () => {
    const sampling = new Sampling();
    const settling = createSettling();
    const reported = createLaneRates();
    reported.usage[0] = 500;
    sampling.run(10_000, { perSecond: 1000, admitted: 0.5 });
    expect(isUsageOutdated(settling, sampling.sample, reported, RULE)).toBe(false);
    shareMoved(settling, sampling.nowMs);
    sampling.run(4980, { perSecond: 1000, admitted: 0.5 });
    expect(isUsageOutdated(settling, sampling.sample, reported, RULE)).toBe(false);
    sampling.run(20, { perSecond: 1000, admitted: 0.5 });
    expect(isUsageOutdated(settling, sampling.sample, reported, RULE)).toBe(false);
    shareMoved(settling, sampling.nowMs);
    sampling.run(10_000, { perSecond: 1000, admitted: 0.3 });
    expect(isUsageOutdated(settling, sampling.sample, reported, RULE)).toBe(true);
    expect(isUsageOutdated(settling, sampling.sample, reported, RULE)).toBe(false);
  });
});
