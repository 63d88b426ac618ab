import { describe, expect, test } from 'vitest';
import { contender as staticSplit } from '../../../bench/race/contenders/static-split.js';
import { burstFigures, figuresOf, seriesOf } from '../../../bench/race/figures.js';
import { TokenBucket } from '../../../bench/race/token-bucket.js';
import type { Traffic } from '../../../bench/race/traffic.js';
import { evenly, LIMIT, playVirtually } from './virtual-race.js';

const SECONDS = 20;
const WHOLE = { fromMs: 0, toMs: SECONDS * 1000 };

describe('what is admitted', () => {
  test('an exact bucket has the quota and one burst: in no bucket of time more, and all that one bucket can give', async () => {
    const bucket = new TokenBucket(LIMIT.perSecond, LIMIT.burst);
    const played = await playVirtually(evenly(2000, SECONDS), (clock) => bucket.take(clock.nowMs()));
    const figures = figuresOf([played], LIMIT, WHOLE);
    expect(figures.asked).toBe(40_000);
    expect(figures.total).toBeCloseTo(0.005, 3);
    expect(figures.buckets).toEqual([0.1, 0.02, 0.01, 0.005].map((above) => expect.closeTo(above, 2)));
    expect(figures.worstSecond).toBeCloseTo(1.1, 2);
    expect(figures.used).toBeCloseTo(1, 3);
    expect(figures.lost).toBe(0);
  });

  test('a limiter that lets 131 of 1,000 too many through is 13.1 % above in every bucket', async () => {
    let asked = 0;
    const played = await playVirtually(evenly(2000, SECONDS), () => asked++ % 2000 < 1131);
    const figures = figuresOf([played], LIMIT, WHOLE);
    expect(figures.total).toBeCloseTo(0.131, 9);
    expect(figures.buckets).toEqual(Array.from({ length: 4 }, () => expect.closeTo(0.131, 9)));
  });

  test('windows give two quotas within a second around an edge, which buckets of time that begin there do not show', async () => {
    const played = await playVirtually([...burst(900, 1000), ...burst(1100, 1000)], () => true);
    const figures = figuresOf([played], LIMIT, { fromMs: 0, toMs: 5000 });
    expect(figures.worstSecond).toBe(2);
    expect(figures.buckets).toEqual([0, -0.6, null, null]);
  });

  test('what comes before the span, or is answered after it, is no part of it', async () => {
    const played = await playVirtually(evenly(1000, 3), () => true);
    const figures = figuresOf([played], LIMIT, { fromMs: 1000, toMs: 2000 });
    expect([figures.asked, figures.admitted, figures.total]).toEqual([1000, 1000, 0]);
    // The last of the first step is asked a timer's half millisecond late, in the second step.
    const perSecond = Array.from({ length: 12 }, (_, at) => (at === 0 ? 996 : 1000));
    expect(seriesOf([played], 3000)).toEqual({ stepMs: 250, perSecond });
  });
});

describe('an open loop', () => {
  test('who stands still is late for all that came meanwhile, and is asked all of it', async () => {
    let asked = 0;
    const played = await playVirtually(evenly(1000, 2), (clock) => {
      if (asked++ === 500) clock.work(600);
      return true;
    });
    const figures = figuresOf([played], LIMIT, { fromMs: 0, toMs: 2000 });
    expect(figures.asked).toBe(2000);
    expect(asked).toBe(2000);
    // Waiting grows as the stall's end is awaited: of 2,000 requests 600 waited, evenly between 0 and 600 ms.
    expect(figures.p99Ms).toBeGreaterThan(570);
    expect(figures.p99Ms).toBeLessThan(590);
    expect(figures.p50Ms).toBeLessThanOrEqual(1);
  });

  test('slow answers hold nobody up: latency is theirs, and requests go on', async () => {
    const played = await playVirtually(evenly(1000, 2), (clock) => clock.sleep(40).then(() => true));
    const figures = figuresOf([played], LIMIT, { fromMs: 0, toMs: 2000 });
    expect(figures.p50Ms).toBeGreaterThanOrEqual(40);
    expect(figures.p99Ms).toBeLessThanOrEqual(41.5);
    expect(figures.asked - figures.admitted).toBeLessThanOrEqual(41);
  });

  test('failures, late answers and none at all are lost, and have no latency', async () => {
    let asked = 0;
    const played = await playVirtually(evenly(100, 4), (clock) => {
      const kind = asked++ % 4;
      if (kind === 0) throw new Error('away');
      if (kind === 1) return Promise.reject(new Error('away'));
      if (kind === 2) return clock.sleep(1200).then(() => true);
      return asked <= 200 ? true : new Promise(() => undefined);
    });
    const figures = figuresOf([played], LIMIT, { fromMs: 0, toMs: 4000 });
    // Half of the last quarter has an answer.
    expect(figures.lost).toBe(350);
    expect(played.failure).toBe('Error: away');
    expect(figures.admitted).toBe(50);
    expect(figures.p99Ms).toBeLessThan(20);
  });
});

