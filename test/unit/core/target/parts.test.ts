import { describe, expect, test } from 'vitest';
import { Random } from '../../../../sim/cluster/random.js';
import { CostMeter, NO_BACKEND, sumOfCosts } from '../../../../src/core/target/cost-meter.js';
import { type Cost, costUnits } from '../../../../src/core/target/cost-units.js';
import { followedHealth } from '../../../../src/core/target/followed-health.js';
import { SmoothedRate } from '../../../../src/core/target/smoothed-rate.js';
import { HEALTHY, isSaneHealth, throttlingRatio } from '../../../../src/core/target/throttling-ratio.js';
import { WorstZones } from '../../../../src/core/target/worst-zones.js';
import { wideId } from '../../../wide-ids.js';

const FACTORS = { readPageBytes: 4096, writePageBytes: 4096, writeFactor: 4 };

test.each<{ says: string; cost: Cost; units: number }>([
  { says: '6 pages read', cost: { readBytes: 24_576 }, units: 6 },
  { says: '6 pages written', cost: { writtenBytes: 24_576 }, units: 24 },
  { says: 'a byte of each', cost: { readBytes: 1, writtenBytes: 1 }, units: 5 },
  { says: 'a lookup that found nothing', cost: { readBytes: 0 }, units: 1 },
  { says: 'cleared counts as written, in one sum', cost: { writtenBytes: 2048, clearedBytes: 2048 }, units: 4 },
  { says: 'own units', cost: { units: 0.5 }, units: 0.5 },
])('cost: $says', ({ cost, units }) => {
  expect(costUnits(cost, FACTORS)).toBe(units);
});

test.each([
  { level: 599e6, ratio: HEALTHY },
  { level: 600e6, ratio: HEALTHY },
  { level: 650e6, ratio: 4 },
  { level: 800e6, ratio: 1 },
  { level: 1000e6, ratio: 0.5 },
  { level: 9e9, ratio: 0.5 },
])('a queue of $level bytes has ratio $ratio', ({ level, ratio }) => {
  expect(throttlingRatio({ kind: 'level', level, target: 800e6, spring: 200e6 })).toBeCloseTo(ratio, 12);
});

test('a broken sensor is recognised, and no other', () => {
  const level = (given: object) => isSaneHealth({ kind: 'level', level: 1, target: 1, spring: 1, ...given });
  for (const figure of ['level', 'target', 'spring']) {
    for (const sane of [Number.MIN_VALUE, 0.5, 1, 2, Number.MAX_VALUE]) expect(level({ [figure]: sane })).toBe(true);
  }
  // An empty queue is the best that a sensor can tell.
  expect(level({ level: 0 })).toBe(true);
  for (const ratio of [0, 0.5, 2]) expect(isSaneHealth({ kind: 'ratio', ratio })).toBe(true);
  for (const broken of [Number.NaN, Infinity, -1]) expect(level({ level: broken }), String(broken)).toBe(false);
  for (const broken of [0, -1, Number.NaN, Infinity]) {
    expect(level({ target: broken })).toBe(false);
    expect(level({ spring: broken })).toBe(false);
  }
  for (const ratio of [-0.1, 2.1, Number.NaN]) expect(isSaneHealth({ kind: 'ratio', ratio })).toBe(false);
});

test('a zone is limited by the worst of its backends, in whatever order they come', () => {
  for (const limits of [
    [0.9, 0.5, HEALTHY],
    [HEALTHY, 0.5, 0.9],
    [0.5, HEALTHY, 0.9],
  ]) {
    const zones = new WorstZones();
    zones.begin();
    for (const [backend, limit] of limits.entries()) zones.add('a', wideId(backend), limit);
    expect(zones.deciding(1)).toEqual({ zone: 'a', backend: wideId(limits.indexOf(0.5)), limit: 0.5 });
  }
});

test.each([
  { says: 'the second worst decides', limits: { a: 0.5, b: 0.9, c: 1.2 }, leaveOut: 1, limit: 0.9, left: ['a'] },
  { says: 'one bad zone of three', limits: { a: HEALTHY, b: 0.5, c: HEALTHY }, leaveOut: 1, limit: null, left: ['b'] },
  { says: 'none is left out', limits: { a: 0.5, b: 0.9 }, leaveOut: 0, limit: 0.5, left: [] },
  { says: 'the only zone is never left out', limits: { a: 0.5 }, leaveOut: 1, limit: 0.5, left: [] },
  { says: 'ties are broken by name', limits: { b: 0.5, a: 0.5 }, leaveOut: 1, limit: 0.5, left: ['a'] },
  { says: 'healthy', limits: { a: HEALTHY, b: HEALTHY }, leaveOut: 1, limit: null, left: [] },
])('zones: $says', ({ limits, leaveOut, limit, left }) => {
  const zones = new WorstZones();
  zones.begin();
  Object.entries(limits).forEach(([zone, value], backend) => {
    zones.add(zone, wideId(backend), HEALTHY);
    zones.add(zone, wideId(backend + 100), value);
  });
  expect(zones.deciding(leaveOut)?.limit ?? null).toBe(limit);
  expect(zones.leftOutZones(leaveOut).map(({ zone }) => zone)).toEqual(left);
});

