import { expect, test } from 'vitest';
import { burstOnRamp, clusterDepth } from '../../../../src/core/account/cluster-depth.js';

test.each([
  [1000, 100],
  [100, 30],
  [10, 10],
  [5, 10],
])('without a burst, %d/s has a depth of %d', (perSecond, depth) => {
  expect(clusterDepth(perSecond, 1)).toBeCloseTo(depth, 9);
});

test.each([
  { perSecond: 100, messages: 500, burst: 50 },
  { perSecond: 1, messages: 500, burst: 10 },
  { perSecond: 1000, messages: 500, burst: 500 },
  { perSecond: 100, messages: 5, burst: 5 },
  { perSecond: 100, messages: null, burst: null },
])('a burst of $messages at $perSecond of 1,000/s is $burst', ({ perSecond, messages, burst }) => {
  const settings = { messages, bytes: 7, policy: 'optimistic' } as const;
  const whole = { burst: settings, debtMs: 0, direction: 0 };
  expect(burstOnRamp(whole, perSecond, 1000)).toEqual({ ...whole, burst: { ...settings, messages: burst } });
  expect(burstOnRamp(whole, perSecond, null)).toEqual(whole);
});