describe('who gets it', () => {
  test('a quota that goes to whoever asks leaves the small node half of what is fair; max-min nothing', async () => {
    const shares = async (large: number, small: number) => {
      const nodes = [await everyNth(1600, large / 1600), await everyNth(400, small / 400)];
      return figuresOf(nodes, LIMIT, { fromMs: 0, toMs: 10_000 }).belowFair;
    };
    expect(await shares(800, 200)).toBeCloseTo(0.5, 2);
    expect(await shares(600, 400)).toBe(0);
    expect(await shares(500, 500)).toBeCloseTo(1 / 6, 2);
  });

  test('where requests come in heaps, fair is a part of what an exact bucket gives, not of a quota that lay idle', async () => {
    const heaps = Array.from({ length: 10 }, (_, second) => burst(1000 * second + 500, 500)).flat();
    const shared = { ...LIMIT, burst: 50 };
    const node = (admits: number) => {
      let [atMs, admitted] = [-1, 0];
      return playVirtually(heaps, (clock) => {
        if (clock.nowMs() !== atMs) [atMs, admitted] = [clock.nowMs(), 0];
        return ++admitted <= admits;
      });
    };
    const shares = async (one: number, other: number) =>
      figuresOf([await node(one), await node(other)], shared, { fromMs: 0, toMs: 10_000 }).belowFair;
    expect(await shares(25, 25)).toBe(0);
    expect(await shares(40, 10)).toBeCloseTo(0.6, 2);
  });

  test('what is lost was not refused', async () => {
    const played = await playVirtually(evenly(1000, 5), () => Promise.reject(new Error('away')));
    expect(figuresOf([played], LIMIT, { fromMs: 0, toMs: 5000 })).toMatchObject({ lost: 5000, belowFair: 0 });
  });
});

describe('bursts', () => {
  test('one node of a split has its part of the depth, all nodes have all of it', async () => {
    const limit = { ...LIMIT, burst: 300, nodes: 3 };
    const bursts = [
      { atMs: 1000, nodes: 1 },
      { atMs: 3000, nodes: 3 },
    ];
    const nodes = await Promise.all(
      [0, 1, 2].map((node) => {
        const split = new TokenBucket(LIMIT.perSecond / 3, 100);
        const due = [...(node === 0 ? burst(1000, 3000) : []), ...burst(3000, 1000)];
        return playVirtually(due, (clock) => split.take(clock.nowMs()));
      }),
    );
    expect(burstFigures(nodes, limit, { bursts } as unknown as Traffic, staticSplit)).toEqual([
      { nodes: 1, asked: 3000, admitted: 100, allowed: 100 },
      { nodes: 3, asked: 3000, admitted: 300, allowed: 300 },
    ]);
  });
});

function burst(atMs: number, requests: number): number[] {
  return Array.from({ length: requests }, () => atMs);
}

function everyNth(perSecond: number, part: number) {
  let admitted = 0;
  let asked = 0;
  return playVirtually(evenly(perSecond, 10), () => {
    if (admitted >= ++asked * part) return false;
    admitted++;
    return true;
  });
}
