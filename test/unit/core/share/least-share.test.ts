import { expect, test } from 'vitest';
import { LeastShare } from '../../../../src/core/account/lanes/least-share.js';

type Note = readonly [window: number, share: number];

test.each([
  [
    'the least of this window',
    [
      [3, 500],
      [3, 400],
      [3, 900],
    ],
    3,
    400,
  ],
  [
    'and of the three before',
    [
      [3, 500],
      [3, 400],
      [4, 900],
      [6, 950],
    ],
    6,
    400,
  ],
  [
    'what was held when a window began counts in it',
    [
      [2, 400],
      [4, 900],
      [7, 950],
    ],
    7,
    400,
  ],
  [
    'not of those before: what was held since then',
    [
      [3, 400],
      [4, 900],
      [8, 950],
    ],
    8,
    900,
  ],
  [
    'nothing moved for long: what is held',
    [
      [3, 400],
      [3, 700],
    ],
    9,
    700,
  ],
  ['a lane that has just begun: its first share', [[3, 250]], 3, 250],
  [
    'at the very start of the clock',
    [
      [0, 250],
      [1, 300],
    ],
    1,
    250,
  ],
] as const)('%s', (_, notes: readonly Note[], window, expected) => {
  const least = new LeastShare();
  let held = Infinity;
  for (const [at, share] of notes) {
    least.note(0, held, share, at);
    held = share;
  }
  expect(least.of(0, held, window)).toBe(expected);
});

test('dimensions are apart', () => {
  const least = new LeastShare();
  least.note(0, Infinity, 1, 0);
  least.note(1, Infinity, 2, 0);
  expect([least.of(0, 1, 0), least.of(1, 2, 0)]).toEqual([1, 2]);
});
