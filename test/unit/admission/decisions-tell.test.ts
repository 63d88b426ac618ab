import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createNode, type QuotaNode } from '../../../src/index.js';

const NOTHING = { messages: null, bytes: null };
/** As slow as 0.01/s, so that what is left does not depend on how fast the machine is. */
const SLOW = { quota: { publish: { messagesPerSecond: '36/h' } } };
const GROUPS = {
  gates: { topics: 'even', quota: { publish: { messagesPerSecond: '6000/min', bytesPerSecond: '1MiB' } } },
  bucket: { quota: { publish: { messagesPerSecond: '6000/min' } }, burst: '1s' },
  slow: { ...SLOW, burst: { messages: 3, start: 'empty' } },
  windows: { quota: { publish: { messagesPerSecond: 50 } }, limiter: 'window', windowMs: 1000 },
  blocked: { quota: { publish: { messagesPerSecond: 0 } } },
  open: {},
};

let node: QuotaNode;
beforeAll(async () => {
  const config = { cluster: `told-${process.pid}`, topic: { kind: 'memory' }, groups: GROUPS };
  node = await createNode({ nodeId: 'a', config });
  await node.ready();
  for (const group of Object.keys(GROUPS)) node.tryAcquire(group, { messages: 1 });
  await sleep(1300);
});
afterAll(() => node.close());

const told = (group: string, messages = 1) => node.tryAcquire(group, { messages }, { tell: true });

describe('a decision tells', () => {
  it('the quota as it is written, and its window', () => {
    expect(told('gates')).toMatchObject({
      granted: true,
      limit: { messages: 6000, bytes: 2 ** 20 },
      windowMs: { messages: 60_000, bytes: 1000 },
    });
    expect(told('slow')).toMatchObject({ limit: { messages: 36, bytes: null }, windowMs: { messages: 3_600_000 } });
    expect(told('open')).toMatchObject({ limit: NOTHING, windowMs: NOTHING, remaining: NOTHING, resetMs: NOTHING });
  });

  it.each(['gates', 'bucket', 'windows'])(
    'as much as remaining says is admitted at once, and no more: %s',
    async (group) => {
      const [first, left] = await vi.waitFor(
        () => {
          const decision = told(group);
          const { messages } = decision.remaining!;
          expect(messages).toBeGreaterThan(0);
          return [decision, messages!] as const;
        },
        // Asked for more often, it would be busy.
        { timeout: 10_000, interval: 700 },
      );
      expect(first.resetMs!.messages).toBeGreaterThanOrEqual(0);
      expect(first.resetMs!.messages).toBeLessThanOrEqual(1000);
      expect(node.tryAcquire(group, { messages: left })).toEqual({ granted: true });
      const refused = node.tryAcquire(group, { messages: left });
      expect(refused.granted).toBe(false);
      expect(refused.remaining!.messages).toBeLessThan(left);
    },
  );

  it('of a cluster’s bucket no more than is in it, which a second of a new node has not filled', () => {
    const refused = node.tryAcquire('slow', { messages: 1 });
    expect(refused).toMatchObject({ granted: false, reason: 'quota', remaining: { messages: 0, bytes: null } });
    expect(refused.resetMs!.messages).toBeGreaterThan(250_000);
    expect(refused.resetMs!.messages).toBeLessThanOrEqual(300_000);
  });

  it('that of a blocked group nothing is left, and nothing comes', () => {
    const refused = node.tryAcquire('blocked', { messages: 1 });
    expect(refused).toMatchObject({ limit: { messages: 0 }, remaining: { messages: 0 }, resetMs: NOTHING });
  });

  it('in refusals, in parts and after a wait; a plain grant is one object for all, and tells nothing', async () => {
    const part = await vi.waitFor(() => {
      const taken = node.tryAcquire('bucket', { messages: 1 }, { atMost: true });
      expect(taken).toEqual({ granted: true, messages: 1, bytes: 0 });
      return taken;
    }, 5000);
    expect(part.limit).toEqual({ messages: 6000, bytes: null });
    const waited = await node.acquire('gates', { messages: 1 }, { waitMs: 1000 });
    expect(waited).toMatchObject({ granted: true, limit: { messages: 6000 } });
    // The test before this one took all that was there: 100/s come.
    const plain = await vi.waitFor(() => {
      const taken = node.tryAcquire('gates', { messages: 1 });
      expect(taken.granted).toBe(true);
      return taken;
    }, 5000);
    expect(plain).toBe(node.tryAcquire('windows', { messages: 0, bytes: 1 }));
    expect(plain.limit).toBeUndefined();
  });

  it('none of it in JSON: decisions look as they did', () => {
    expect(JSON.stringify(told('open'))).toBe('{"granted":true}');
    const refused = JSON.parse(JSON.stringify(node.tryAcquire('blocked', { messages: 1 })));
    expect(Object.keys(refused)).toEqual(['granted', 'reason', 'level', 'dimension', 'retryAfterMs']);
  });
});
