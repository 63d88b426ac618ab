import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { Random } from '../../../sim/cluster/random.js';
import { inSteps } from '../../../sim/replay/in-steps.js';
import type { TraceArrival } from '../../../sim/replay/trace.js';
import { arrival } from './rows.js';

async function steppedOf(times: readonly number[]): Promise<TraceArrival[]> {
  const rows = Readable.from(times.map((atMs, at) => arrival(atMs, at)));
  return Readable.from(inSteps(rows, 100, new Random(1))).toArray();
}

test('every row stays in its step, and rows of one instant are spread over it', async () => {
  const times = [0, 0, 0, 99.9, 100, 350, 350, 399];
  const stepped = await steppedOf(times);
  expect(stepped.map(({ node }) => Math.floor(times[node] / 100))).toEqual([0, 0, 0, 0, 1, 3, 3, 3]);
  expect(new Set(stepped.map(({ node }) => node)).size).toBe(times.length);
  expect(stepped.map(({ atMs }) => Math.floor(atMs / 100))).toEqual([0, 0, 0, 0, 1, 3, 3, 3]);
  const inOrder = stepped.map(({ atMs }) => atMs);
  expect(inOrder).toEqual(inOrder.toSorted((one, other) => one - other));
  expect(new Set(inOrder).size).toBe(times.length);
});

test('the times of a step are even over it', async () => {
  const stepped = await steppedOf(Array.from({ length: 4000 }, () => 200));
  for (let quarter = 0; quarter < 4; quarter++) {
    const fromMs = 200 + 25 * quarter;
    const count = stepped.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + 25).length;
    expect(Math.abs(count - 1000)).toBeLessThan(4 * Math.sqrt(750));
  }
});
