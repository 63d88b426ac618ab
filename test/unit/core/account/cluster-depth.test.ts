import { expect, test } from 'vitest';
import { burstOnRamp } from '../../../../src/core/account/cluster-depth.js';

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
