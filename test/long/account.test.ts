import { expect, test } from 'vitest';
import { describeStory, judgeAccount } from '../../sim/account/judge-account.js';
import { playStory } from '../../sim/account/play-story.js';
import { shrinkStory } from '../../sim/account/shrink-story.js';

/** `ACCOUNT_SEEDS=100000` plays a night; the swarm tells a story of each of its seeds, too. */
const SEEDS = Number(process.env.ACCOUNT_SEEDS ?? 400);
const FIRST = Number(process.env.ACCOUNT_FIRST_SEED ?? 1);
/** Stories that are made smaller; of the others only the seed is told. */
const SHRUNK = 5;

test(`${SEEDS} stories of accounts from seed ${FIRST}`, { timeout: 60_000 + 1500 * SEEDS }, async () => {
  const seen = new Map<string, number[]>();
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
    const { broken, story } = await judgeAccount(seed);
    for (const promise of new Set(broken.map((one) => one.promise))) {
      const seeds = seen.get(promise) ?? [];
      seen.set(promise, [...seeds, seed]);
      console.error(`seed ${seed}: ${broken.map(({ bucket, says }) => `${promise}: ${bucket}: ${says}`).join('; ')}`);
      if (seeds.length >= SHRUNK) continue;
      const smallest = await shrinkStory(story, promise);
      const says = (await playStory(smallest)).broken.map((one) => one.says);
      console.error([...says, ...describeStory(smallest)].join('\n  '));
    }
  }
  expect(Object.fromEntries(seen)).toEqual({});
});
