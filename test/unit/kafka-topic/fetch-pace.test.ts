import { expect, it } from 'vitest';
import { FetchPace } from '../../../src/topic/remote/fetch-pace.js';

/** Fetches of a reader whose broker answers after `answerMs`: when each was sent. */
function fetches(count: number, intervalMs: number, answerMs: number, pauseMs = 0): number[] {
  const pace = new FetchPace(intervalMs);
  let nowMs = 1000;
  return Array.from({ length: count }, (_, at) => {
    nowMs += answerMs + (at === count / 2 ? pauseMs : 0);
    nowMs += pace.next(nowMs);
    return nowMs;
  });
}

function waits(sentMs: readonly number[], answerMs: number): number[] {
  return sentMs.slice(1).map((atMs, at) => Math.round(atMs - sentMs[at] - answerMs));
}

it.each([
  { case: 'a log that never rests is fetched every 40 ms', answerMs: 3, interval: 40, perSecond: 25 },
  { case: 'one with fewer batches is fetched as it comes', answerMs: 50, interval: 40, perSecond: 20 },
  { case: '0 ms holds nothing up', answerMs: 2, interval: 0, perSecond: 500 },
])('$case', ({ answerMs, interval, perSecond }) => {
  const sentMs = fetches(1000, interval, answerMs);
  const elapsedMs = (sentMs.at(-1) as number) - sentMs[0];
  const seen = 999_000 / elapsedMs;
  // The first burst is on top.
  expect(seen).toBeGreaterThan(perSecond * 0.99);
  expect(seen).toBeLessThan(perSecond * 1.02);
});

it('a burst after a pause waits for nothing', () => {
  const between = waits(fetches(40, 40, 3, 1000), 3);
  expect(between.slice(0, 7)).toEqual([0, 0, 0, 0, 0, 0, 0]);
  expect(between[10]).toBe(37);
  expect(between.slice(20, 27)).toEqual([0, 0, 0, 0, 0, 0, 0]);
  expect(between.at(-1)).toBe(37);
});
