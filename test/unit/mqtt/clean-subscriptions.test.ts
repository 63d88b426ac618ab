import { expect, test } from 'vitest';
import { CleanSubscriptions } from '../../../src/doors/mqtt/mqtt-broker.js';
import { createMqttCounts } from '../../../src/doors/mqtt/mqtt-counts.js';

test('they share the bound of the sessions, and end with the connection', () => {
  const full: string[] = [];
  const counts = createMqttCounts().kept;
  // Three of the five belong to sessions.
  counts.subscriptions = 3;
  const clean = new CleanSubscriptions({
    maxSubscriptions: 5,
    counts,
    onFull: (bound, client) => full.push(`${bound} ${client}`),
  });
  const [a, b, gone] = [{ destroyed: false }, { destroyed: false }, { destroyed: true }];
  expect([clean.add(a, 'a', '1'), clean.add(a, 'a', '1'), clean.add(a, 'a', '2')]).toEqual([true, true, true]);
  expect([clean.add(b, 'b', '1'), counts.subscriptions, full]).toEqual([false, 5, ['subscriptions-full b']]);
  clean.remove(a, ['1', 'unknown']);
  clean.remove(b, ['2']);
  expect([clean.add(gone, 'gone', '1'), clean.add(b, 'b', '1'), counts.subscriptions]).toEqual([false, true, 5]);
  clean.ended(a);
  clean.ended(a);
  clean.ended(b);
  expect(counts.subscriptions).toBe(3);
});
