import { describe, expect, test } from 'vitest';
import type { WholeNode } from '../../whole-node.js';
import { onOneNode, PER_MINUTE, PER_SECOND } from './keys-cluster.js';

const ONE = { messages: 1 };
const MAX_LIVE = 2000;
/** Names that nobody has used before: ten times as many as may live. */
const NAMES = 20_000;
const STEPS = 50;

/** Asks once for each name; returns how many were granted, and how many found no room. */
function flood(node: WholeNode, from: number, count: number): { granted: number; full: number } {
  const answers = { granted: 0, full: 0 };
  for (let id = from; id < from + count; id++) {
    try {
      if (node.tryAcquire(`key:flood-${id}`, ONE).granted) answers.granted++;
    } catch (error) {
      expect((error as { code?: string }).code).toBe('KEYS_FULL');
      answers.full++;
    }
  }
  return answers;
}

describe('a flood of names', () => {
  test('takes nothing from other groups and keys, and no key in debt is forgotten for it', async () => {
    const keys = { maxLive: MAX_LIVE, 'key:{id}': PER_SECOND(10), 'slow:{id}': PER_MINUTE(1) };
    const story = async (isFlooded: boolean) => {
      const seen = { orders: 0, spent: 0, hot: 0, floodGranted: 0, full: 0 };
      await onOneNode(
        keys,
        async (node, { time }) => {
          // One whose bucket is empty for a minute, and one that is published.
          node.tryAcquire('slow:debtor', ONE);
          for (let time = 0; time < 20; time++) node.tryAcquire('key:loud', ONE);
          const book = node.keys!;
          expect(book.counts.get('key:{id}')).toMatchObject({ loud: 1 });
          for (let step = 0; step < STEPS; step++) {
            if (isFlooded) {
              const { granted, full } = flood(node, step * (NAMES / STEPS), NAMES / STEPS);
              seen.floodGranted += granted;
              seen.full += full;
            }
            if (node.tryAcquire('orders', ONE).granted) seen.orders++;
            if (step % 10 === 0 && node.tryAcquire('key:loud', ONE).granted) seen.hot++;
            if (step % 10 === 0) seen.spent += book.seen('slow:debtor')!.left[0][0];
            await time.advance(20);
            expect(book.counts.get('key:{id}')!.live).toBeLessThanOrEqual(MAX_LIVE);
          }
          expect(book.seen('key:loud')!.group).not.toBe(null);
        },
        { groups: { orders: PER_SECOND(25) } },
      );
      return seen;
    };
    const calm = await story(false);
    const flooded = await story(true);
    expect(flooded).toMatchObject({ orders: calm.orders, hot: calm.hot, spent: calm.spent });
    expect(calm.orders).toBeGreaterThan(0);
    expect(calm.hot).toBeGreaterThan(0);
    // Each name was answered, and those that found no room were told so.
    expect(flooded.floodGranted + flooded.full).toBe(NAMES);
    expect(flooded.full).toBeGreaterThan(0);
    expect(flooded.floodGranted).toBeGreaterThan(MAX_LIVE);
  });
});
