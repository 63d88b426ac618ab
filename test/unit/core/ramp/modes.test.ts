import { describe, expect, test } from 'vitest';
import type { RampModeName, RampSettings } from '../../../../src/core/base/settings.js';
import { RAMP_STEPS, type RampStep, usedPercent } from '../../../../src/core/target/ramp/ramp.js';
import { rampTop } from '../../../../src/core/target/ramp/ramp-of.js';
import { GROUP } from '../../../simulation/settings.js';

const SETTINGS: RampSettings = {
  mode: 'relaxed',
  fromPerSecond: 10,
  toPerSecond: 110,
  overMs: 10_000,
  thresholdRatio: 0.5,
  coolDownMs: 5000,
  pausePenaltyRatio: 0.5,
  timeToLiveMs: 180_000,
};
const STEP: RampStep = { ceiling: 40, top: 110, slope: 10, elapsedSeconds: 1, usedPercent: 100 };

describe('the next ceiling, from 10 to 110 in 10 s', () => {
  test.each<[string, RampModeName, Partial<RampStep>, number]>([
    ['a second', 'relaxed', {}, 50],
    ['5 s of silence', 'relaxed', { elapsedSeconds: 5 }, 50],
    ['the top', 'relaxed', { ceiling: 105 }, 110],
    ['a second', 'scheduled', { usedPercent: 0 }, 50],
    ['5 s of silence', 'scheduled', { elapsedSeconds: 5 }, 90],
    ['the top', 'scheduled', { elapsedSeconds: 50 }, 110],
    ['used enough', 'only-if-used', { usedPercent: 50 }, 50],
    ['not used enough', 'only-if-used', { usedPercent: 49 }, 40],
    ['used enough', 'go-back-n', { usedPercent: 50 }, 50],
    ['not used enough', 'go-back-n', { usedPercent: 49 }, 30],
    ['not used enough at the bottom', 'go-back-n', { ceiling: 15, usedPercent: 0 }, 10],
    ['a pause as long as the cool-down', 'go-back-n', { ceiling: 80, elapsedSeconds: 5 }, 90],
    ['a longer pause', 'go-back-n', { ceiling: 80, elapsedSeconds: 7 }, 50],
    ['a very long pause', 'go-back-n', { ceiling: 80, elapsedSeconds: 700 }, 10],
  ])('%s, %s', (_, mode, changes, next) => {
    expect(RAMP_STEPS[mode]({ ...STEP, ...changes }, { ...SETTINGS, mode })).toBe(next);
  });
});

test.each([
  [10, 20, 10, 100],
  [35, 40, 10, 38],
  [40, 40, 0, 0],
  [50, 40, 0, 0],
  [0, 0, 10, 100],
])('%d left of %d with a slope of %d count as %d percent used', (left, ceiling, slope, used) => {
  expect(usedPercent(left, ceiling, slope)).toBe(used);
});

test('a direction ramps where it has a quota and an end', () => {
  const ramp = { ...SETTINGS, toPerSecond: null };
  expect(rampTop(GROUP, 0)).toBeNull();
  expect(rampTop({ ...GROUP, ramp }, 0)).toBe(1000);
  expect(rampTop({ ...GROUP, ramp }, 1)).toBeNull();
  expect(rampTop({ ...GROUP, ramp: SETTINGS }, 0)).toBe(110);
  expect(rampTop({ ...GROUP, ramp: SETTINGS }, 1)).toBeNull();
});