test('a smoothed rate: a burst decays, steady work is seen at once with its age', () => {
  const burst = new SmoothedRate();
  burst.count(100, 0, 10_000);
  expect(burst.rate(0, 10_000)).toBeCloseTo(10, 9);
  expect(burst.rate(10_000, 10_000)).toBeCloseTo(10 / Math.E, 9);
  const steady = new SmoothedRate();
  for (let ms = 0; ms <= 10_000; ms += 10) steady.count(0.1, ms, 10_000);
  expect(steady.rate(10_000, 10_000)).toBeCloseTo(6.33, 2);
  expect(steady.rate(10_000, 10_000, 10_000)).toBeCloseTo(10, 1);
});

test('the average cost is right from the first report on, whatever the rate', () => {
  const meter = new CostMeter({ smoothingMs: 10_000, forgetAfterMs: 240_000, maxLanes: 10, sampleUnits: 0 });
  for (const atMs of [0, 7000, 7001, 90_000]) {
    meter.report(3, wideId(1), 4, 1, atMs);
    meter.report(3, wideId(2), 2, 0, atMs);
    const costs = meter.costsOf(3, atMs + 100);
    expect(costs === null ? 0 : sumOfCosts(costs) / costs.transactions).toBeCloseTo(6, 9);
  }
  expect(meter.costsOf(4, 0)).toBeNull();
});

test('a record names the dearest backends, and keeps the sum', () => {
  const meter = new CostMeter({ smoothingMs: 10_000, forgetAfterMs: 240_000, maxLanes: 10, sampleUnits: 0 });
  for (let backend = 1; backend <= 40; backend++) meter.report(0, wideId(backend), backend, backend === 1 ? 1 : 0, 0);
  const costs = meter.costsOf(0, 0);
  expect(costs?.backends).toHaveLength(17);
  expect(costs?.backends[0]?.backend).toBe(wideId(40));
  expect(costs?.backends[16]?.backend).toBe(NO_BACKEND);
  expect((costs === null ? 0 : sumOfCosts(costs)) / (costs?.transactions ?? 1)).toBeCloseTo(820, 6);
});

test('a full table refuses a new lane and goes on with the others', () => {
  const meter = new CostMeter({ smoothingMs: 10_000, forgetAfterMs: 240_000, maxLanes: 1, sampleUnits: 0 });
  expect(meter.report(0, wideId(1), 1, 1, 0)).toBe(true);
  expect(meter.report(1, wideId(1), 1, 1, 0)).toBe(false);
  expect(meter.report(0, wideId(1), 1, 1, 0)).toBe(true);
});

describe('a level that is followed', () => {
  const at = (level: number, target = 800, spring = 200) => ({ kind: 'level', level, target, spring }) as const;

  test.each([
    { says: 'one time constant', before: at(600), told: at(1000), elapsedMs: 1000, level: 852.848 },
    { says: 'long after', before: at(600), told: at(1000), elapsedMs: 60_000, level: 1000 },
    { says: 'a clock that stood still', before: at(600), told: at(1000), elapsedMs: 0, level: 600 },
    { says: 'a clock that went back', before: at(600), told: at(1000), elapsedMs: -5000, level: 600 },
    { says: 'another target', before: at(600, 700), told: at(1000), elapsedMs: 10, level: 1000 },
    { says: 'after a ratio', before: { kind: 'ratio', ratio: 1 } as const, told: at(9), elapsedMs: 10, level: 9 },
  ])('$says: $level', ({ before, told, elapsedMs, level }) => {
    const followed = followedHealth(before, told, elapsedMs, 1000);
    expect(followed).toMatchObject({ ...told, level: expect.closeTo(level, 3) });
  });

  test('not at all where that is switched off, and never a ratio', () => {
    expect(followedHealth(at(600), at(1000), 100, 0)).toEqual(at(1000));
    const ratio = { kind: 'ratio', ratio: 0.5 } as const;
    expect(followedHealth({ kind: 'ratio', ratio: 2 }, ratio, 100, 1000)).toBe(ratio);
    // Nor from the one to the other.
    expect(followedHealth(at(600), ratio, 100, 1000)).toBe(ratio);
    expect(followedHealth(ratio, at(1000), 100, 1000)).toEqual(at(1000));
  });
});

test('sampling 1 % of 1,000/s: rates unbiased within 10 % (docs/guide/target-rate.md), averages exact', () => {
  const random = Random.stream(1, 'sampling');
  const [probability, perSecond, units] = [0.01, 1000, 6];
  const meter = new CostMeter({ smoothingMs: 10_000, forgetAfterMs: 240_000, maxLanes: 1, sampleUnits: 0 });
  const rates: number[] = [];
  let nextMs = 0;
  for (let lookMs = 60_000; lookMs <= 20_000_000; lookMs += 30_000) {
    for (; nextMs <= lookMs; nextMs += random.exponential(1000 / (perSecond * probability))) {
      meter.report(0, wideId(1), units / probability, 1 / probability, nextMs);
    }
    const costs = meter.costsOf(0, lookMs);
    if (costs === null) throw new Error('there are costs');
    expect(sumOfCosts(costs) / costs.transactions).toBeCloseTo(units, 9);
    rates.push(costs.transactions);
  }
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  const variance = rates.reduce((sum, rate) => sum + (rate - mean) ** 2, 0) / rates.length;
  expect(mean / perSecond).toBeCloseTo(1, 1.5);
  // 5 s of smoothing weigh as a window of 10 s: 100 samples, 1/√100.
  expect(Math.sqrt(variance) / mean).toBeGreaterThan(0.09);
  expect(Math.sqrt(variance) / mean).toBeLessThan(0.11);
});
