import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BYTES, MESSAGES } from '../../src/core/base/vocabulary.js';
import { GRANTED, Limiter } from '../../src/core/limiter/limiter.js';
import { runs } from './seed.js';

const limit = fc.oneof(
  fc.constant(0),
  fc.double({ min: -2, max: 9, noNaN: true }).map((exponent) => 10 ** exponent),
  fc.constant(Infinity),
);
const depth = fc.double({ min: 0, max: 6, noNaN: true }).map((exponent) => 10 ** exponent);

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('take' as const),
      messages: fc.oneof(fc.constant(1), fc.integer({ min: 0, max: 500 })),
      bytes: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 100_000 })),
      retry: fc.boolean(),
      times: fc.integer({ min: 1, max: 40 }),
    }),
  },
  // The clock goes on, or steps back a little.
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.double({ min: -50, max: 5000, noNaN: true }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('limit' as const), dimension: fc.nat(1), perSecond: limit, depth }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'empty' as const }) },
);

/**
 * Tokens that a slot can have been given: what it began with, and rate × time that passed while the clock was ahead.
 */
class Ledger {
  readonly limiter = new Limiter(1);
  readonly rates = [0, 0];
  readonly depths = [1, 1];
  readonly given = [0, 0];
  readonly admitted = [0, 0];
  readonly largest = [0, 0];
  wasUnlimited = [false, false];
  nowMs = 0;
  aheadMs = 0;

  constructor() {
    this.limiter.validUntilMs.set(0, Infinity);
    for (const dimension of [MESSAGES, BYTES]) this.limit(dimension, 100, 10);
  }

  pass(ms: number): void {
    this.nowMs += ms;
    const gainedMs = Math.max(0, this.nowMs - this.aheadMs);
    this.aheadMs = Math.max(this.aheadMs, this.nowMs);
    for (const dimension of [MESSAGES, BYTES]) {
      const rate = this.rates[dimension];
      if (rate !== Infinity) this.given[dimension] = this.given[dimension] + (rate * gainedMs) / 1000;
    }
  }

  limit(dimension: number, perSecond: number, deep: number): void {
    this.limiter.setLimit(0, dimension, perSecond, deep, this.nowMs);
    this.rates[dimension] = perSecond;
    this.depths[dimension] = deep;
  }

  take(messages: number, bytes: number, retry: boolean): void {
    if (this.limiter.tryAcquire(0, messages, bytes, retry, this.nowMs) !== GRANTED) return;
    for (const [dimension, amount] of [
      [MESSAGES, messages],
      [BYTES, bytes],
    ] as const) {
      if (this.rates[dimension] === Infinity) continue;
      this.admitted[dimension] = this.admitted[dimension] + amount;
      this.largest[dimension] = Math.max(this.largest[dimension], amount);
    }
  }
}

test('admitted ≤ Σ rate × time + one piece of work, whatever changes on the way', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 120 }), (steps) => {
      const ledger = new Ledger();
      for (const now of steps) {
        if (now.kind === 'pass') ledger.pass(now.ms);
        else if (now.kind === 'limit') ledger.limit(now.dimension, now.perSecond, now.depth);
        else if (now.kind === 'empty') ledger.limiter.empty(0, ledger.nowMs);
        else for (let time = 0; time < now.times; time++) ledger.take(now.messages, now.bytes, now.retry);
        for (const dimension of [MESSAGES, BYTES]) {
          const most = ledger.given[dimension] * (1 + 1e-9) + ledger.largest[dimension] + 1e-6;
          expect(ledger.admitted[dimension]).toBeLessThanOrEqual(most);
          expect(Number.isNaN(ledger.limiter.tokens.at(dimension))).toBe(false);
        }
      }
    }),
    runs(1000),
  );
});

test('in any span: admitted ≤ depth + rate × time + one piece of work, at a constant limit', () => {
  const history = fc.record({
    perSecond: fc.double({ min: -1, max: 6, noNaN: true }).map((exponent) => 10 ** exponent),
    depth,
    gaps: fc.array(
      fc.record({ ms: fc.double({ min: 0, max: 500, noNaN: true }), size: fc.integer({ min: 1, max: 300 }) }),
      { minLength: 1, maxLength: 150 },
    ),
  });
  fc.assert(
    fc.property(history, ({ perSecond, depth: deep, gaps }) => {
      const limiter = new Limiter(1);
      limiter.validUntilMs.set(0, Infinity);
      limiter.setLimit(0, MESSAGES, perSecond, deep, 0);
      limiter.setLimit(0, BYTES, Infinity, Infinity, 0);
      limiter.accrueSince(0, -1e9);
      const granted: { atMs: number; size: number }[] = [];
      let nowMs = 0;
      for (const { ms, size } of gaps) {
        nowMs += ms;
        if (limiter.tryAcquire(0, size, 0, false, nowMs) === GRANTED) granted.push({ atMs: nowMs, size });
      }
      granted.forEach((first, from) => {
        let sum = 0;
        for (const { atMs, size } of granted.slice(from)) {
          sum += size;
          const most = deep + (perSecond * (atMs - first.atMs)) / 1000 + size;
          expect(sum).toBeLessThanOrEqual(most * (1 + 1e-9) + 1e-6);
        }
      });
    }),
    runs(300),
  );
});

test('a refused amount is admitted after waitMs, and not before', () => {
  const asked = fc.record({
    perSecond: fc.integer({ min: 1, max: 10_000 }),
    depth: fc.integer({ min: 1, max: 500 }),
    drain: fc.integer({ min: 1, max: 2000 }),
    size: fc.integer({ min: 1, max: 1000 }),
  });
  fc.assert(
    fc.property(asked, ({ perSecond, depth: deep, drain, size }) => {
      const limiter = new Limiter(1);
      limiter.validUntilMs.set(0, Infinity);
      limiter.setLimit(0, MESSAGES, perSecond, deep, 0);
      limiter.setLimit(0, BYTES, Infinity, Infinity, 0);
      limiter.accrueSince(0, -1e9);
      limiter.tryAcquire(0, drain, 0, false, 0);
      const waitMs = limiter.waitMs(0, size, 0, 0);
      if (waitMs === 0) return;
      expect(limiter.tryAcquire(0, size, 0, false, waitMs * 0.99 - 0.01)).not.toBe(GRANTED);
      expect(limiter.tryAcquire(0, size, 0, false, waitMs * (1 + 1e-9) + 1e-6)).toBe(GRANTED);
    }),
    runs(1000),
  );
});
