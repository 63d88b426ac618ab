import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Limiter } from '../../../../src/core/limiter/limiter.js';
import { createLaneRates, estimate } from '../../../../src/core/report/sample/estimate.js';
import {
  BRIEF,
  FAST,
  LaneSample,
  LONG,
  Mark,
  MEDIUM,
  SIZES,
  SLOW,
  SPAN_COUNT,
} from '../../../../src/core/report/sample/lane-sample.js';
import { runs } from '../../../property/seed.js';
import { Sampling } from './sampling.js';

const IDLE = { perSecond: 0 };

describe('spans', () => {
  test.each([
    { name: 'fast', span: FAST, lengthMs: 50 },
    { name: 'brief', span: BRIEF, lengthMs: 232 },
    { name: 'medium', span: MEDIUM, lengthMs: 1077 },
    { name: 'slow', span: SLOW, lengthMs: 5000 },
    { name: 'long', span: LONG, lengthMs: 60_000 },
  ])('$name covers once to twice its length, at all times', ({ span, lengthMs }) => {
    const sampling = new Sampling();
    sampling.run(lengthMs + 20, IDLE);
    for (let turn = 0; turn < 200; turn++) {
      sampling.run(lengthMs / 10, IDLE);
      expect(sampling.sample.isFull(span)).toBe(true);
      expect(sampling.sample.lengthMs(span)).toBeGreaterThanOrEqual(lengthMs - 1);
      expect(sampling.sample.lengthMs(span)).toBeLessThan(2 * 20 * Math.ceil(lengthMs / 20));
    }
  });

  test.each([
    [50, 5000],
    [50, 2000],
    [100, 2000],
    [50, 5000],
  ])('are as long as they are set: %i and %i ms, whatever other lanes have', (fastMs, slowMs) => {
    const limiter = new Limiter(1);
    const sample = new LaneSample(fastMs, slowMs, 10);
    sample.begin(limiter, 0, 0);
    const fullAfterMs = [FAST, SLOW, LONG].map(() => Number.NaN);
    for (let nowMs = 10; nowMs <= 12 * slowMs; nowMs += 10) {
      sample.take(limiter, 0, nowMs);
      for (const [at, span] of [FAST, SLOW, LONG].entries()) {
        if (Number.isNaN(fullAfterMs[at]) && sample.isFull(span)) fullAfterMs[at] = nowMs;
      }
    }
    expect(fullAfterMs).toEqual([fastMs, slowMs, 12 * slowMs]);
  });

  test('begin anew when the limiter has set its counters to 0, and count on from there', () => {
    const sampling = new Sampling();
    sampling.run(1000, { perSecond: 100 });
    sampling.limiter.countSettled(0, 2 ** 52, 0, false);
    sampling.run(20, IDLE);
    sampling.limiter.keepExact(0);
    sampling.run(20, { perSecond: 50 });
    for (let span = FAST; span <= SIZES; span++) expect(sampling.sample.lengthMs(span)).toBe(0);
    sampling.run(1000, { perSecond: 100 });
    const { now } = sampling.sample;
    expect(now.admitted(0) - sampling.sample.beginOf(LONG).admitted(0)).toBe(100);
    expect(now.attempted(0) - sampling.sample.beginOf(LONG).attempted(0)).toBe(100);
  });

  test.each(['its beginning', 'a cut'])('do so at whatever sample after %s', (after) => {
    for (let samples = 0; samples < 6; samples++) {
      const sampling = new Sampling();
      sampling.limiter.countSettled(0, 2 ** 52, 0, false);
      sampling.sample.begin(sampling.limiter, 0, sampling.nowMs);
      if (after === 'a cut') {
        sampling.run(200, IDLE);
        sampling.sample.cut();
      }
      sampling.run(20 * samples, IDLE);
      sampling.limiter.keepExact(0);
      sampling.run(20, { perSecond: 50 });
      for (let window = FAST; window <= SIZES; window++) expect(sampling.sample.lengthMs(window)).toBe(0);
    }
  });

  test('a cut begins all of them anew, but not the one for sizes', () => {
    const sampling = new Sampling();
    sampling.run(3000, { perSecond: 100 });
    sampling.sample.cut();
    for (let span = FAST; span < SPAN_COUNT; span++) expect(sampling.sample.lengthMs(span)).toBe(0);
    expect(sampling.sample.lengthMs(SIZES)).toBe(3000);
    sampling.run(100, { perSecond: 100 });
    expect(sampling.sample.lengthMs(LONG)).toBe(100);
    expect(sampling.sample.lengthMs(FAST)).toBe(60);
  });
});

/** Time, time held back, and three counters in two dimensions. */
test.each([2, 3, 4, 5, 6, 7])('a counter (place %i of a mark) that falls by more than 2^51 was set to 0', (place) => {
  const [markLength, before] = [8, 2 ** 52];
  const column = new Array<number>(2 * markLength).fill(before);
  const [earlier, later] = [new Mark(column, 0), new Mark(column, 1)];
  const isAboveAt = (value: number) => {
    column[markLength + place] = value;
    return earlier.isAbove(later);
  };
  const values = [before + 1, before, before - 1, before - 2 ** 51, before - 2 ** 51 - 1, 0];
  expect(values.map(isAboveAt)).toEqual([false, false, false, false, true, true]);
});

describe('a quiet lane', () => {
  test('is one of which no span shows anything, and after silence every lane becomes one', () => {
    const rates = createLaneRates();
    const step = fc.record({
      durationMs: fc.integer({ min: 20, max: 90_000 }),
      perSecond: fc.constantFrom(0, 0, 0.1, 3),
      heldBack: fc.boolean(),
      isCut: fc.boolean(),
    });
    let quiet = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
        const sampling = new Sampling();
        const look = () => {
          if (!sampling.sample.isQuiet) return;
          quiet++;
          for (let span = FAST; span < SPAN_COUNT; span++) {
            estimate(sampling.sample, span, rates);
            for (const column of Object.values(rates)) expect([...column]).toEqual([0, 0]);
          }
        };
        for (const { durationMs, isCut, ...work } of steps) {
          sampling.run(durationMs, work);
          look();
          if (isCut) sampling.sample.cut();
          sampling.run(20, IDLE);
          look();
        }
        sampling.run(121_000, IDLE);
        expect(sampling.sample.isQuiet).toBe(true);
        look();
      }),
      runs(60),
    );
    expect(quiet).toBeGreaterThan(runs(60).numRuns);
  });

  test('is none while work is held back, though nothing is attempted anew', () => {
    const sampling = new Sampling();
    sampling.run(200, { perSecond: 0, heldBack: true });
    expect(sampling.sample.isQuiet).toBe(false);
  });
});
