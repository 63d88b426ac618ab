import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { recommendProgress } from '../../../sim/commands/recommend-progress.js';
import { type Recommended, recommendationText } from '../../../sim/commands/recommend-text.js';
import { replayedGroup } from '../../../sim/commands/replay-group.js';
import { leastOfOneBucket, refusedByOneBucket } from '../../../sim/recommend/one-bucket.js';
import { recommend, refusedByCluster, roundedUp } from '../../../sim/recommend/recommend.js';
import { collectWork, type RecordedWork } from '../../../sim/recommend/recorded-work.js';
import type { TraceArrival } from '../../../sim/replay/trace.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { isDrawn } from '../../property/seed.js';

/** 20/s at each of three nodes for 20 s, and 60 at once at one of them every 4 s. */
function bursty(): Promise<RecordedWork> {
  const arrivals: TraceArrival[] = [];
  for (let atMs = 0; atMs < 20_000; atMs += 50) {
    for (let node = 0; node < 3; node++) arrivals.push(arrival(atMs, node));
    if (atMs % 4000 === 2000) for (let at = 0; at < 60; at++) arrivals.push(arrival(atMs, 1));
  }
  return collectWork(Readable.from(arrivals));
}

function arrival(atMs: number, node: number, key = ''): TraceArrival {
  return { atMs, node, messages: 1, bytes: 0, key, retryAfterMs: 0, line: 0 };
}

async function asked() {
  const work = await bursty();
  const { settings, maxRequestAt } = await replayedGroup({ direction: 'publish', set: ['strategy=max-min'] });
  const options = { name: 'bursty', of: 0, otherQuota: Infinity, wish: 0.01, nodes: 3, seed: 1, speed: 1 } as const;
  return { work, options: { ...options, settings, maxRequestAt } };
}

/** Three tests look at one search, which takes seconds: all three are of one sixth. */
let searched: ReturnType<typeof search> | null = null;
function recommended(): ReturnType<typeof search> {
  searched ??= search();
  return searched;
}

async function search() {
  const { work, options } = await asked();
  const depths: number[] = [];
  const found = await recommend(work, { ...options, onPlay: ({ depth }) => depths.push(depth) });
  return { work, options, depths, found };
}

test.runIf(isDrawn(0))('where more is asked for at once than a burst holds, no quota is looked for', async () => {
  const { depths } = await recommended();
  // The mean is 75/s, and a burst of 10 or of 38 cannot admit 60 at once.
  expect(Math.min(...depths)).toBe(76);
});

