import { expect, test } from 'vitest';
import { leastOfOneBucket, refusedByOneBucket } from '../../../sim/recommend/one-bucket.js';
import { recommend, refusedByCluster, roundedUp } from '../../../sim/recommend/recommend.js';
import { collectWork, type RecordedWork } from '../../../sim/recommend/recorded-work.js';
import type { TraceArrival } from '../../../sim/replay/trace.js';
import { replayedGroup } from '../../../src/cli/sim/replay-group.js';

/** 20/s at each of three nodes for 20 s, and 60 at once at one of them every 4 s. */
function bursty(): Promise<RecordedWork> {
  const arrivals: TraceArrival[] = [];
  const add = (atMs: number, node: number) => {
    arrivals.push({ atMs, node, messages: 1, bytes: 0, key: '', retryAfterMs: 0, line: 0 });
  };
  for (let atMs = 0; atMs < 20_000; atMs += 50) {
    for (let node = 0; node < 3; node++) add(atMs, node);
    if (atMs % 4000 === 2000) for (let at = 0; at < 60; at++) add(atMs, 1);
  }
  return collectWork(
    (async function* () {
      yield* arrivals;
    })(),
  );
}

async function asked(wish: number, strategy = 'max-min') {
  const work = await bursty();
  const { settings, maxRequestAt } = await replayedGroup({ direction: 'publish', set: [`strategy=${strategy}`] });
  const options = {
    name: 'bursty',
    of: 0 as const,
    otherQuota: Number.POSITIVE_INFINITY,
    wish,
    nodes: 3,
    seed: 1,
    speed: 1,
  };
  return { work, options: { ...options, settings, maxRequestAt } };
}

test('where more is asked for at once than a burst holds, no quota is looked for', async () => {
  const { work, options } = await asked(0.01);
  const depths: number[] = [];
  await recommend(work, { ...options, onPlay: ({ depth }) => depths.push(depth) });
  // The mean is 75/s, and a burst of 10 or of 38 cannot admit 60 at once.
  expect(Math.min(...depths)).toBe(76);
});

test('every point of the frontier meets the wish, and more burst needs less quota', async () => {
  const { work, options } = await asked(0.01);
  const { frontier, best, strategy, strategies } = await recommend(work, options);
  expect(frontier.length).toBeGreaterThan(2);
  for (const [at, { refused, depth, perSecond }] of frontier.entries()) {
    expect(refused).toBeLessThanOrEqual(0.01);
    const before = frontier[at - 1];
    if (before === undefined) continue;
    expect(depth).toBeGreaterThan(before.depth);
    expect(perSecond).toBeLessThan(before.perSecond);
  }
  expect(best.mostPerSecond).toBe(Math.min(...frontier.map(({ mostPerSecond }) => mostPerSecond)));
  // What was not there at the beginning has to come back: 1,500 are asked for in 20 s.
  for (const { perSecond, depth } of frontier) expect(perSecond * 20 + depth).toBeGreaterThan(0.99 * 1500);
  expect(strategies).toHaveLength(6);
  expect(strategies.map((one) => one.strategy)).toContain(strategy);
});

test('with a quota a twentieth lower the wish is not met', async () => {
  const { work, options } = await asked(0.01);
  const { frontier } = await recommend(work, options);
  for (const { depth, perSecond } of frontier) {
    expect(await refusedByCluster(work, { depth, perSecond: perSecond * 0.95 }, options)).toBeGreaterThan(0.01);
  }
});

test('a single bucket: what is refused, and the least rate, as counted by hand', async () => {
  const work = await collectWork(
    (async function* () {
      for (const atMs of [0, 0, 0, 0, 1000, 2000]) {
        yield { atMs, node: 0, messages: 1, bytes: 0, key: '', retryAfterMs: 0, line: 0 };
      }
    })(),
  );
  // Two of four at once pass; one comes back in each second.
  expect(refusedByOneBucket(work, 0, 1, 2)).toBeCloseTo(2 / 6, 12);
  expect(leastOfOneBucket(work, 0, 2, 2 / 6)).toBeCloseTo(1, 2);
  // Whatever comes back, two of the four find nothing.
  expect(leastOfOneBucket(work, 0, 2, 1 / 6)).toBeNull();
});

test('rounds up to the digits that somebody types', () => {
  expect([roundedUp(43.41, 3), roundedUp(43.4, 3), roundedUp(0.031, 2), roundedUp(1999, 2)]).toEqual([
    43.5, 43.4, 0.031, 2000,
  ]);
});
