import { expect, test } from 'vitest';
import { SWITCH_EVERY_MS, unevenSplit } from '../../../src/tools/demo/traffic/traffic.js';

const NODES = ['A', 'B', 'C'];

/** What each node gets of 1,000 evenly spread random numbers. */
function counts(elapsedMs: number, nodes: readonly string[]): Record<string, number> {
  const result: Record<string, number> = {};
  for (let at = 0; at < 1000; at++) {
    const node = unevenSplit(elapsedMs, (at + 0.5) / 1000, nodes);
    result[node] = (result[node] ?? 0) + 1;
  }
  return result;
}

test('one node takes 70 %, and every 10 s another one does', () => {
  expect(counts(0, NODES)).toEqual({ A: 700, B: 150, C: 150 });
  expect(counts(SWITCH_EVERY_MS - 1, NODES)).toEqual({ A: 700, B: 150, C: 150 });
  expect(counts(SWITCH_EVERY_MS, NODES)).toEqual({ A: 150, B: 700, C: 150 });
  expect(counts(3 * SWITCH_EVERY_MS, NODES)).toEqual({ A: 700, B: 150, C: 150 });
});

test('a single node takes everything', () => {
  expect(counts(12_345, ['A'])).toEqual({ A: 1000 });
});