test.runIf(isDrawn(0))('every point of the frontier meets the wish, and more burst needs less quota', async () => {
  const { frontier, best, strategy, strategies } = (await recommended()).found;
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

test.runIf(isDrawn(0))('with a quota a twentieth lower the wish is not met', async () => {
  const { work, options, found } = await recommended();
  const { frontier } = found;
  for (const { depth, perSecond } of frontier) {
    expect(await refusedByCluster(work, { depth, perSecond: perSecond * 0.95 }, options)).toBeGreaterThan(0.01);
  }
});

test.runIf(isDrawn(3))('every key has a quota of its own: the one that asks for most decides', async () => {
  const arrivals: TraceArrival[] = [];
  for (let atMs = 0; atMs < 10_000; atMs += 50) {
    for (const [at, key] of ['busy', 'busy', 'calm'].entries()) {
      arrivals.push(arrival(atMs + at, at, key));
    }
  }
  const work = await collectWork(Readable.from(arrivals));
  expect(work.keys).toEqual(['busy', 'calm']);
  const { options } = await asked();
  const plays: { readonly burst: number; readonly bursts: number }[] = [];
  const found = await recommend(work, { ...options, onPlay: (play) => plays.push(play) });
  expect(found.meanPerSecond).toBeCloseTo(60, 0);
  expect(found.busiestPerSecond).toBeCloseTo(40, 0);
  // Less than both together ask for, and about what one of them does.
  expect(found.best.perSecond).toBeGreaterThan(35);
  expect(found.best.perSecond).toBeLessThan(48);
  expect(found.strategies[0]?.run.keys.map(({ key }) => key)).toEqual(['busy', 'calm']);
  const { bursts } = plays[0];
  expect(new Set(plays.map(({ burst }) => burst))).toEqual(new Set(Array.from({ length: bursts }, (_, at) => at + 1)));
});

test('where there is no terminal progress comes in few lines, and on one in one line', () => {
  const told = (isTerminal: boolean) => {
    const lines: string[] = [];
    let nowMs = 0;
    const progress = recommendProgress(
      isTerminal,
      (text) => lines.push(text),
      () => nowMs,
    );
    for (; nowMs < 3_600_000; nowMs += 1000) progress.played({ depth: 38, perSecond: 75, burst: 3, bursts: 8 });
    progress.end();
    return lines;
  };
  const lines = told(false);
  expect(lines[0]).toBe('quotamesh: play 3: burst 3 of 8, 38 at 75/s, 2 s so far\n');
  expect(lines.length).toBeGreaterThan(12);
  expect(lines.length).toBeLessThan(25);
  expect(told(true)).toHaveLength(3601);
});

test('the next step names what there is: a group, a key, a template, or none', async () => {
  const work = await bursty();
  const point = { depth: 76, perSecond: 80, refused: 0, mostPerSecond: 156 };
  const chosen = { frontier: [point], best: point, strategy: 'max-min', strategies: [] };
  const found = { meanPerSecond: 75, busiestPerSecond: 75, ...chosen };
  const text = (kind: Recommended['kind'], group: string, per: string | null) => {
    const about = { file: 'a.csv', of: 'messages', direction: 'publish', wish: 0.01, nodes: 3, speed: 1 } as const;
    return recommendationText({ ...about, kind, group, per, top: 10, note: [], work, found });
  };
  const set = 'quota.publish.messagesPerSecond=80 burst=76 strategy=max-min';
  expect(text('group', 'orders', null)).toContain(`quotamesh group set orders ${set}\n`);
  expect(text('key', 'key:acme', null)).toContain(`quotamesh key set key:acme ${set} mode=enforce\n`);
  expect(text('template', 'key:{id}', 'api_key')).toContain(
    `quotamesh key template set 'key:{id}' ${set} mode=shadow\n`,
  );
  const none = text('none', 'trace', null);
  expect(none).not.toMatch(/quotamesh |trace/);
  const yaml = none.slice(none.indexOf('groups:')).replace('NAME', 'orders');
  const { groups } = resolveConfig({ cluster: 'a', topic: 'memory', ...(parse(yaml) as object) }, { source: '(told)' });
  expect(groups[0]).toMatchObject({ quota: { publish: [80, Infinity] }, burst: { messages: 76 } });
  const keyed = text('none', 'trace', 'api_key');
  const { keys } = resolveConfig(
    { cluster: 'a', topic: 'memory', ...(parse(keyed.slice(keyed.indexOf('keys:'))) as object) },
    { source: '(told)' },
  );
  expect(keys.templates[0]).toMatchObject({ pattern: 'key:{id}', group: { burst: { messages: 76 } } });
});

test('the span of the worst second is told in seconds of the file, as all other figures', async () => {
  const work = await bursty();
  const point = { depth: 76, perSecond: 80, refused: 0, mostPerSecond: 156 };
  const chosen = { frontier: [point], best: point, strategy: 'max-min', strategies: [] };
  const found = { meanPerSecond: 75, busiestPerSecond: 75, ...chosen };
  const about = { file: 'a.csv', of: 'messages', direction: 'publish', wish: 0.01, nodes: 3 } as const;
  const told = { ...about, kind: 'none', group: 'trace', per: null, top: 10, note: [], work, found } as const;
  expect(recommendationText({ ...told, speed: 1 })).toMatch(/strategy +refused +worst second\n/);
  expect(recommendationText({ ...told, speed: 170 })).toMatch(/strategy +refused +worst 170 s\n/);
});

test('a single bucket: what is refused, and the least rate, as counted by hand', async () => {
  const work = await collectWork(Readable.from([0, 0, 0, 0, 1000, 2000].map((atMs) => arrival(atMs, 0))));
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
