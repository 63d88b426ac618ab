import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createNode } from '../../../src/index.js';

/** One is idle for long enough to have next to no share, the other takes all there is. */
test('whoever comes back after a pause is not sent away for as long as next to no share would take', async () => {
  const group = { quota: { publish: { messagesPerSecond: 60 } } };
  const config = {
    cluster: `back-${process.pid}`,
    topic: { kind: 'memory' },
    groups: { bucket: group, window: { ...group, limiter: 'window' } },
  };
  const names = Object.keys(config.groups);
  const [idle, busy] = await Promise.all(['idle', 'busy'].map((nodeId) => createNode({ nodeId, config })));
  const asking = setInterval(() => {
    for (let at = 0; at < 10; at++) for (const name of names) busy!.tryAcquire(name, { messages: 1 });
  }, 20);
  try {
    await Promise.all([idle!.ready(), busy!.ready()]);
    await sleep(6500);
    for (const name of names) {
      const told = Array.from({ length: 8 }, () => idle!.tryAcquire(name, { messages: 1 }));
      const waits = told.map((decision) => (decision.granted ? 0 : decision.retryAfterMs));
      expect(Math.max(...waits), name).toBeGreaterThan(0);
      // 30/s are due to it: 33 ms for a bucket, a second for a window, and a quarter of a second to be heard.
      expect(Math.max(...waits), name).toBeLessThanOrEqual(1300);
    }
  } finally {
    clearInterval(asking);
    await Promise.all([idle, busy].map((node) => node!.close()));
  }
});
