import { describe, expect, test } from 'vitest';
import type { KeyEntry } from '../../../src/node/api/change-answers.js';
import type { Batch, Reservation } from '../../../src/node/api/decision.js';
import { deleteKeys, putKeys } from '../../../src/node/groups/changes/change-keys.js';
import { BY_TEST } from '../../integration/changed-by.js';
import type { WholeNode } from '../../whole-node.js';
import { done, type KeysCluster, onOneNode, PER_MINUTE, useUp } from './keys-cluster.js';

const ONE = { messages: 1 };
const KEYS = { 'key:{id}': PER_MINUTE(60) };

/** Whole units that the node may still spend without publishing it; NaN for a loud key. */
function leftOf(node: WholeNode, key: string): number {
  return Math.floor(node.keys?.seen(key)?.left[0]?.[0] ?? Number.NaN);
}

describe('calls that need not be heard of', () => {
  const calls: readonly (readonly [string, (node: WholeNode, key: string) => unknown, number])[] = [
    ['reserve', (node, key) => node.reserve(key, { messages: 3 }), 57],
    ['reserve and commit', (node, key) => (node.reserve(key, { messages: 3 }) as Reservation).commit(ONE), 59],
    ['reserve and cancel', (node, key) => (node.reserve(key, { messages: 3 }) as Reservation).cancel(), 60],
    ['commit of more', (node, key) => (node.reserve(key, ONE) as Reservation).commit({ messages: 4 }), 56],
    ['takeBatch', (node, key) => node.takeBatch(key, { messages: 3 }), 57],
    [
      'takeBatch and refund',
      async (node, key) => ((await node.takeBatch(key, { messages: 3 })) as Batch).refund(ONE),
      58,
    ],
    ['atMost', (node, key) => node.tryAcquire(key, { messages: 3 }, { atMost: true }), 57],
    ['consume', (node, key) => node.consume(key, { messages: 3 }), 57],
    ['containsTokens', (node, key) => expect(node.containsTokens(key, { messages: 60 })).toBe(true), 60],
    ['throttleDurationMs', (node, key) => expect(node.throttleDurationMs(key)).toBe(0), 60],
    ['reserve for a scope', (node, key) => node.reserve({ client: key.slice(4) }, { messages: 3 }), 57],
  ];

  test('leave keys silent, and take what they take', async () => {
    const story = async (node: WholeNode, { appended }: KeysCluster) => {
      for (const [at, [name, call, left]] of calls.entries()) {
        await call(node, `key:${at}`);
        expect([name, leftOf(node, `key:${at}`)]).toEqual([name, left]);
      }
      expect(appended.reports).toBe(0);
    };
    await onOneNode(KEYS, story, { attachments: { rules: [{ client: '*', group: 'key:{client}' }] } });
  });

  test('a part is all of it where that is there, and what a group has where it is not', async () => {
    await onOneNode(KEYS, async (node) => {
      expect(node.tryAcquire('key:a', { messages: 50 }, { atMost: true })).toMatchObject({
        granted: true,
        messages: 50,
      });
      expect(node.keys?.isPublished('key:a')).toBe(false);
      const decision = node.tryAcquire('key:a', { messages: 50 }, { atMost: true });
      expect(node.keys?.isPublished('key:a')).toBe(true);
      expect((decision.granted && decision.messages) || 0).toBeLessThanOrEqual(10);
      expect(await node.takeBatch('key:b', 'all')).toMatchObject({ granted: expect.any(Boolean) });
      expect(node.keys?.isPublished('key:b')).toBe(true);
    });
  });

  test('a batch ends once, with the words of every batch', async () => {
    await onOneNode(KEYS, async (node) => {
      const batch = (await node.takeBatch('key:a', { messages: 5 })) as Batch;
      expect(batch).toMatchObject({ messages: 5, bytes: 0, epoch: null, validMs: 60_000 });
      expect(() => batch.refund({ messages: 6 })).toThrow(/5 were granted/);
      batch.refund({ messages: 1, dropped: { messages: 1 } });
      expect(() => batch.refund(ONE)).toThrow(/refunded already/);
      expect(leftOf(node, 'key:a')).toBe(57);
    });
  });

  test('mistakes are those of a group', async () => {
    await onOneNode(KEYS, async (node) => {
      for (const call of [
        () => node.reserve('key:a', {}),
        () => node.reserve('key:a', { messages: 1e9 }),
        () => node.reserve('key:a', ONE, { direction: 'up' } as never),
        () => node.reserve('key:a', ONE, { topic: 5 } as never),
        () => node.consume('key:a', {}),
        () => node.containsTokens('key:a', { messages: -1 }),
        () => (node.reserve('key:a', ONE) as Reservation).commit({ messages: 1e9 }),
      ])
        expect(call).toThrow(/messages|must be|neither/);
    });
  });
});

describe('what is held unpublished is no bank', () => {
  test('what has come back by itself does not come back a second time', async () => {
    await onOneNode(KEYS, async (node, { time }) => {
      const held = Array.from({ length: 5 }, () => node.reserve('key:a', { messages: 10 }) as Reservation);
      await time.advance(60_000);
      // The bucket is full again.
      expect(takeAllUnpublished(node, 'key:a')).toBe(60);
      for (const reservation of held) reservation.cancel();
      expect(leftOf(node, 'key:a')).toBe(0);
    });
  });

  test('of what is taken later nothing comes back for it', async () => {
    await onOneNode(KEYS, async (node, { time }) => {
      const held = node.reserve('key:a', { messages: 30 }) as Reservation;
      await time.advance(10_000);
      // 20 have not come back. The 10 that are taken now belong to somebody else.
      node.consume('key:a', { messages: 10 });
      held.cancel();
      expect(leftOf(node, 'key:a')).toBe(50);
    });
  });

  test('nothing comes back to a key that is loud, or forgotten, or has no template any more', async () => {
    await onOneNode(KEYS, async (node, { time }) => {
      await done(time, putKeys(node, RUN, PER_MINUTE(60), null, BY_TEST));
      const [loud, gone, forgotten] = ['key:loud', 'run:gone', 'key:forgotten'].map(
        (key) => node.reserve(key, { messages: 30 }) as Reservation,
      ) as [Reservation, Reservation, Reservation];
      useUp(node, 'key:loud');
      loud.commit({ messages: 40 });
      await time.advance(100_000);
      expect(node.keys?.seen('key:forgotten')).toBe(null);
      forgotten.cancel();
      expect(node.tryAcquire('key:forgotten', { messages: 60 }).granted).toBe(true);
      await done(time, deleteKeys(node, RUN, null, BY_TEST));
      expect(() => node.tryAcquire('run:gone', ONE)).toThrow(/not configured/);
      gone.commit({ messages: 40 });
    });
  });
});

const RUN: KeyEntry = { kind: 'template', name: 'run:{id}' };

function takeAllUnpublished(node: WholeNode, key: string): number {
  let taken = 0;
  while (leftOf(node, key) >= 1 && node.tryAcquire(key, ONE).granted) taken++;
  return taken;
}
