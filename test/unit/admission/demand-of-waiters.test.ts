import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MESSAGES } from '../../../src/core/base/vocabulary.js';
import { windowedNode } from '../../simulation/windowed-node.js';

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => vi.useRealTimers());

/** Ten per window: the first is refused and begins the line, the others join it; all are served with the next windows. */
test.each([
  ['one client after the other', ['a', 'b', 'c', 'd', 'e'], 5],
  ['all of one client', ['a', 'a', 'a', 'a', 'a'], 5],
  ['fifteen of them, over two windows', Array.from({ length: 15 }, (_, at) => `c${at % 4}`), 15],
])('work that waits is demand once, whether it is refused before or joins a line: %s', async (_, clients, count) => {
  const beganMs = Date.now();
  const node = windowedNode(1000, () => Date.now() - beganMs);
  const { limiter } = node;
  limiter.setLimit(0, MESSAGES, 10, 10, 0);
  expect(node.tryAcquire('a', { messages: 10 }).granted).toBe(true);
  const waits = clients.map((client) => node.acquire('a', { messages: 1 }, { client, waitMs: 5000 }));
  expect(limiter.attempted.at(MESSAGES)).toBe(10 + count);
  await vi.advanceTimersByTimeAsync(4000);
  expect((await Promise.all(waits)).every(({ granted }) => granted)).toBe(true);
  expect([limiter.attempted.at(MESSAGES), limiter.admitted.at(MESSAGES)]).toEqual([10 + count, 10 + count]);
  const counts: number[] = [];
  limiter.countsInto(0, counts, 0);
  const [, , squares] = counts;
  expect(squares).toBe(100 + count);
});
