import { describe, expect, test } from 'vitest';
import { ExpectedUse } from '../../../../src/core/account/expected-use.js';
import { BYTES, MESSAGES } from '../../../../src/core/base/vocabulary.js';
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

test('where nobody is throttled, any share is everybody’s due', () => {
  expect(expectedOf({ target: [1000], demand: [[100, 50]] }, 0).due).toBe(Infinity);
});

test('where nobody wants anything, nothing is expected, and the slack has equal parts', () => {
  const expected = expectedOf({ target: [1000], demand: [[0, 0, 0, 0]] }, 2);
  expect([expected.total, expected.ownAt(1000), expected.part]).toEqual([0, 0, 0.25]);
});

test('a node that the log counts as dead is expected to take nothing', () => {
  expect(expectedOf(BUSY, -1).ownAt(1000)).toBe(0);
});

test('where every admission is told, nobody is expected to take anything, and parts are equal', () => {
  const expected = expectedOf(BUSY, 0);
  expected.expectNothing();
  expect([expected.total, expected.served, expected.ownAt(1000), expected.part]).toEqual([0, 0, 0, 0.1]);
});

describe('messages and bytes', () => {
  /** The first wants large pieces: bytes hold it to a tenth. */
  const JOINT: Participants = {
    target: [1000, 10_000],
    demand: [
      [500, 500],
      [100_000, 0],
    ],
  };

  test('what bytes refuse takes no messages', () => {
    const messages = expectedOf(JOINT, 0);
    expect(messages.own).toBeCloseTo(50, 6);
    expect(messages.isThrottled).toBe(false);
    expect(messages.total).toBeCloseTo(550, 6);
  });

  test('in bytes it wants what its messages let through, 275 of 500 with its part of what nobody wants', () => {
    const bytes = expectedOf(JOINT, 0, BYTES);
    expect(bytes.own).toBeCloseTo(55_000, 6);
    expect(bytes.isThrottled).toBe(true);
    expect(bytes.served).toBeCloseTo(10_000, 6);
  });
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

describe('a target of 1,000 by other strategies: the first wants 300, the others 2,000 each', () => {
  const wanted = { target: [1000], demand: [[300, 2000, 2000]] };

  test.each([
    { strategy: 'proportional', given: { usage: [[300, 150, 50]] }, takes: [300, 525, 175] },
    { strategy: 'equal-residual', given: { usage: [[300, 150, 50]] }, takes: [300, 379.17, 320.83] },
    { strategy: 'steal-halfway', given: { applied: [[300, 600, 100]] }, takes: [300, 350, 350] },
    { strategy: 'client-rate', given: { applied: [[300, 200, 200]] }, takes: [300, 350, 350] },
    { strategy: 'equal', given: {}, takes: [300, 333.33, 333.33] },
  ])('$strategy: they take $takes of it', ({ strategy, given, takes }) => {
    const nodes = takes.map((_, own) => expectedOf({ ...wanted, ...given }, own, MESSAGES, strategy));
    expect(nodes.map((node) => Number(node.ownAt(1000).toFixed(2)))).toEqual(takes);
    expect(nodes.map(({ isThrottled }) => isThrottled)).toEqual([false, true, true]);
  });

  test('equal: those that are held take no more of a larger rate, and their part of a smaller one', () => {
    const second = expectedOf(wanted, 1, MESSAGES, 'equal');
    expect(second.total).toBeCloseTo(300 + 2 * (1000 / 3), 9);
    expect(second.ownAt(1200)).toBeCloseTo(1000 / 3, 9);
    expect(second.ownAt(second.total / 2)).toBeCloseTo(1000 / 6, 9);
    expect(second.due).toBeCloseTo(1000 / 3, 9);
  });

  test('equal: a node that waits for the pool to agree is expected to take nothing', () => {
    const divisor = [2, 2, Infinity];
    const third = expectedOf({ ...wanted, divisor }, 2, MESSAGES, 'equal');
    expect([third.ownAt(1000), third.share]).toEqual([0, 0]);
  });
});
