import { expect, test } from 'vitest';
import type { Reservation } from '../../../src/node/api/decision.js';
import { randomOf } from '../../property/random-of.js';
import { someOf } from '../../property/seed.js';
import { withKeys } from './keys-cluster.js';

const DEPTH = 1_200_000;
const PER_MS = DEPTH / 60_000;
/** Within these milliseconds the node looks at a bucket that nobody asks. */
const LOOK_MS = 600;
/** A language model's tokens are its bytes. */
const KEYS = { 'llm:{key}': { quota: { publish: { messagesPerSecond: '600/min', bytesPerSecond: '1200000/min' } } } };
const SEEDS = Array.from({ length: 24 }, (_, at) => at);

test.each(someOf(SEEDS))(
  'nine tenths are used at once, and many requests end with less: no large one finds more (seed %s)',
  async (seed) => {
    const random = randomOf(seed);
    const upTo = (most: number) => Math.floor(most * random());
    await withKeys(1, KEYS, async ({ nodes: [node], time }) => {
      const ask = (bytes: number) => node.reserve('llm:greedy', { messages: 1, bytes });
      await time.advance(upTo(3000));
      const startMs = performance.now();
      let used = 1_080_000;
      (ask(used + 2000) as Reservation).commit({ messages: 1, bytes: used });
      const open: { held: Reservation; bytes: number }[] = [];
      const endOne = () => {
        const [{ held, bytes }] = open.splice(upTo(open.length), 1);
        held.commit({ messages: 1, bytes });
        used += bytes;
      };
      for (let asked = 0; asked < 150; asked++) {
        const bytes = 40 + upTo(asked % 2 === 0 ? 7500 : 400);
        const held = ask(bytes + 2000);
        if (held.granted) open.push({ held, bytes });
        while (open.length > 0 && random() < 0.3) endOne();
        if (random() < 0.3) await time.advance(1 + upTo(20));
      }
      while (open.length > 0) endOne();
      await time.advance(upTo(1500));
      const left = DEPTH - used + PER_MS * (performance.now() - startMs);
      expect(left).toBeLessThan(DEPTH / 10);
      for (const times of [1.05, 1.5, 3, 10]) {
        const large = ask(Math.round(left * times));
        expect(large, `${times} of what is left`).toMatchObject({ granted: false, reason: 'quota' });
      }
      const large = Math.round(left * 3);
      const told = ask(large) as { retryAfterMs: number };
      await time.advance(told.retryAfterMs + LOOK_MS);
      expect(ask(large).granted, `${large} after ${told.retryAfterMs} ms`).toBe(true);
    });
  },
);
