import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type ClusterBucket,
  correctedRate,
  setPointOf,
  tokensAfter,
} from '../../../src/core/account/cluster-bucket.js';
import { runs } from '../seed.js';

const power = (min: number, max: number) => fc.double({ min, max, noNaN: true }).map((exponent) => 10 ** exponent);

/** From a token in 30 years to 1e12 a second, depths of a millisecond to an hour of it. */
const bucket = fc
  .record({ perSecond: power(-9, 12), depthSeconds: power(-3, 3.5) })
  .map(({ perSecond, depthSeconds }) => ({ perSecond, depth: perSecond * depthSeconds }));

/** Tokens from a deep debt to a full bucket, and expectations around the target. */
const situation = bucket.chain((of) =>
  fc.record({
    bucket: fc.constant(of),
    tokens: fc.oneof(
      fc.double({ min: -of.depth, max: of.depth, noNaN: true }),
      fc.double({ min: -5 * (of.depth + of.perSecond), max: of.depth, noNaN: true }),
      fc.constantFrom(of.depth, 0, setPointOf(of)),
    ),
    expected: fc.oneof(
      fc.double({ min: 0, max: 3 * of.perSecond, noNaN: true }),
      fc.constantFrom(0, of.perSecond, of.perSecond * (1 + 1e-9), of.perSecond * (1 - 1e-9), 1e12 * of.perSecond),
    ),
  }),
);

const ms = fc.oneof(fc.integer({ min: 0, max: 20_000 }), fc.constantFrom(1, 1e9, 1e15));

/** What a number of tokens can be compared with. */
function sizeOf({ perSecond, depth }: ClusterBucket, tokens: number): number {
  return perSecond + depth + Math.abs(tokens);
}

test('time may pass in parts: a + b ms later is b ms after a ms later', () => {
  fc.assert(
    fc.property(situation, ms, ms, ({ bucket, tokens, expected }, a, b) => {
      const atOnce = tokensAfter(bucket, tokens, a + b, expected);
      const inParts = tokensAfter(bucket, tokensAfter(bucket, tokens, a, expected), b, expected);
      expect(Math.abs(atOnce - inParts)).toBeLessThanOrEqual(1e-9 * sizeOf(bucket, tokens));
    }),
    runs(2000),
  );
});

test('the closed form is what small steps of the differential equation come to', () => {
  const steps = 20_000;
  fc.assert(
    fc.property(situation, fc.integer({ min: 1, max: 5000 }), ({ bucket, tokens, expected }, lastingMs) => {
      const step = lastingMs / 1000 / steps;
      let naive = tokens;
      for (let at = 0; at < steps; at++) {
        const taken = Math.min(expected, correctedRate(bucket, naive));
        naive = Math.min(bucket.depth, naive + (bucket.perSecond - taken) * step);
      }
      const off = Math.abs(tokensAfter(bucket, tokens, lastingMs, expected) - naive);
      // Small steps along a curve are wrong by half a step.
      expect(off).toBeLessThanOrEqual(step * sizeOf(bucket, tokens));
    }),
    runs(300),
  );
});

test('never above the depth, and never faster up than the target flows in', () => {
  fc.assert(
    fc.property(situation, ms, ({ bucket, tokens, expected }, after) => {
      const then = tokensAfter(bucket, tokens, after, expected);
      expect(then).toBeLessThanOrEqual(bucket.depth);
      const flowsIn = (bucket.perSecond * after) / 1000;
      expect(then - tokens).toBeLessThanOrEqual(flowsIn + 1e-9 * sizeOf(bucket, tokens));
    }),
    runs(2000),
  );
});

test('what is above the set point comes down to it, what is below never falls, unless nobody is expected to be short', () => {
  fc.assert(
    fc.property(situation, ms, ({ bucket, tokens, expected }, after) => {
      const then = tokensAfter(bucket, tokens, after, expected);
      const doubt = 1e-9 * sizeOf(bucket, tokens);
      if (tokens <= setPointOf(bucket)) expect(then).toBeGreaterThanOrEqual(tokens - doubt);
      else expect(then).toBeGreaterThanOrEqual(setPointOf(bucket) - doubt);
      if (expected >= bucket.perSecond) expect(then).toBeLessThanOrEqual(Math.max(tokens, setPointOf(bucket)) + doubt);
    }),
    runs(2000),
  );
});

test('two nodes that believe different amounts never come apart, and keep their order', () => {
  fc.assert(
    fc.property(situation, fc.double({ min: 0, max: 1, noNaN: true }), ms, (given, part, after) => {
      const { bucket, expected } = given;
      const other = given.tokens + part * (bucket.depth - given.tokens);
      const [less, more] = [given.tokens, other].map((tokens) => tokensAfter(bucket, tokens, after, expected));
      const doubt = 1e-9 * sizeOf(bucket, given.tokens);
      expect(more - less).toBeGreaterThanOrEqual(-doubt);
      expect(more - less).toBeLessThanOrEqual(other - given.tokens + doubt);
    }),
    runs(2000),
  );
});

test('under contention a difference fades by e^(−1) per second', () => {
  const contended = bucket.chain((of) =>
    fc.record({
      bucket: fc.constant(of),
      // From here on all is above a corrected rate of 0.
      starts: fc.array(
        fc.double({ min: Math.max(-of.depth, setPointOf(of) - of.perSecond), max: of.depth, noNaN: true }),
        { minLength: 2, maxLength: 2 },
      ),
      // More than is given at a full bucket.
      expected: power(0, 3).map((times) => times * correctedRate(of, of.depth)),
      seconds: fc.double({ min: 0, max: 20, noNaN: true }),
    }),
  );
  fc.assert(
    fc.property(contended, ({ bucket, starts, expected, seconds }) => {
      const [one = 0, other = 0] = starts.map((tokens) => tokensAfter(bucket, tokens, 1000 * seconds, expected));
      const before = starts[0] - starts[1];
      const doubt = 1e-9 * sizeOf(bucket, 0);
      expect(Math.abs(one - other - before * Math.exp(-seconds))).toBeLessThanOrEqual(doubt);
    }),
    runs(1000),
  );
});

test('whatever a bucket is asked, it answers with a number', () => {
  const extreme = fc.oneof(fc.constantFrom(0, 1e-300, 1e-9, 1e12, 1e15, 2 ** 53), power(-9, 15));
  fc.assert(
    fc.property(
      fc.record({ perSecond: power(-9, 12), depth: power(-9, 15) }),
      fc.tuple(extreme, fc.boolean()),
      extreme,
      extreme,
      (of, [size, isDebt], lastsMs, expected) => {
        const tokens = isDebt ? -size : Math.min(size, of.depth);
        const then = tokensAfter(of, tokens, lastsMs, expected);
        expect(Number.isFinite(then)).toBe(true);
        expect(then).toBeLessThanOrEqual(of.depth);
        expect(Number.isFinite(correctedRate(of, then))).toBe(true);
        expect(correctedRate(of, then)).toBeGreaterThanOrEqual(0);
      },
    ),
    runs(4000),
  );
});
