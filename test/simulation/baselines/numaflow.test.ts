import { describe, expect, test } from 'vitest';
import { EpochTokens } from '../../../sim/baselines/numaflow/epoch-tokens.js';
import { PoolStore } from '../../../sim/baselines/numaflow/pool-store.js';
import { figure, names, Play } from './play.js';

const TTL_SEC = 180;

describe('the pool size', () => {
  function agreed(store: PoolStore, sizes: Map<string, number>, nowSec: number): number[] {
    for (let round = 0; round < 5; round++) {
      for (const [pod, size] of sizes) sizes.set(pod, store.sync(pod, size, nowSec).size);
    }
    return [...sizes].map(([pod, size]) => {
      const { verdict, size: answer } = store.sync(pod, size, nowSec);
      expect(verdict).toBe('AGREE');
      return answer;
    });
  }

  test('all who report the same agree, whatever the live count is', () => {
    const store = new PoolStore(TTL_SEC);
    store.register('a', 0);
    expect(store.sync('a', 5, 0)).toEqual({ verdict: 'AGREE', size: 5 });
  });

  test('3 → 2 by a leave agrees on 3, one left that says 3 and one that joins too; an empty store starts at 1', () => {
    const store = new PoolStore(TTL_SEC);
    const sizes = new Map(['a', 'b', 'c'].map((pod) => [pod, store.register(pod, 0)]));
    expect(agreed(store, sizes, 1)).toEqual([3, 3, 3]);
    store.deregister('c');
    sizes.delete('c');
    expect(agreed(store, sizes, 2)).toEqual([3, 3]);
    for (const pod of ['a', 'b']) store.deregister(pod);
    expect(store.register('d', 3)).toBe(1);
  });

  test('exactly the time to live survives, a second more does not', () => {
    const store = new PoolStore(TTL_SEC);
    store.register('a', 0);
    store.register('b', 0);
    expect(store.sync('b', 2, TTL_SEC)).toEqual({ verdict: 'DISAGREE', size: 2 });
    expect(store.sync('b', 2, TTL_SEC + 1)).toEqual({ verdict: 'AGREE', size: 2 });
  });
});

describe('the tokens of a second (max 110, min 10, 10 s)', () => {
  const NOW = 1_700_000_000;

  test.each([
    ['relaxed', [20, 30, 40]],
    ['scheduled', [110, 110, 110]],
  ] as const)('%s: the first seconds grant %j', (mode, expected) => {
    const tokens = new EpochTokens({ mode, min: 10, max: 110, rampSec: 10 });
    expect([0, 1, 2].map((second) => tokens.available(1, NOW + second))).toEqual(expected);
  });

  test('15 for a pool of 2 are 7 each; 2 for a pool of 3 are none', () => {
    const grant = (max: number, pool: number) =>
      new EpochTokens({ mode: 'relaxed', min: max, max, rampSec: 1 }).available(pool, NOW);
    expect(grant(15, 2)).toBe(7);
    expect(grant(2, 3)).toBe(0);
  });
});

describe('Numaflow as shipped', () => {
  test.each([
    [3, 2, 0.33],
    [10, 1, 0.9],
  ])('%i → %i pods strand a part of the limit for ever', (before, after, stranded) => {
    const play = new Play('numaflow', { quota: 900, nodes: names(before) });
    for (const node of names(before)) play.drive(node, 1000);
    play.runTo(10);
    expect(play.admitted(5, 10) / 900).toBeCloseTo(1, 2);
    for (const node of names(before).slice(after)) play.cluster.leave(node);
    play.runTo(60);
    const lost = 1 - play.admitted(12, 60) / 900;
    expect(figure(`numaflow ${before} → ${after}, stranded`, lost, stranded)).toBeCloseTo(stranded, 1);
  });

  test('a crashed pod strands its part even after the time to live', () => {
    const play = new Play('numaflow', { quota: 90, nodes: names(3) });
    for (const node of names(3)) play.drive(node, 100);
    play.runTo(5);
    play.cluster.crash('n3');
    play.runTo(220);
    expect(figure('numaflow after crash and expiry, total', play.admitted(190, 220), 60)).toBeCloseTo(60, 0);
  });

  test('a newcomer serves 1.2 to 1.3 s after its start, 3 → 4 as one', () => {
    const play = new Play('numaflow', { quota: 1200, nodes: names(4), starts: false });
    for (const node of names(3)) play.cluster.start(node);
    for (const node of names(4)) play.drive(node, 2000);
    play.runTo(10);
    play.cluster.start('n4');
    play.runTo(20);
    const first = play.arrivals.find(({ node, granted }) => node === 'n4' && granted);
    const joined = ((first?.atMs ?? Infinity) - 10_000) / 1000;
    expect(figure('numaflow join, s', joined, 1.3)).toBeGreaterThan(1.1);
    expect(joined).toBeLessThan(1.5);
    expect(play.cluster.limitOf('n1', 0)).toBe(300);
  });

  test('with demand at one of four only a quarter is usable', () => {
    const play = new Play('numaflow', { quota: 1000, nodes: names(4) });
    play.drive('n1', 2000);
    play.runTo(20);
    expect(figure('numaflow one of four, × quota', play.admitted(5, 20) / 1000, 0.25)).toBeCloseTo(0.25, 2);
  });

  test('around the edge of a second two shares pass at once', () => {
    const play = new Play('numaflow', { quota: 1000, nodes: ['a'] });
    // 1000 in the last 100 ms of a second, 1000 in the first 100 ms of the next, then idle for 1.8 s.
    play.drive('a', (nowMs) => (nowMs % 2000 < 100 || nowMs % 2000 >= 1900 ? 12_000 : 0));
    play.runTo(10);
    expect(figure('numaflow worst 200 ms, messages', play.worst(0.2, 5, 10) * 0.2, 2000)).toBeGreaterThan(1900);
  });

  test('the store away: everybody goes on, nobody can join; a changed limit rolls through by restarts', () => {
    const play = new Play('numaflow', { quota: 400, nodes: names(3), starts: false });
    for (const node of ['n1', 'n2']) play.cluster.start(node);
    for (const node of names(3)) play.drive(node, 500);
    play.runTo(5);
    play.cluster.setOutage(true);
    play.cluster.start('n3');
    play.runTo(15);
    expect(play.admitted(7, 15)).toBeCloseTo(400, -1);
    expect(play.admitted(5, 15, 'n3')).toBe(0);
    play.cluster.setOutage(false);
    play.runTo(25);
    expect(play.cluster.limitOf('n3', 0)).toBe(133);
    play.cluster.setQuota(800, Infinity);
    play.runTo(40);
    expect(names(3).map((node) => play.cluster.limitOf(node, 0))).toEqual([266, 266, 266]);
  });

  test('ten calls of a script per second and pod, and as many answers', () => {
    const play = new Play('numaflow', { quota: 400, nodes: names(2) });
    play.runTo(100);
    expect(figure('numaflow records per second and pod', play.cluster.sent.records / 200, 20)).toBeCloseTo(20, 0);
  });
});
