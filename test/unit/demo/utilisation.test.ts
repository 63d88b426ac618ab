import { expect, test } from 'vitest';
import { Utilisation } from '../../../src/tools/demo/measure/meter.js';

const QUOTA = [300, 300_000] as const;

/** Every 100 ms: what arrives at its beginning and what is admitted of it, in messages of 100 bytes. */
function measure(steps: readonly { arrive: number; admit: number; giveUp?: number }[]): Utilisation {
  const utilisation = new Utilisation(QUOTA);
  for (const [at, { arrive, admit, giveUp = 0 }] of steps.entries()) {
    for (let count = 0; count < arrive; count++) utilisation.arrived(100, at * 100 + 1);
    for (let count = 0; count < admit; count++) utilisation.admitted(100, at * 100 + 50);
    for (let count = 0; count < giveUp; count++) utilisation.gaveUp(100, at * 100 + 60);
  }
  utilisation.advance(steps.length * 100);
  return utilisation;
}

const repeat = <Step>(count: number, step: Step): Step[] => Array.from({ length: count }, () => step);

test('the worked example: 30 wait throughout, 24 are admitted in each 100 ms', () => {
  const utilisation = measure([{ arrive: 40, admit: 24 }, ...repeat(9, { arrive: 24, admit: 24 })]);
  expect(utilisation.ratio).toBeCloseTo(0.8, 9);
  expect(utilisation.dueSeconds).toBeCloseTo(1, 9);
});

test('the fuller dimension counts', () => {
  const utilisation = new Utilisation(QUOTA);
  // 50 messages of 6,000 bytes use up the bytes of a second, a sixth of the messages.
  for (let at = 0; at < 50; at++) {
    utilisation.arrived(6000, at * 20);
    utilisation.admitted(6000, at * 20);
  }
  utilisation.advance(1000);
  expect(utilisation.ratio).toBeCloseTo(1, 9);
});

test('seconds that have not ended do not count, and nothing due is not a number', () => {
  const utilisation = measure([]);
  utilisation.arrived(100, 1);
  utilisation.advance(999);
  expect(utilisation.ratio).toBeNaN();
});
