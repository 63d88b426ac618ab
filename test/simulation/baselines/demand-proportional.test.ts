import { expect, test } from 'vitest';
import { demandShare } from '../../../sim/baselines/demand-proportional.js';
import { figure, names, Play } from './play.js';

const FIVE = names(5);
const BUSY_AND_FOUR = [1200, 150, 150, 150, 150];

test.each([
  { demands: BUSY_AND_FOUR, shares: [643, 89, 89, 89, 89] },
  { demands: [5000, 0, 0, 0, 0], shares: [960, 10, 10, 10, 10] },
  { demands: [0, 0, 0, 0, 0], shares: [200, 200, 200, 200, 200] },
])('of 1000, demands of $demands have shares of $shares', ({ demands, shares }) => {
  const total = demands.reduce((sum, demand) => sum + demand, 0);
  expect(demands.map((own) => Math.round(demandShare(1000, own, total, 5)))).toEqual(shares);
});

test('the modest pay for the busy: 1200 and 4 × 150 of 1000 come to 643 and 89 in the cluster', () => {
  const play = new Play('demand-proportional', { quota: 1000, nodes: FIVE });
  FIVE.forEach((node, at) => {
    play.drive(node, BUSY_AND_FOUR[at], { evenly: false });
  });
  play.runTo(30);
  expect(figure('rateguard busy node', play.admitted(5, 30, 'n1'), 643) / 643).toBeCloseTo(1, 1);
  expect(figure('rateguard modest node', play.admitted(5, 30, 'n2'), 89) / 89).toBeCloseTo(1, 1);
});

test('one busy of five has 0.96 of the quota; ten cold nodes stay near one quota', () => {
  const one = new Play('demand-proportional', { quota: 1000, nodes: FIVE });
  one.drive('n1', 3000);
  one.runTo(20);
  expect(figure('rateguard one busy of five, × quota', one.admitted(5, 20) / 1000, 0.96)).toBeCloseTo(0.96, 1);
  const cold = new Play('demand-proportional', { quota: 1000, nodes: names(10) });
  for (const node of names(10)) cold.drive(node, 300, { evenly: false });
  cold.runTo(10);
  expect(figure('rateguard cold start, worst second', cold.worst(1, 0, 10) / 1000, 1.08)).toBeLessThan(1.2);
});

test('a part that hears nobody takes the whole quota: one cut off is 2 quotas after 6 s, one again when whole', () => {
  const play = new Play('demand-proportional', { quota: 1000, nodes: FIVE, rate: 2000 });
  play.runTo(10);
  play.cluster.cutOff('n5', { readsCut: true, appendsCut: true });
  play.runTo(30);
  expect(figure('rateguard partition, × quota', play.admitted(20, 30) / 1000, 2)).toBeCloseTo(2, 1);
  play.cluster.cutOff('n5', { readsCut: false, appendsCut: false });
  play.runTo(40);
  expect(play.admitted(35, 40) / 1000).toBeCloseTo(1, 1);
});

test('who leaves is not counted at once, who crashes after 6 s', () => {
  const play = new Play('demand-proportional', { quota: 1000, nodes: FIVE, rate: 2000 });
  play.runTo(10);
  play.cluster.leave('n5');
  play.runTo(11);
  expect(play.cluster.limitOf('n1', 0)).toBeCloseTo(250, -1);
  play.cluster.crash('n4');
  play.runTo(15);
  expect(play.cluster.limitOf('n1', 0)).toBeCloseTo(250, -1);
  play.runTo(18);
  expect(play.cluster.limitOf('n1', 0)).toBeCloseTo(333, -1);
});

test('two datagrams per node and period', () => {
  const play = new Play('demand-proportional', { quota: 1000, nodes: names(50) });
  play.runTo(20);
  expect(play.cluster.sent.records / (50 * 20 * 10)).toBeCloseTo(1, 2);
  const kilobytes = figure('rateguard KB/s at 50 nodes', play.cluster.sent.bytes / 20 / 1000, 525);
  expect(kilobytes).toBeGreaterThan(350);
  expect(kilobytes).toBeLessThan(700);
});
