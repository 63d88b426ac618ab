import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BYTES, MESSAGES } from '../../src/core/base/vocabulary.js';
import { Buckets } from '../../src/core/limiter/buckets.js';
import { runs } from './seed.js';

/**
 * The same bucket in exact arithmetic. Times are multiples of 2^-10 ms and rates of 2^-10 per second, so that a double
 * holds them exactly and tokens are whole multiples of 2^-20/1000.
 */
const TIME = 1024;
const UNIT = 1000n * 1024n * 1024n;

class Twin {
  rate = 0n;
  depth = 0n;
  tokens = 0n;
  nowTicks = 0n;

  pass(ticks: bigint): void {
    this.nowTicks += ticks;
    this.tokens = least(this.tokens + ticks * this.rate, this.depth);
  }

  limit(rateTicks: bigint, depth: bigint): void {
    this.rate = rateTicks;
    this.depth = depth * UNIT;
    this.tokens = least(this.tokens, this.depth);
  }
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

const exponent = fc.double({ min: 0, max: 12, noNaN: true });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('pass' as const), ticks: fc.integer({ min: 0, max: 4e6 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('charge' as const), part: fc.double({ min: 0, max: 1.2, noNaN: true }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('limit' as const), exponent, seconds: fc.integer({ min: 1, max: 3 }) }),
  },
);

test('within one token of the exact twin on 10,000 histories, however often the rate changes', () => {
  let worst = 0;
  fc.assert(
    fc.property(exponent, fc.array(step, { minLength: 5, maxLength: 40 }), (first, steps) => {
      const buckets = new Buckets(1);
      buckets.setLimit(0, BYTES, Infinity, 1, 0);
      const twin = new Twin();
      let depth = limit(buckets, twin, first, 1);
      for (const now of steps) {
        const nowMs = Number(twin.nowTicks) / TIME;
        if (now.kind === 'pass') {
          twin.pass(BigInt(now.ticks));
          buckets.refill(0, Number(twin.nowTicks) / TIME);
        } else if (now.kind === 'charge') {
          const amount = Math.floor(now.part * depth);
          buckets.charge(0, amount, 0, Infinity, nowMs);
          twin.tokens -= BigInt(amount) * UNIT;
        } else {
          depth = limit(buckets, twin, now.exponent, now.seconds);
        }
        const exact = Number(twin.tokens / UNIT) + Number(twin.tokens % UNIT) / Number(UNIT);
        worst = Math.max(worst, Math.abs(buckets.tokens.at(MESSAGES) - exact));
        expect(worst).toBeLessThan(1);
      }
    }),
    runs(10_000),
  );
  console.log(`largest distance from the exact twin: ${worst} tokens`);
});

test('the distance does not grow: a million refills at 1e12 per second stay within one token', () => {
  const buckets = new Buckets(1);
  buckets.setLimit(0, BYTES, Infinity, 1, 0);
  const twin = new Twin();
  limit(buckets, twin, 12, 1);
  for (let round = 1; round <= 1_000_000; round++) {
    twin.nowTicks += 7n;
    buckets.refill(0, Number(twin.nowTicks) / TIME);
    if (round % 16 === 0) buckets.charge(0, 109_375_000, 0, Infinity, Number(twin.nowTicks) / TIME);
  }
  // 16 × 7 ticks are 0.109375 ms: exactly what is charged per turn, so the balance is where it began.
  expect(Math.abs(buckets.tokens.at(MESSAGES))).toBeLessThan(1);
});

function limit(buckets: Buckets, twin: Twin, exponent10: number, seconds: number): number {
  const ticks = Math.floor(10 ** exponent10 * 1024);
  const perSecond = ticks / 1024;
  const depth = Math.max(1, Math.floor(perSecond * seconds));
  buckets.setLimit(0, MESSAGES, perSecond, depth, Number(twin.nowTicks) / TIME);
  twin.limit(BigInt(ticks), BigInt(depth));
  return depth;
}
