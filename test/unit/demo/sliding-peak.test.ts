import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SlidingPeak } from '../../../src/tools/demo/measure/sliding-peak.js';

test('agrees with the sum over all windows', () => {
  const events = fc.array(
    fc.record({ gapMs: fc.integer({ min: 0, max: 40 }), amount: fc.integer({ min: 1, max: 9 }) }),
    {
      minLength: 1,
      maxLength: 60,
    },
  );
  fc.assert(
    fc.property(events, fc.integer({ min: 1, max: 100 }), (steps, windowMs) => {
      const peak = new SlidingPeak(windowMs);
      let atMs = 0;
      const seen = steps.map(({ gapMs, amount }) => {
        atMs += gapMs;
        peak.add(amount, atMs);
        return { atMs, amount };
      });
      const windows = seen.map(({ atMs: endMs }) =>
        seen.reduce((sum, each) => (each.atMs > endMs - windowMs && each.atMs <= endMs ? sum + each.amount : sum), 0),
      );
      expect(peak.peak).toBe(Math.max(...windows));
    }),
  );
});
