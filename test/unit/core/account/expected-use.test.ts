import { describe, expect, test } from 'vitest';
import { ExpectedUse } from '../../../../src/core/account/expected-use.js';
import { MESSAGES } from '../../../../src/core/base/vocabulary.js';
import { clamped } from '../../../../src/core/convergence/clamp.js';
import { strategyOf } from '../../../../src/core/convergence/compose.js';
import { maxMin } from '../../../../src/core/convergence/max-min.js';
import { GROUP } from '../../../simulation/settings.js';
import { type Participants, roundOf } from '../convergence/round-of.js';

function expectedOf(
  participants: Participants,
  own: number,
  dimension: number = MESSAGES,
  strategy = 'max-min',
): ExpectedUse {
  const round = roundOf(participants);
  const chosen = strategyOf({ ...GROUP, strategy });
  round.isLent = chosen.agreesOnPool !== true;
  chosen.converge(round);
  const expected = new ExpectedUse();
  expected.view(round, own, dimension);
  return expected;
}

/** The worked example: one wants twice the target, nine want 80 each. */
const BUSY: Participants = { target: [1000], demand: [[2000, ...Array<number>(9).fill(80)]] };

describe('one wants 2,000 of 1,000, nine want 80 each', () => {
  test.each([
    { rate: 1070, throttled: 350, met: 80 },
    { rate: 1000, throttled: 280, met: 80 },
    { rate: 970, throttled: 250, met: 80 },
    { rate: 720, throttled: 0, met: 80 },
    { rate: 360, throttled: 0, met: 40 },
    { rate: 0, throttled: 0, met: 0 },
    { rate: 2720, throttled: 2000, met: 80 },
    { rate: 5000, throttled: 2000, met: 80 },
  ])('of $rate the first takes $throttled, each of the others $met', ({ rate, throttled, met }) => {
    expect(expectedOf(BUSY, 0).ownAt(rate)).toBeCloseTo(throttled, 9);
    expect(expectedOf(BUSY, 5).ownAt(rate)).toBeCloseTo(met, 9);
  });

  test('what they would take together, what they take, and who is throttled', () => {
    const [first, second] = [0, 1].map((own) => expectedOf(BUSY, own)) as [ExpectedUse, ExpectedUse];
    expect([first.total, first.served]).toEqual([2720, 1000]);
    expect([first.isThrottled, second.isThrottled]).toEqual([true, false]);
    expect([first.due, second.due]).toEqual([280, 280]);
  });

  test('slack: a twentieth each, and half of it to the nine, by what they want', () => {
    expect(expectedOf(BUSY, 0).part).toBeCloseTo(0.05, 9);
    expect(expectedOf(BUSY, 1).part).toBeCloseTo(0.05 + 0.5 / 9, 9);
  });
});

test('where every admission is told, nobody is expected to take anything, and parts are equal', () => {
  const expected = expectedOf(BUSY, 0);
  expected.expectNothing();
  expect([expected.total, expected.served, expected.ownAt(1000), expected.part]).toEqual([0, 0, 0, 0.1]);
});

describe('bounds of a single share', () => {
  function boundedOf(participants: Participants, range: { minShareRatio: number; maxShareRatio: number }, own: number) {
    const round = Object.assign(roundOf(participants), range);
    clamped(maxMin, { ...range, isLent: true }).converge(round);
    const expected = new ExpectedUse();
    expected.view(round, own, MESSAGES);
    return expected;
  }

  test('a maximum of 0.5: who wants 2,000 is expected to take 500, and is met; nothing above it is its due', () => {
    const expected = boundedOf(
      { target: [1000], demand: [[2000, 100, 0]] },
      { minShareRatio: 0, maxShareRatio: 0.5 },
      0,
    );
    expect([expected.total, expected.served, expected.isThrottled]).toEqual([600, 600, false]);
    expect([expected.ownAt(600), expected.ownAt(1070), expected.due]).toEqual([500, 500, 500]);
  });

  test('a minimum of 0.2 for a node of little weight: 200 of it, and the others share the rest', () => {
    const busy: Participants = { target: [1000], demand: [[2000, 2000, 2000]], weight: [1, 1, 0.01] };
    const [first, , third] = [0, 1, 2].map((own) => boundedOf(busy, { minShareRatio: 0.2, maxShareRatio: 1 }, own));
    expect(third?.ownAt(1000)).toBeCloseTo(200, 6);
    expect(first?.ownAt(1000)).toBeCloseTo(400, 6);
  });

  test('minimums that nobody wants are due to whoever wants more', () => {
    const busy: Participants = { target: [1000], demand: [[2000, 0, 0]] };
    const first = boundedOf(busy, { minShareRatio: 0.2, maxShareRatio: 1 }, 0);
    expect([first.isThrottled, first.ownAt(1000)]).toEqual([true, 1000]);
    expect(first.due).toBeCloseTo(1000, 9);
  });

  test('who wants more than what minimums leave is met where nobody wants those', () => {
    const some: Participants = { target: [1000], demand: [[700, 0, 0]] };
    expect(boundedOf(some, { minShareRatio: 0.2, maxShareRatio: 1 }, 0).isThrottled).toBe(false);
  });

  test('the minimum of a node of little weight is no measure of what others are due', () => {
    const busy: Participants = { target: [1000], demand: [[2000, 100, 2000]], weight: [1, 1, 0.01] };
    const second = boundedOf(busy, { minShareRatio: 0.2, maxShareRatio: 1 }, 1);
    expect(second.due).toBeLessThan(1000);
    expect(second.due).toBeGreaterThanOrEqual(100);
  });
});
