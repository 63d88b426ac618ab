import { expect, test } from 'vitest';
import type { DecisionLine } from '../../cluster/cluster.js';
import { overlapOf, settledAfterMs } from '../../cluster/story.js';

const QUOTA = 300;

function decisions(...lines: readonly (readonly [t: number, node: string, share: number | null])[]): DecisionLine[] {
  return lines.map(([t, node, shareMessages]) => ({ t, node, group: 'orders', shareMessages }));
}

test.each([
  ['nobody decides', [], 0],
  ['shares that add up to the quota', decisions([0, 'a', 300], [500, 'a', 150], [500, 'b', 150]), 0],
  ['less than the quota', decisions([0, 'a', 100]), 0],
  [
    'a joiner of 150/s whom the first hears 200 ms later',
    decisions([0, 'a', 300], [400, 'b', 150], [600, 'a', 150]),
    30,
  ],
  ['what came before the span, and lasts', decisions([-900, 'a', 300], [-800, 'b', 300], [100, 'b', 0]), 30],
  ['what lasts beyond its end', decisions([0, 'a', 300], [900, 'b', 300], [5000, 'b', 0]), 30],
  ['a share that nothing is known of is none', decisions([0, 'a', 300], [100, 'b', 300], [200, 'a', null]), 30],
])('shares above the quota, 0 to 1,000 ms: %s', (_, lines, expected) => {
  expect(overlapOf(lines, 0, 1000, QUOTA)).toBeCloseTo(expected, 9);
});

test.each([
  ['at once', decisions([0, 'a', 150], [0, 'b', 150]), 0],
  ['after the last change', decisions([0, 'a', 300], [200, 'b', 150], [700, 'a', 150]), 700],
  ['never, when one stays off', decisions([0, 'a', 300], [200, 'b', 150]), Infinity],
  ['never, within a second of the end', decisions([0, 'a', 300], [9500, 'a', 150], [9500, 'b', 150]), Infinity],
])('shares have settled %s', (_, lines, expected) => {
  expect(settledAfterMs(lines, 0, { a: 150, b: 150 }, 10_000, QUOTA)).toBe(expected);
});
