import { describe, expect, test } from 'vitest';
import { figure, names, Play } from './play.js';

const PAIR = ['a', 'b'] as const;

describe('Pulsar as released', () => {
  test('five cold brokers admit five quotas until they calculate, then one', () => {
    const play = new Play('pulsar', { quota: 100, nodes: names(5), rate: 150 });
    play.runTo(420);
    const cold = figure('pulsar cold start, × quota', play.admitted(2, 6) / 100, 5);
    expect(cold).toBeGreaterThan(4.9);
    // The first to calculate has no report yet: a second whole quota, 0.25 more in these 4 s.
    expect(cold).toBeLessThan(5.3);
    // Rebuilt buckets are + 1.7 %; whole numbers take up to 1 of 20 from each.
    const settled = figure('pulsar settled, × quota', play.admitted(240, 420) / 100, 1.017);
    expect(settled).toBeGreaterThan(0.92);
    expect(settled).toBeLessThan(1.05);
  });

  test('a dead broker keeps its half', () => {
    const play = new Play('pulsar', { quota: 100, nodes: PAIR, rate: 130 });
    play.runTo(300);
    play.cluster.crash('b');
    play.runTo(1500);
    expect(Math.abs(figure('pulsar after a death, total', play.admitted(1200, 1500), 50) - 50)).toBeLessThan(2);
  });

  test('a drop to zero is told after five periods: until then its part is lost', () => {
    const play = new Play('pulsar', { quota: 100, nodes: PAIR });
    play.drive('a', 130);
    play.drive('b', (nowMs) => (nowMs < 240_000 ? 130 : 0));
    play.runTo(900);
    expect(play.admitted(310, 370)).toBeLessThan(60);
    expect(
      Math.abs(figure('pulsar after the mandatory report, total', play.admitted(780, 900), 100) - 100),
    ).toBeLessThan(3);
  });

  test('one message per broker and period, also when the numbers are suppressed', () => {
    const play = new Play('pulsar', { quota: 100, nodes: PAIR, rate: 130 });
    play.runTo(1200);
    expect(play.cluster.sent.records).toBe(2 * 20);
    const each = figure('pulsar bytes per message', play.cluster.sent.bytes / play.cluster.sent.records, 48);
    expect(each).toBeGreaterThan(48);
    expect(each).toBeLessThan(72);
  });

  test('a quota of zero means no limit until somebody used something, then 1', () => {
    const play = new Play('pulsar', { quota: 0, nodes: PAIR });
    expect(play.cluster.limitOf('a', 0)).toBe(Infinity);
    for (const node of PAIR) play.drive(node, 20);
    play.runTo(300);
    expect(play.cluster.limitOf('a', 0)).toBe(1);
  });

  test('the stricter of messages and bytes holds', () => {
    const play = new Play('pulsar-10s', { quota: 100, nodes: PAIR, bytesPerSecond: 50_000 });
    for (const node of PAIR) play.drive(node, 200, { bytes: 1000 });
    play.runTo(120);
    // + 10 %: every calculation rebuilds the buckets full, once in 10 s.
    expect(Math.abs(figure('pulsar 1 kB pieces of 50 kB/s', play.admitted(60, 120), 55) - 55)).toBeLessThan(3);
  });
});

describe("Pulsar's vendor fork", () => {
  test('who returns gets the whole quota, then both half', () => {
    const play = new Play('pulsar-fork', { quota: 100, nodes: PAIR });
    play.drive('a', 130);
    play.drive('b', (nowMs) => (nowMs < 300_000 ? 0 : 130));
    play.runTo(900);
    expect(figure('fork, return, × quota', play.worst(10, 300, 480) / 100, 2)).toBeGreaterThan(1.9);
    // 50/50 only when all sample at once: the first sample of who returns covers a part of the period, and any split
    // stays.
    const later = figure('fork, later, b', play.admitted(600, 900, 'b'), 50);
    expect(Math.abs(later - 50)).toBeLessThan(15);
    expect(play.admitted(600, 900)).toBeLessThan(105);
  });

  test('a dead broker is forgotten after 600 s', () => {
    const play = new Play('pulsar-fork', { quota: 100, nodes: PAIR, rate: 130 });
    play.runTo(300);
    play.cluster.crash('b');
    play.runTo(1200);
    expect(Math.abs(figure('fork before expiry, total', play.admitted(420, 600), 51) - 51)).toBeLessThan(2);
    expect(Math.abs(figure('fork after expiry, total', play.admitted(1080, 1200), 101) - 101)).toBeLessThan(3);
  });
});
