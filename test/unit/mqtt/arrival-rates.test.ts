import { describe, expect, test } from 'vitest';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { ArrivalRates } from '../../../src/doors/mqtt/arrival-rates.js';

const defaults = resolveConfig({ cluster: 'c', topic: 'memory', groups: { free: {} } }, { source: '(test)' }).mqtt;

/** When each of them is in, in seconds: all come at once, and whoever is refused comes back `retryMs` later. */
function comeBack(clients: number, retryMs: number): number[] {
  const rates = new ArrivalRates(defaults, 0);
  const inAfter: number[] = [];
  for (let nowMs = 0; inAfter.length < clients && nowMs < 60_000; nowMs += retryMs) {
    for (let left = clients - inAfter.length; left > 0; left--) if (rates.mayConnect(nowMs)) inAfter.push(nowMs / 1000);
  }
  return inAfter;
}

describe('CONNECT without a setting', () => {
  // 500 at once and 500 in each second after: mqtt.js tries again after a second.
  test.each([
    [500, 1000, 0],
    [2000, 1000, 3],
    [2000, 100, 3],
    [10_000, 1000, 19],
  ])('%d clients after a restart, each again every %d ms: all are in after %d s', (clients, retryMs, seconds) => {
    const inAfter = comeBack(clients, retryMs);
    expect(inAfter).toHaveLength(clients);
    expect(inAfter.at(-1)).toBeCloseTo(seconds, 5);
  });

  test('clients that reconnect in a loop get in 500 times in a second, and no more', () => {
    const rates = new ArrivalRates(defaults, 0);
    let letIn = 0;
    for (let atMs = 0; atMs < 10_000; atMs++) for (let each = 0; each < 20; each++) if (rates.mayConnect(atMs)) letIn++;
    expect(letIn).toBeGreaterThanOrEqual(500 + 10 * 500 - 2);
    expect(letIn).toBeLessThanOrEqual(500 + 10 * 500);
  });
});
