import { describe, expect, test } from 'vitest';
import { clusterDepth } from '../../../src/core/account/cluster-depth.js';
import { someOf } from '../../property/seed.js';
import { between, poisson, type TokenArrival } from './arrivals.js';
import { mostIn, type PlayOptions, perNode, play } from './play.js';

const QUOTA = 1000;
const DEPTH = clusterDepth(QUOTA, 1);
const NODES = 3;

interface Asked extends PlayOptions {
  readonly seconds?: number;
  readonly perSecond?: number;
  /** Per node, what it is asked for, per second. */
  readonly rates?: readonly number[];
  readonly rateOf?: (atMs: number, node: number) => number;
}

/** Plays 20 s, or as many as are asked for. */
function admittedOf(asked: Asked): readonly TokenArrival[] {
  const { seconds = 20, perSecond = QUOTA, rates = [], rateOf = (_, node) => rates[node], ...options } = asked;
  return play(poisson(3, NODES, perSecond, seconds, rateOf), options).admitted;
}

/** What each node was admitted per second from 2 s on. */
function settled(admitted: readonly TokenArrival[]): number[] {
  return perNode(between(admitted, 2000, Infinity), NODES).map((count) => count / 18);
}

function near(rate: number, wanted: number, ratio = 0.03): void {
  expect(Math.abs(rate / wanted - 1), `${rate} and not ${wanted}`).toBeLessThan(ratio);
}

describe.each(someOf([5, 50, 200]))('maxShareRatio, delivery in %i ms', (deliveryMs) => {
  test.each([
    ['one node wants twice the quota', [2000, 0, 0]],
    ['one wants twice the quota, others a little', [2000, 30, 150]],
    ['all want the quota', [1000, 1000, 1000]],
    ['one wants just more than it may have', [310, 400, 20]],
  ])('%s: no span of a node holds more than 0.3 of the quota and of the bucket', (_, rates) => {
    const admitted = admittedOf({ rates, deliveryMs, group: { maxShareRatio: 0.3 } });
    rates.forEach((wanted, node) => {
      const own = admitted.filter((arrival) => arrival.node === node);
      for (const spanMs of [20, 200, 1000, 5000]) {
        expect(mostIn(own, spanMs)).toBeLessThanOrEqual((0.3 * QUOTA * spanMs) / 1000 + 0.3 * DEPTH + 1);
      }
      if (wanted > 0) near(settled(admitted)[node], Math.min(wanted, 0.3 * QUOTA), 0.05);
    });
  });

  test('what one may not have others are given', () => {
    const admitted = admittedOf({ rates: [2000, 700, 200], deliveryMs, group: { maxShareRatio: 0.5 } });
    const [first, second, third] = settled(admitted);
    near(first + second + third, QUOTA);
    near(third, 200, 0.08);
    near(first, 400, 0.05);
  });

  test('a quota in whole pieces: half of 10/s, and at once half of ten', () => {
    const group = { maxShareRatio: 0.5, burst: { messages: 10, bytes: null, policy: 'optimistic' } } as const;
    const admitted = admittedOf({ perSecond: 10, rates: [40, 0, 0], seconds: 60, deliveryMs, group });
    expect(mostIn(admitted, 100)).toBeLessThanOrEqual(6);
    expect(mostIn(admitted, 10_000)).toBeLessThanOrEqual(50 + 5 + 1);
    near(admitted.length, 300, 0.05);
  });
});

describe.each(someOf([5, 50, 200]))('minShareRatio, delivery in %i ms', (deliveryMs) => {
  test('lifts a node of little weight', () => {
    const group = { minShareRatio: 0.2, weights: { n2: 0.01 } };
    const rates = settled(admittedOf({ rates: [2000, 2000, 2000], deliveryMs, group }));
    near(rates[2], 200);
    near(rates[0], 400);
  });

  test('is lent while it is not wanted', () => {
    const admitted = admittedOf({ rates: [2000, 0, 0], deliveryMs, group: { minShareRatio: 0.2 } });
    near(settled(admitted)[0], QUOTA);
  });

  test('is there at once where a node wakes next to busy ones, before anybody knows of it', () => {
    const wokenMs = 8000;
    const rateOf = (atMs: number, node: number) => (node < 2 ? 1500 : atMs < wokenMs ? 0 : 180);
    const scene = poisson(3, NODES, QUOTA, 12, rateOf);
    const { admitted } = play(scene, { deliveryMs, group: { minShareRatio: 0.2 } });
    const woken = (arrivals: readonly TokenArrival[], ms: number) =>
      between(arrivals, wokenMs, wokenMs + ms).filter(({ node }) => node === 2).length;
    for (const ms of [100, 200, 500, 1000]) near(woken(admitted, ms), woken(scene.arrivals, ms), 0.02);
  });

  test('all minimums at one instant: three depths, and one of minimums, are more than the quota at most', () => {
    const rateOf = (atMs: number) => (atMs < 50 ? 10_000 : 1500);
    const admitted = admittedOf({ rateOf, deliveryMs, group: { minShareRatio: 1 / 3 } });
    for (const spanMs of [20, 200, 1000, 5000]) {
      expect(mostIn(admitted, spanMs)).toBeLessThanOrEqual((QUOTA * spanMs) / 1000 + 4 * DEPTH);
    }
    const sum = settled(admitted).reduce((total, each) => total + each);
    near(sum, QUOTA);
  });
});
