import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createNode, type QuotaNode } from '../../../src/index.js';

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
    for (let at = 0; at < 10; at++) for (const name of names) busy.tryAcquire(name, { messages: 1 });
  }, 20);
  try {
    await Promise.all([idle.ready(), busy.ready()]);
    await sleep(6500);
    for (const name of names) {
      const told = Array.from({ length: 8 }, () => idle.tryAcquire(name, { messages: 1 }));
      const waits = told.map((decision) => (decision.granted ? 0 : decision.retryAfterMs));
      expect(Math.max(...waits), name).toBeGreaterThan(0);
      // 30/s are due to it: 33 ms for a bucket, a second for a window, and a quarter of a second to be heard.
      expect(Math.max(...waits), name).toBeLessThanOrEqual(1300);
    }
  } finally {
    clearInterval(asking);
    await Promise.all([idle, busy].map((node) => node.close()));
  }
});

describe('where whole requests are given by the log', () => {
  let node: QuotaNode;
  beforeAll(async () => {
    const group = { burst: { messages: 5, start: 'empty' } };
    const config = {
      cluster: `pieces-${process.pid}`,
      topic: { kind: 'memory' },
      groups: {
        minute: { ...group, quota: { publish: { messagesPerSecond: '5/min' } } },
        owing: { ...group, quota: { publish: { messagesPerSecond: 2 } } },
        parts: { ...group, quota: { publish: { messagesPerSecond: 2 } } },
      },
    };
    node = await createNode({ nodeId: 'a', config });
    await node.ready();
    for (const name of Object.keys(config.groups)) node.tryAcquire(name, { messages: 1 });
    // Until it has looked at its buckets it holds shares.
    await sleep(500);
  });
  afterAll(() => node.close());

  // Those requests were told the next token, and half of what flows in is promised to the next ones.
  const waitOf = (group: string) => {
    const decision = node.tryAcquire(group, { messages: 1 });
    return decision.granted ? 0 : decision.retryAfterMs;
  };

  test('five per minute are not asked for again four times a second', () => {
    const waitMs = waitOf('minute');
    expect(waitMs).toBeGreaterThan(5000);
    expect(waitMs).toBeLessThanOrEqual(12_000 + 24_000);
  });

  test('who would take a part is told when its first request passes', () => {
    for (;;) {
      const decision = node.tryAcquire('parts', { messages: 5 }, { atMost: true });
      if (decision.granted) continue;
      expect(decision.retryAfterMs).toBeGreaterThan(0);
      expect(decision.retryAfterMs).toBeLessThanOrEqual(600 + 1000);
      break;
    }
  });

  test('a debt is paid first', async () => {
    node.consume('owing', { messages: 6 });
    await sleep(100);
    // At 2/s: four to five in debt, and the one that is asked for.
    const waitMs = waitOf('owing');
    expect(waitMs).toBeGreaterThan(2000);
    expect(waitMs).toBeLessThanOrEqual(3500 + 1000);
  });
});

describe('where work that cannot be refused took more than the bucket can bear', () => {
  let node: QuotaNode;
  beforeAll(async () => {
    const quota = { publish: { messagesPerSecond: 5 } };
    const config = {
      cluster: `owing-${process.pid}`,
      topic: { kind: 'memory' },
      groups: { some: { quota }, much: { quota, debtMs: 20_000 } },
    };
    node = await createNode({ nodeId: 'a', config });
    await node.ready();
    for (const name of Object.keys(config.groups)) node.tryAcquire(name, { messages: 1 });
    // Its bucket of 10 is full.
    await sleep(2600);
    node.consume('some', { messages: 45 });
    node.consume('much', { messages: 3000 });
    await sleep(500);
  });
  afterAll(() => node.close());

  test('the debt of the bucket is waited for', () => {
    // 35 tokens at 5/s, less what the bucket gives while it has a few to go.
    expect(node.throttleDurationMs('some')).toBeGreaterThan(5000);
    expect(node.throttleDurationMs('some')).toBeLessThanOrEqual(8000);
  });

  test('the rest is owed, debtMs of the limit in all', () => {
    expect(node.throttleDurationMs('much')).toBeGreaterThan(17_000);
    expect(node.throttleDurationMs('much')).toBeLessThanOrEqual(20_500);
    expect(node.groupStatus('much').directions.publish.local.debtMessages).toBeGreaterThan(80);
    expect(node.groupStatus('much').directions.publish.local.debtMessages).toBeLessThanOrEqual(101);
  });
});
