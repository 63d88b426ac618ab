import '../seed.js';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { storyOf } from '../../../sim/account/draw-story.js';
import { playStory } from '../../../sim/account/play-story.js';
import { shrinkStory } from '../../../sim/account/shrink-story.js';
import type { Act, Story } from '../../../sim/account/story.js';
import { Gate } from '../../../src/node/admission/gate.js';

/** test/long/account.test.ts plays 400 others. */
const RUNS = 22;

const OPTIONS = { nodeMsMax: 150_000 };
const stories: fc.Arbitrary<Story> = fc
  .tuple(fc.nat(9999), fc.array(fc.nat(0xffffffff), { minLength: 6, maxLength: 30, size: 'max' }))
  .map(([seed, numbers]) => storyOf(seed, numbers, OPTIONS));

test('in any span a group or key is granted its quota and three depths, by whatever calls, whoever comes and goes', async () => {
  let [granted, probes, mostDepths] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(stories, async (story) => {
      const played = await playStory(story);
      expect(played.broken).toEqual([]);
      granted += played.granted;
      probes += played.probes;
      mostDepths = Math.max(mostDepths, played.mostDepths);
    }),
    { numRuns: RUNS },
  );
  // Not a law of clusters in which nothing is granted, or one node alone asks.
  expect(granted).toBeGreaterThan(1000);
  expect(probes).toBeGreaterThan(5);
  expect(mostDepths).toBeGreaterThan(1.2);
});

test('a node that grants one depth more than it may is found, and the smallest story names it', async () => {
  const tryAcquire = Gate.prototype.tryAcquire;
  let left = 0;
  const spy = vi.spyOn(Gate.prototype, 'tryAcquire').mockImplementation(function (this: Gate, ...asked) {
    const decision = tryAcquire.apply(this, asked);
    if (decision.granted || left <= 0 || asked[2]?.atMost === true) return decision;
    left -= asked[1].messages ?? 0;
    return { granted: true };
  });
  try {
    const bucket = { isKey: false, per: 'Minute', quota: 20, burst: null } as const;
    const near = { appendMs: [1, 3], deliveryMs: [1, 8] } as const;
    const base = { seed: 1, nodes: 3, partitions: 1, delays: near, sampleIntervalMs: 20, buckets: [bucket] };
    const drain: Act = { act: 'drain', at: 0, of: 0, isEverywhere: true, isPiecewise: true };
    const pause: Act = { act: 'pass', ms: 1000 };
    const story: Story = { ...base, acts: [pause, drain, { act: 'start', compacted: true }] };
    expect((await playStory(story)).broken).toEqual([]);
    left = bucket.quota;
    const { broken } = await playStory(story);
    expect(broken.map(({ promise, depths }) => [promise, depths])).toEqual([['account', 1]]);
    left = Infinity;
    const { acts } = await shrinkStory(story, 'account', 20);
    expect(acts.map(({ act }) => act)).toEqual(['drain']);
  } finally {
    spy.mockRestore();
  }
});

test('a reservation of a key that is forgotten meanwhile may be cancelled', async () => {
  const story: Story = {
    seed: 3315,
    nodes: 1,
    partitions: 1,
    delays: { appendMs: [0.5, 2], deliveryMs: [0.5, 3] },
    sampleIntervalMs: 20,
    buckets: [{ isKey: true, per: 'Second', quota: 10, burst: 100 }],
    acts: [
      { act: 'limit', bucket: 0, factor: 0.5 },
      { act: 'limit', bucket: 0, factor: 0.5 },
      { act: 'reserve', at: 0, of: 0, part: 0, heldMs: 15_000, used: 0 },
      { act: 'pass', ms: 5 },
      { act: 'reserve', at: 0, of: 0, part: 0.5, heldMs: 15_000, used: 1.2 },
      { act: 'pass', ms: 60_000 },
    ],
  };
  expect((await playStory(story)).broken).toEqual([]);
});
