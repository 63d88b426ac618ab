import { expect, test } from 'vitest';
import { BYTES, MESSAGES, type Rates, slotOf } from '../../../../src/core/base/vocabulary.js';
import { STRATEGIES } from '../../../../src/core/convergence/strategies.js';
import { SPLIT_STRATEGY, TopicSplit } from '../../../../src/core/limiter/topic-split.js';

const NONE = Number.POSITIVE_INFINITY;
const RULE = { max: 10, floorRatio: 0.001, allowanceRatio: 0.25, burstMs: 100, burstMinMessages: 20 };
/** Pieces that are asked for in every 10 ms. */
const DEMANDS = { hot: 20, warm: 4, quiet: 1 } as const;

/** The topics' rates after two seconds in which pieces of one message and one byte were asked for. */
function ratesOf(strategy: string, limit: Rates, dimension: number): number[] {
  const split = new TopicSplit({ ...RULE, strategy: STRATEGIES[strategy]! });
  const { buckets } = split.keyed;
  for (let nowMs = 0; nowMs < 2000; nowMs += 10) {
    split.divide(limit, nowMs);
    for (const [topic, pieces] of Object.entries(DEMANDS)) {
      const row = split.rowOf(topic, limit, nowMs);
      for (let piece = 0; piece < pieces; piece++) {
        split.countAttempt(row, 1, 1);
        if (buckets.tryTake(row, 1, 1, nowMs) === -1) split.countAdmission(row, 1, 1);
      }
    }
  }
  return Object.keys(DEMANDS).map((topic) => buckets.rate.at(slotOf(split.keyed.find(topic), dimension)));
}

test.each(['even', 'proportional'] as const)('%s: a limit in bytes is divided as one in messages is', (topics) => {
  const strategy = SPLIT_STRATEGY[topics];
  expect(ratesOf(strategy, [NONE, 1000], BYTES)).toEqual(ratesOf(strategy, [1000, NONE], MESSAGES));
});

test('evenly: whoever wants less has a quarter more than that, and the hot one the rest of 980', () => {
  const rates = ratesOf(SPLIT_STRATEGY.even, [1000, NONE], MESSAGES);
  // Averages over half a second, two seconds after the beginning: within 2 %.
  for (const [at, expected] of [480, 500, 125].entries()) {
    expect(rates[at]! / expected).toBeGreaterThan(0.98);
    expect(rates[at]! / expected).toBeLessThan(1.02);
  }
});
