import { describe, expect, test } from 'vitest';
import { type Cost, costUnits } from '../../../../src/core/target/cost-units.js';
import { followedHealth } from '../../../../src/core/target/followed-health.js';
import { HEALTHY, isSaneHealth, throttlingRatio } from '../../../../src/core/target/throttling-ratio.js';

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
