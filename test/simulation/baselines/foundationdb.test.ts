import { describe, expect, test } from 'vitest';
import { figure, names, Play } from './play.js';

const PAIR = ['a', 'b'] as const;
const CHANGE_SEC = 150;

describe('FoundationDB in client mode', () => {
  test('a second equal client joins: about two quotas for seconds, then one', () => {
    const play = new Play('fdb-client', { quota: 100, nodes: PAIR, starts: false });
    play.cluster.start('a');
    for (const node of PAIR) play.drive(node, 200);
    play.runTo(CHANGE_SEC);
    expect(play.admitted(100, CHANGE_SEC)).toBeCloseTo(100, -1);
    play.cluster.start('b');
    play.runTo(CHANGE_SEC + 150);
    const peak = figure('fdb-client join, 5 s peak', play.worst(5, CHANGE_SEC, CHANGE_SEC + 60) / 100, 1.97);
    // More than by the mock's clients: the window of 2 s lets a newcomer start two seconds of its limit at once.
    expect(peak).toBeGreaterThan(1.9);
    expect(peak).toBeLessThan(2.6);
    expect(play.admitted(CHANGE_SEC + 90, CHANGE_SEC + 150) / 100).toBeCloseTo(1, 1);
  });

  test('the quota is halved: read within 5 s, the peak is 1.78 and more', () => {
    const play = new Play('fdb-client', { quota: 100, nodes: PAIR, rate: 200 });
    play.runTo(CHANGE_SEC);
    play.cluster.setQuota(50, Infinity);
    play.runTo(CHANGE_SEC + 180);
    const peak = figure('fdb-client halved, 5 s peak', play.worst(5, CHANGE_SEC, CHANGE_SEC + 60) / 50, 1.78);
    expect(peak).toBeGreaterThan(1.7);
    expect(peak).toBeLessThan(2.1);
    expect(play.admitted(CHANGE_SEC + 120, CHANGE_SEC + 180) / 50).toBeCloseTo(1, 1);
  });

  test('the quiet are left alone, the busy trimmed: 5 and 25 of 20', () => {
    const play = new Play('fdb-client', { quota: 20, nodes: PAIR });
    play.drive('a', 5);
    play.drive('b', 25);
    play.runTo(400);
    expect(figure('fdb-client 5 and 25, b', play.admitted(300, 400, 'b'), 15)).toBeCloseTo(15, -0.5);
    expect(play.admitted(300, 400, 'a')).toBeCloseTo(5, 0);
  });

  test('20 nodes with a quota of 10 stay above it: nobody gets less than 1', () => {
    const play = new Play('fdb-client', { quota: 10, nodes: names(20), rate: 5 });
    play.runTo(300);
    // Paced clients would reach 2; the window waits until it has a whole transaction, which costs much at 1 per second.
    const over = figure('fdb-client 20 nodes, × quota', play.admitted(200, 300) / 10, 2);
    expect(play.cluster.limitOf('n1', 0)).toBeCloseTo(1, 1);
    expect(over).toBeGreaterThan(1.3);
    expect(over).toBeLessThan(2.1);
  });

  test('without the ratekeeper all go on with the last limit', () => {
    const play = new Play('fdb-client', { quota: 100, nodes: PAIR, rate: 200 });
    play.runTo(200);
    const limit = play.cluster.limitOf('a', 0);
    play.cluster.setOutage(true);
    play.runTo(260);
    expect(play.cluster.limitOf('a', 0)).toBe(limit);
    expect(play.admitted(210, 260)).toBeCloseTo(100, -1);
  });
});

describe('FoundationDB in proxy mode', () => {
  test('demand 5 and 25 with a quota of 20: equal parts serve 15', () => {
    const play = new Play('fdb-proxy', { quota: 20, nodes: PAIR });
    play.drive('a', 5);
    play.drive('b', 25);
    play.runTo(500);
    // Average cost is a quotient of two estimates: within a few per cent of 1.
    expect(figure('fdb-proxy 5 and 25, total', play.admitted(400, 500), 15)).toBeCloseTo(15, -0.5);
  });

  test('a proxy that is gone is not counted after two pushes', () => {
    const play = new Play('fdb-proxy', { quota: 100, nodes: PAIR, rate: 200 });
    play.runTo(200);
    expect(play.cluster.limitOf('a', 0)).toBeCloseTo(50, -1);
    play.cluster.crash('b');
    play.runTo(260);
    expect(play.cluster.limitOf('a', 0)).toBeCloseTo(100, -1);
  });

  test('one question and one answer per node and second', () => {
    const play = new Play('fdb-proxy', { quota: 100, nodes: PAIR });
    play.runTo(100);
    expect(play.cluster.sent.records / 2).toBeCloseTo(202, -1);
    expect(play.cluster.sent.bytes / play.cluster.sent.records).toBe(80);
  });
});
