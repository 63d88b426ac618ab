import { describe, expect, test } from 'vitest';
import { didYouMean, nearestNames } from '../../../src/config/nearest-name.js';

const KEYS = ['heartbeatMs', 'partitionHeartbeatMs', 'stalenessMs', 'quota', 'weights'];

describe('the nearest name', () => {
  test.each([
    ['qouta', ['quota']],
    ['quotas', ['quota']],
    ['HEARTBEATMS', ['heartbeatMs']],
    ['heartbeat_ms', ['heartbeatMs']],
    ['stalenessMs', ['stalenessMs']],
    ['weihgt', ['weights']],
    ['unlike', []],
    ['', []],
    ['q', []],
  ])('to %j is %j', (wanted, near) => {
    expect(nearestNames(wanted, KEYS)).toEqual(near);
  });

  test('comes first, at most three, equal ones by name', () => {
    expect(nearestNames('order', ['orders', 'order-2', 'border', 'ordr', 'odrer'])).toEqual([
      'border',
      'odrer',
      'orders',
    ]);
    expect(didYouMean('order', ['orders', 'border'])).toBe('Did you mean "border" or "orders"?');
    expect(didYouMean('order', ['payments'])).toBe('');
  });

  test('is looked for among 100,000 long names without stopping the event loop', () => {
    const names = Array.from({ length: 100_000 }, (_, index) => `tenant-${index}/namespace-with-a-long-name-${index}`);
    const start = performance.now();
    nearestNames('tenant-x/namespace-with-a-lung-name-y', names);
    expect(performance.now() - start).toBeLessThan(2000);
  });
});
