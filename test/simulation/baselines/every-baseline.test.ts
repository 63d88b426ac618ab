import { describe, expect, test } from 'vitest';
import { BASELINES } from '../../../sim/all-baselines.js';
import { someOf } from '../../property/seed.js';
import { figure, names, Play } from './play.js';

const ALL = Object.keys(BASELINES);
const THREE = names(3);
/** None needs longer to be ready: a pod of Numaflow waits 1.3 s. */
const READY_SEC = 2;

test('the systems of the accuracy table are there', () => {
  expect(ALL).toEqual(
    expect.arrayContaining([
      'pulsar',
      'pulsar-fork',
      'fdb-client',
      'fdb-proxy',
      'numaflow',
      'static',
      'demand-proportional',
      'full-quota',
    ]),
  );
  expect(Object.values(BASELINES).filter(({ says }) => /\n/.test(says) || says.length > 100)).toEqual([]);
});

/** What can happen to a cluster, at fixed times, under Poisson work and loss. */
function playAll(baseline: string, seed: number): Play {
  const play = new Play(baseline, { quota: 300, nodes: THREE, seed, bytesPerSecond: 400_000 });
  const { cluster, queue } = play;
  for (const node of [...THREE, 'late']) play.drive(node, 200, { evenly: false, bytes: 1000 });
  cluster.setFaults({ lostRatio: 0.1, repeatedRatio: 0.2, lateRatio: 0.2, lateMs: 300 });
  const at = (seconds: number, run: () => void) => queue.at(seconds * 1000, run);
  at(3, () => cluster.start('late'));
  at(4, () => cluster.crash('n1'));
  at(5, () => cluster.stall('n2', 4000));
  at(6, () => cluster.cutOff('n3', { readsCut: true, appendsCut: false }));
  at(8, () => cluster.start('n1'));
  at(9, () => cluster.cutOff('n3', { readsCut: false, appendsCut: false }));
  at(10, () => cluster.setQuota(600, Infinity));
  at(14, () => cluster.setOutage(true));
  at(15, () => cluster.leave('late'));
  at(17, () => cluster.setOutage(false));
  at(18, () => cluster.setQuota(100, 200_000));
  play.runTo(25);
  return play;
}

describe.each(someOf(ALL))('%s', (baseline) => {
  test('the same seed is the same run, another seed another one', () => {
    const [one, same, other] = [playAll(baseline, 7), playAll(baseline, 7), playAll(baseline, 8)];
    expect(same.arrivals).toEqual(one.arrivals);
    expect(same.cluster.sent).toEqual(one.cluster.sent);
    expect(other.arrivals).not.toEqual(one.arrivals);
    expect(one.arrivals.some(({ granted }) => granted)).toBe(true);
  });

  test('decides nothing before its start, while frozen, and after its end', () => {
    const play = new Play(baseline, { quota: 1000, nodes: THREE, starts: false });
    const decides = () => THREE.map((node) => play.ask(node));
    expect(decides()).toEqual([false, false, false]);
    expect(play.cluster.limitOf('n1', 0)).toBe(0);
    for (const node of THREE) play.cluster.start(node);
    play.runTo(READY_SEC);
    expect(decides()).toEqual([true, true, true]);
    play.cluster.crash('n1');
    play.cluster.leave('n2');
    play.cluster.stall('n3', 1000);
    expect(decides()).toEqual([false, false, false]);
    expect([play.cluster.limitOf('n1', 0), play.cluster.limitOf('n2', 0)]).toEqual([0, 0]);
    play.cluster.start('n1');
    play.runTo(2 * READY_SEC);
    expect(decides()).toEqual([true, false, true]);
  });

  test('no quota is no limit, in either dimension', () => {
    const play = new Play(baseline, { quota: Infinity, nodes: THREE });
    for (const node of THREE) play.drive(node, 1000, { bytes: 10_000 });
    play.runTo(READY_SEC + 1);
    const late = play.arrivals.filter(({ atMs }) => atMs > READY_SEC * 1000);
    expect(late.length).toBeGreaterThan(2900);
    expect(late.filter(({ granted }) => !granted)).toEqual([]);
    expect([play.cluster.limitOf('n1', 0), play.cluster.limitOf('n1', 1)]).toEqual([Infinity, Infinity]);
  });

  test('a dimension without quota has no limit, the other one a number at all times', () => {
    const play = new Play(baseline, { quota: 1000, nodes: THREE });
    for (const node of THREE) play.drive(node, (nowMs) => (nowMs < 2000 ? 0 : 500), { bytes: 100 });
    for (let sec = 0.25; sec < 20; sec += 0.25) {
      play.runTo(sec);
      expect(play.cluster.limitOf('n1', 0)).not.toBeNaN();
      expect([0, Infinity]).toContain(play.cluster.limitOf('n1', 1));
    }
    expect(Number.isFinite(play.cluster.limitOf('n1', 0))).toBe(true);
  });

  test('a changed quota is in force at the nodes sooner or later', () => {
    const play = new Play(baseline, { quota: 1000, nodes: THREE, rate: 200 });
    play.runTo(20);
    const before = play.cluster.limitOf('n1', 0);
    play.cluster.setQuota(100, Infinity);
    play.runTo(60);
    expect(play.cluster.limitOf('n1', 0)).toBeLessThan(before / 2);
  });

  test('a node that is started while it runs stays as it is', () => {
    const play = new Play(baseline, { quota: 1000, nodes: THREE });
    play.runTo(READY_SEC);
    const limit = play.cluster.limitOf('n1', 0);
    play.cluster.start('n1');
    expect(play.cluster.limitOf('n1', 0)).toBe(limit);
  });
});

test('static: one busy node of five uses a fifth; full quota: five busy nodes use five', () => {
  const one = new Play('static', { quota: 1000, nodes: names(5) });
  one.drive('n1', 2000);
  one.runTo(10);
  expect(figure('static one busy of five, × quota', one.admitted(1, 10) / 1000, 0.2)).toBeCloseTo(0.2, 2);
  const five = new Play('full-quota', { quota: 100, nodes: names(5), rate: 200 });
  five.runTo(10);
  expect(figure('full quota at five nodes, × quota', five.admitted(1, 10) / 100, 5)).toBeCloseTo(5, 1);
  expect([one.cluster.sent, five.cluster.sent]).toEqual([
    { records: 0, bytes: 0 },
    { records: 0, bytes: 0 },
  ]);
});
