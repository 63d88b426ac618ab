import { describe, expect, test } from 'vitest';
import { BYTES, MESSAGES, type Rates, slotOf } from '../../../../src/core/base/vocabulary.js';
import { STRATEGIES } from '../../../../src/core/convergence/strategies.js';
import { SPLIT_STRATEGY, TopicSplit } from '../../../../src/core/limiter/topic-split.js';

const NONE = Infinity;
const RULE = { max: 10, floorRatio: 0.001 };
/** Pieces that are asked for in every 10 ms. */
const DEMANDS = { hot: 20, warm: 4, quiet: 1 } as const;

/** The topics' rates after two seconds in which pieces of one message were asked for. */
function ratesOf(strategy: string, limit: Rates, dimension: number): number[] {
  const { buckets, find } = split(strategy, limit);
  return Object.keys(DEMANDS).map((topic) => buckets.rate.at(slotOf(find(topic), dimension)));
}

/** The depths of their buckets then. */
function depthsOf(limit: Rates, dimension: number, pieceSize: number): number[] {
  const { buckets, find } = split(SPLIT_STRATEGY.even, limit, pieceSize);
  return Object.keys(DEMANDS).map((topic) => buckets.depth.at(slotOf(find(topic), dimension)));
}

function split(strategy: string, limit: Rates, pieceSize = 1) {
  const topicSplit = new TopicSplit({ ...RULE, strategy: STRATEGIES[strategy] });
  const { buckets } = topicSplit.keyed;
  for (let nowMs = 0; nowMs < 2000; nowMs += 10) {
    topicSplit.divide(limit, nowMs);
    for (const [topic, pieces] of Object.entries(DEMANDS)) {
      const row = topicSplit.rowOf(topic, limit, nowMs);
      for (let piece = 0; piece < pieces; piece++) {
        topicSplit.countAttempt(row, 1, pieceSize);
        if (buckets.tryTake(row, 1, pieceSize, nowMs) === -1) topicSplit.countAdmission(row, 1, pieceSize);
      }
    }
  }
  return { buckets, find: (topic: string) => topicSplit.keyed.find(topic) };
}

test.each(['even', 'proportional'] as const)('%s: a limit in bytes is divided as one in messages is', (topics) => {
  const strategy = SPLIT_STRATEGY[topics];
  expect(ratesOf(strategy, [NONE, 1000], BYTES)).toEqual(ratesOf(strategy, [1000, NONE], MESSAGES));
});

test('evenly: whoever wants less has a quarter more than that, and the hot one the rest of 980', () => {
  const rates = ratesOf(SPLIT_STRATEGY.even, [1000, NONE], MESSAGES);
  // Averages over half a second, two seconds after the beginning: within 2 %.
  for (const [at, expected] of [480, 500, 125].entries()) {
    expect(rates[at] / expected).toBeGreaterThan(0.98);
    expect(rates[at] / expected).toBeLessThan(1.02);
  }
});

describe('the bucket of a topic', () => {
  test('holds a tenth of a second, at least twenty pieces, but no more of them than in a quarter of an even second', () => {
    // 980/s are divided: the even part of a quarter of a second is 81, so twenty pieces are within it; of 98/s it is 8.
    const [hot, warm, quiet] = depthsOf([1000, NONE], MESSAGES, 1) as [number, number, number];
    expect(hot).toBeGreaterThan(45);
    expect(hot).toBeLessThan(50);
    expect(warm).toBeGreaterThan(49);
    expect(quiet).toBe(20);
    for (const depth of depthsOf([100, NONE], MESSAGES, 1)) expect(depth).toBeCloseTo((98 / 3) * 0.25, 6);
  });

  test('in bytes counts pieces of the size that they have, and holds one in any case', () => {
    const quiet = (limit: number) => depthsOf([NONE, limit], BYTES, 500)[2];
    // 20 pieces of 500 are within the quarter of a second of an even part of 980,000/s, and not of 98,000/s.
    expect(quiet(1_000_000)).toBeGreaterThan(0.99 * 20 * 500);
    expect(quiet(100_000)).toBeCloseTo((98_000 / 3) * 0.25, 6);
    expect(quiet(1000)).toBeCloseTo(500, 6);
  });
});

test.each([1, 2, 15, 16, 17, 32, 33])('a limit of 1,000 is divided over %i topics that want as much each', (count) => {
  const topicSplit = new TopicSplit({ ...RULE, max: 100, strategy: STRATEGIES[SPLIT_STRATEGY.even] });
  const rows = Array.from({ length: count }, (_, at) => topicSplit.rowOf(`topic ${at}`, [1000, NONE], 0));
  for (let nowMs = 0; nowMs <= 5000; nowMs += 100) {
    for (const row of rows) topicSplit.countAttempt(row, 200, 0);
    topicSplit.divide([1000, NONE], nowMs);
  }
  const { rate } = topicSplit.keyed.buckets;
  for (const row of rows) expect(rate.at(slotOf(row, MESSAGES))).toBeCloseTo(980 / count, 3);
});

test('a topic in the place of another one begins with a demand of its own', () => {
  const topicSplit = new TopicSplit({ ...RULE, max: 2, strategy: STRATEGIES[SPLIT_STRATEGY.even] });
  const limit = [1000, NONE] as const;
  const [before, beside] = ['before', 'beside'].map((topic) => topicSplit.rowOf(topic, limit, 0)) as [number, number];
  for (let nowMs = 0; nowMs <= 5000; nowMs += 100) {
    for (const row of [before, beside]) topicSplit.countAttempt(row, 200, 0);
    topicSplit.divide(limit, nowMs);
  }
  // At once, so that no average has forgotten the one that goes.
  topicSplit.rowOf('beside', limit, 5050);
  expect(topicSplit.keyed.sweep(5050, 40, 2)).toBe(1);
  expect(topicSplit.rowOf('after', limit, 5050)).toBe(before);
  topicSplit.countAttempt(beside, 80_000, 0);
  topicSplit.divide(limit, 5100);
  // The other one wants all that there is.
  const { rate } = topicSplit.keyed.buckets;
  expect(rate.at(slotOf(before, MESSAGES))).toBeLessThan(0.05 * rate.at(slotOf(beside, MESSAGES)));
});
