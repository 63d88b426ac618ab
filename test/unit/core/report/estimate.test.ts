import { describe, expect, test } from 'vitest';
import { copyUnits } from '../../../../src/core/base/vocabulary.js';
import { createLaneRates, estimate } from '../../../../src/core/report/sample/estimate.js';
import { LONG } from '../../../../src/core/report/sample/lane-sample.js';
import { Sampling, type Work } from '../sample/sampling.js';

function ratesOf(work: Work, { claim = [0, 0], durationMs = 1000 } = {}) {
  const sampling = new Sampling();
  copyUnits(claim, sampling.sample.claim);
  sampling.run(durationMs, work);
  const rates = createLaneRates();
  estimate(sampling.sample, LONG, rates);
  return rates;
}

describe('work that is held back and tried again', () => {
  test.each([
    // The worked number of the comment: share 60 of 200, N = 3.
    { says: 'all the time: twice the claim', claim: [200 / 3, Infinity], heldBack: 1, demand: [133.33, 0] },
    { says: 'nearly all the time: the same', claim: [60, Infinity], heldBack: 0.9, demand: [120, 0] },
    {
      says: 'half of the time: a queue that runs empty, so what arrives',
      claim: [60, Infinity],
      heldBack: 0.5,
      demand: [20, 0],
    },
    { says: 'never: what arrives', claim: [60, Infinity], heldBack: 0, demand: [20, 0] },
  ])('$says', ({ claim, heldBack, demand }) => {
    const sampling = new Sampling();
    copyUnits(claim, sampling.sample.claim);
    sampling.run(2000 * heldBack, { perSecond: 20, heldBack: true });
    sampling.run(2000 * (1 - heldBack), { perSecond: 20 });
    const rates = createLaneRates();
    estimate(sampling.sample, LONG, rates);
    expect(Array.from(rates.demand, (rate) => Number(rate.toFixed(2)))).toEqual(demand);
  });

  test('the short dimension claims, the other follows by the weight of a piece', () => {
    const { demand } = ratesOf({ perSecond: 20, bytes: 100, heldBack: true }, { claim: [1000, 5000] });
    expect(Array.from(demand)).toEqual([100, 10_000]);
  });

  test('bytes alone are claimed in bytes', () => {
    const sampling = new Sampling();
    copyUnits([Infinity, 5000], sampling.sample.claim);
    sampling.limiter.countArrival(0, 0, 100);
    sampling.run(1000, { perSecond: 0, heldBack: true });
    const rates = createLaneRates();
    estimate(sampling.sample, LONG, rates);
    expect(Array.from(rates.demand)).toEqual([0, 10_000]);
  });

  test('nothing infinite or NaN comes out where nothing is limited', () => {
    for (const bytes of [0, 100]) {
      const { demand } = ratesOf({ perSecond: 20, bytes, heldBack: true }, { claim: [Infinity, Infinity] });
      expect(Array.from(demand)).toEqual([20, 20 * bytes]);
    }
  });

  test('an open loop that is refused shows its demand already', () => {
    const { demand } = ratesOf({ perSecond: 3000, admitted: 0.1 }, { claim: [300, Infinity] });
    expect(demand[0]).toBe(3000);
  });
});
