import { expect, test } from 'vitest';
import { someOf } from '../../property/seed.js';
import { PER_MINUTE, withKeys } from '../keys/keys-cluster.js';

const ONE = { messages: 1 };

/**
 * The first row of the second node says a message in a second, more than its share, and stands for half a minute: it
 * kept a token for the third node, and the first one another for it, so it was refused six times in a row.
 */
test.each(someOf([21, 23]))(
  '60 per minute, one of three nodes asks every %i ms: one that asks every 5 s is served',
  async (ms) => {
    const answers: boolean[] = [];
    let ofBusy = 0;
    const story = async ({ nodes: [busy, quiet], time }: Parameters<Parameters<typeof withKeys>[2]>[0]) => {
      setInterval(() => {
        if (busy.tryAcquire('g', ONE).granted) ofBusy++;
      }, ms);
      await time.advance(3000);
      setInterval(() => answers.push(quiet.tryAcquire('g', ONE).granted), 5000);
      await time.advance(100_000);
    };
    await withKeys(3, {}, story, undefined, { groups: { g: PER_MINUTE(60) } });
    expect(answers.filter(Boolean).length).toBeGreaterThanOrEqual(0.95 * answers.length);
    expect(ofBusy).toBeGreaterThanOrEqual(60 + 0.75 * 100);
  },
);
