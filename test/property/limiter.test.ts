import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BYTES, MESSAGES } from '../../src/core/base/vocabulary.js';
import { GRANTED, Limiter } from '../../src/core/limiter/limiter.js';
import { runs } from './seed.js';

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
      const waitMs = limiter.buckets.waitMs(0, size, 0, 0);
      if (waitMs === 0) return;
      expect(limiter.tryAcquire(0, size, 0, false, waitMs * 0.99 - 0.01)).not.toBe(GRANTED);
      expect(limiter.tryAcquire(0, size, 0, false, waitMs * (1 + 1e-9) + 1e-6)).toBe(GRANTED);
    }),
    runs(1000),
  );
});
