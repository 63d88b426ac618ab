import { describe, expect, test } from 'vitest';
import type { WholeNode } from '../../whole-node.js';
import { onOneNode, PER_MINUTE, withKeys } from './keys-cluster.js';

const ONE = { messages: 1 };
const KEYS = {
  'key:{id}': { ...PER_MINUTE(6), allowLimits: PER_MINUTE(60), overrides: { acme: PER_MINUTE(3) } },
  'fixed:{id}': PER_MINUTE(6),
};

const perMinute = (amount: number) => ({ publish: { messagesPerSecond: `${amount}/min` } });

function takeAll(node: WholeNode, key: string, limit?: object): number {
  let taken = 0;
  for (let asked = 0; asked < 200; asked++) if (node.tryAcquire(key, ONE, { ...(limit && { limit }) }).granted) taken++;
  return taken;
}

describe('limits that come with requests', () => {
  test('a key has the limit that was told last, until it is forgotten; nothing that was spent comes back', async () => {
    await onOneNode(KEYS, async (node, { time }) => {
      expect(takeAll(node, 'key:a', perMinute(20))).toBe(20);
      expect(node.keys?.seen('key:b')).toBe(null);
      node.tryAcquire('key:b', ONE, { limit: perMinute(20) });
      node.tryAcquire('key:b', ONE);
      // Two have gone.
      expect(Math.ceil(node.keys?.seen('key:b')?.left[0]?.[0] ?? 0)).toBe(18);
      node.tryAcquire('key:b', ONE, { limit: perMinute(10) });
      expect(Math.ceil(node.keys?.seen('key:b')?.left[0]?.[0] ?? 0)).toBe(7);
      await time.advance(60_000);
      expect(node.keys?.seen('key:b')).toBe(null);
      expect(takeAll(node, 'key:b')).toBe(6);
    });
  });

  test('a limit of 0 that comes and goes gives no other bucket', async () => {
    await onOneNode(KEYS, async (node, { time }) => {
      expect(takeAll(node, 'key:a', perMinute(20))).toBe(20);
      node.tryAcquire('key:a', { bytes: 1 }, { limit: perMinute(0) });
      await time.advance(90_000);
      expect(takeAll(node, 'key:a', perMinute(20))).toBeLessThanOrEqual(1);
    });
  });

  test('a loud key follows within a round, and its group has the quota that was told', async () => {
    await withKeys(2, KEYS, async ({ nodes, time }) => {
      const [node] = nodes as [WholeNode];
      await time.advance(120_000);
      takeAll(node, 'key:a', perMinute(6));
      node.tryAcquire('key:a', ONE, { limit: perMinute(60) });
      await time.advance(100);
      const quota = () => node.groupStatus('key:a').directions.publish.quotaAsWritten;
      expect(quota()).toMatchObject({ messagesPerSecond: '60/min' });
      for (let told = 1; told <= 50; told++) node.tryAcquire('key:a', ONE, { limit: perMinute(told) });
      await time.advance(100);
      expect(quota()).toMatchObject({ messagesPerSecond: '50/min' });
    });
  });

  test('refused limits are counted by template, and said once a minute', async () => {
    const lines: unknown[] = [];
    const telemetry = { log: (_: string, text: string, facts: object) => void lines.push({ text, ...facts }) };
    await withKeys(
      1,
      KEYS,
      async ({ nodes, time }) => {
        const [node] = nodes as [WholeNode];
        const refused = () => node.status().keys.map(({ template, limitsRefused }) => [template, limitsRefused]);
        expect(() => node.tryAcquire('fixed:a', ONE, { limit: perMinute(20) })).toThrow(/allows none/);
        expect(() => node.tryAcquire('key:a', ONE, { limit: perMinute(61) })).toThrow(/at most 1 per second/);
        expect(() => node.tryAcquire('key:a', ONE, { limit: {} })).toThrow(/must be like/);
        expect(refused()).toEqual([
          ['key:{id}', 2],
          ['fixed:{id}', 1],
        ]);
        const told = () => lines.filter((line) => JSON.stringify(line).includes('a limit that came with a request'));
        expect(told()).toEqual([expect.objectContaining({ code: 'LIMIT_DENIED' })]);
        await time.advance(60_000);
        expect(() => node.tryAcquire('key:a', ONE, { limit: {} })).toThrow();
        expect(told()).toHaveLength(2);
      },
      telemetry as never,
    );
  });

  test('a limit may be told in another unit of time than the template', async () => {
    const templates = { 'key:{id}': { quota: { publish: { messagesPerSecond: 5 } }, allowLimits: PER_MINUTE(600) } };
    await onOneNode(templates, async (node) => {
      expect(takeAll(node, 'key:a', perMinute(7))).toBe(7);
    });
  });

  test('every call that takes a limit tells it', async () => {
    await onOneNode(KEYS, async (node) => {
      const limit = perMinute(20);
      await node.acquire('key:a', ONE, { waitMs: 0, limit });
      node.reserve('key:b', ONE, { limit });
      await node.takeBatch('key:c', ONE, { limit });
      node.tryAcquire('key:d', ONE, { atMost: true, limit });
      for (const key of ['key:a', 'key:b', 'key:c', 'key:d'])
        expect(node.keys?.seen(key)?.settings.quota.publish[0]).toBeCloseTo(1 / 3);
    });
  });

  test('a limit that may not be is refused, and the key stays as it was', async () => {
    const refused: readonly (readonly [unknown, unknown, RegExp])[] = [
      ['key:a', perMinute(61), /at most 1 per second are allowed/],
      ['key:a', { publish: { messagesPerSecond: null } }, /at most 1 per second/],
      ['key:a', { publish: { bytesPerSecond: 5 } }, /bytes of publish: none is allowed/],
      ['key:a', { dispatch: { messagesPerSecond: 1 } }, /messages of dispatch: none is allowed/],
      ['key:a', { publish: { costPerSecond: 1 } }, /cost of publish: none is allowed/],
      ['key:a', { publish: { messagesPerSecond: -1 } }, /limit of key key:a/],
      ['key:a', { publish: { messagesPerFortnight: 1 } }, /limit of key key:a/],
      ['key:a', { limiter: 'window' }, /limit of key key:a/],
      ['key:a', {}, /must be like/],
      ['key:a', 600, /must be like/],
      ['key:a', [], /must be like/],
      ['key:a', null, /must be like/],
      ['key:a', JSON.parse('{"__proto__":{"messagesPerSecond":"1/min"}}'), /limit of key key:a/],
      ['key:a', JSON.parse('{"constructor":{"messagesPerSecond":"1/min"}}'), /limit of key key:a/],
      ['fixed:a', perMinute(1), /template fixed:\{id\} allows none/],
      ['orders', perMinute(1), /no template makes it/],
      [{ tenant: 'acme' }, perMinute(1), /must stand beside the name of a key/],
    ];
    await onOneNode(KEYS, async (node) => {
      for (const [where, limit, reason] of refused) {
        expect(() => node.tryAcquire(where as string, ONE, { limit: limit as never })).toThrow(reason);
      }
      expect(takeAll(node, 'key:a')).toBe(6);
    });
  });

  test("the operator's override stands before a limit", async () => {
    await onOneNode(KEYS, async (node) => {
      expect(takeAll(node, 'key:acme', perMinute(50))).toBe(3);
    });
  });

  test('different limits in use are bounded; one of which there is no key makes room', async () => {
    await onOneNode(
      KEYS,
      async (node) => {
        for (let key = 1; key <= 3; key++) node.tryAcquire(`key:${key}`, ONE, { limit: perMinute(key) });
        node.tryAcquire('key:4', ONE, { limit: perMinute(3) });
        expect(() => node.tryAcquire('key:5', ONE, { limit: perMinute(5) })).toThrow(/keys.maxLimits = 3/);
        node.tryAcquire('key:1', ONE, { limit: perMinute(2) });
        expect(node.tryAcquire('key:5', ONE, { limit: perMinute(5) }).granted).toBe(true);
      },
      { constants: { keys: { maxLimits: 3 } } },
    );
  });

  test('the last key of a limit may change it where there is no room for one more', async () => {
    await onOneNode(
      KEYS,
      async (node) => {
        for (const told of [7, 8, 9, 8])
          expect(node.tryAcquire('key:a', ONE, { limit: perMinute(told) }).granted).toBe(true);
        node.tryAcquire('key:b', ONE, { limit: perMinute(8) });
        expect(() => node.tryAcquire('key:a', ONE, { limit: perMinute(10) })).toThrow(/keys.maxLimits = 1/);
        expect(node.keys?.seen('key:a')?.settings.quota.publish[0]).toBeCloseTo(8 / 60);
      },
      { constants: { keys: { maxLimits: 1 } } },
    );
  });

  test('a mistake is told where it stands in the request, again for every key', async () => {
    await onOneNode(KEYS, async (node) => {
      const ask = (key: string) => () => node.tryAcquire(key, ONE, { limit: { publish: { messagesPerFortnight: 1 } } });
      expect(ask('key:a')).toThrow(
        'limit of key key:a: request: limit.publish.messagesPerFortnight is not a known key',
      );
      expect(ask('key:b')).toThrow('limit of key key:b: request: limit.publish.messagesPerFortnight');
      expect(node.status().keys[0]).toMatchObject({ limitsRefused: 2 });
      expect(() => node.tryAcquire('key:a', ONE, { limit: { publish: 5 } as never })).toThrow(
        'request: limit.publish ',
      );
      for (let wrong = 0; wrong < 200; wrong++)
        expect(() => node.tryAcquire('key:a', ONE, { limit: perMinute(61 + wrong) })).toThrow(/at most 1 per second/);
    });
  });

  test('a limit that is longer than any that says something is not read, however it got so long', async () => {
    await onOneNode(KEYS, async (node) => {
      for (const publish of [
        Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`x${at}`, at])),
        { messagesPerSecond: `${' '.repeat(1e6)}5` },
        { ['x'.repeat(1e6)]: 5 },
      ]) {
        const ask = () => node.tryAcquire('key:a', ONE, { limit: { publish } });
        expect(ask).toThrow(/must have at most 500 characters as JSON, has [0-9]+\.$/);
      }
    });
  });
});
