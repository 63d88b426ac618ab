import { describe, expect, test } from 'vitest';
import { figure, names, Play } from './play.js';

describe('Numaflow as shipped', () => {
  test.each([
    [3, 2, 0.33],
    [10, 1, 0.9],
  ])('%i → %i pods strand a part of the limit for ever', (before, after, stranded) => {
    const play = new Play('numaflow', { quota: 900, nodes: names(before), rate: 1000 });
    play.runTo(10);
    expect(play.admitted(5, 10) / 900).toBeCloseTo(1, 2);
    for (const node of names(before).slice(after)) play.cluster.leave(node);
    play.runTo(60);
    const lost = 1 - play.admitted(12, 60) / 900;
    expect(figure(`numaflow ${before} → ${after}, stranded`, lost, stranded)).toBeCloseTo(stranded, 1);
  });

  test('a crashed pod strands its part even after the time to live', () => {
    const play = new Play('numaflow', { quota: 90, nodes: names(3), rate: 100 });
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
