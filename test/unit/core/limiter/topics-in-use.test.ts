import { describe, expect, test } from 'vitest';
import { TopicsInUse } from '../../../../src/core/limiter/topics-in-use.js';

const WINDOW_MS = 10_000;
const LANE_MAX = 10_000;
const NODE_MAX = 50_000;

function noteMany(topics: TopicsInUse, lane: number, from: number, to: number): void {
  for (let at = from; at < to; at++) topics.note(lane, `topic-${at}`);
}

describe('topics in use', () => {
  test('are counted once each, per lane, and only those with a name', () => {
    const topics = new TopicsInUse();
    for (const topic of ['x', 'y', '', 'x', 'y', 'z']) topics.note(4, topic);
    topics.note(5, 'x');
    expect([topics.of(4), topics.of(5), topics.of(6)]).toEqual([3, 1, 0]);
  });

  test('stay for the window after their own, and more count at once', () => {
    const topics = new TopicsInUse();
    topics.keep(0);
    noteMany(topics, 0, 0, 40);
    topics.keep(WINDOW_MS - 1);
    topics.keep(WINDOW_MS);
    noteMany(topics, 0, 0, 3);
    expect(topics.of(0)).toBe(40);
    noteMany(topics, 0, 0, 50);
    expect(topics.of(0)).toBe(50);
    topics.keep(2 * WINDOW_MS);
    topics.keep(3 * WINDOW_MS);
    expect(topics.of(0)).toBe(0);
  });

  test('are bounded per lane and per node, whatever names a client makes up', () => {
    const topics = new TopicsInUse();
    topics.keep(0);
    const lanes = Array.from({ length: 7 }, (_, lane) => lane);
    for (const lane of lanes) noteMany(topics, lane, 0, LANE_MAX + 1000);
    expect(lanes.map((lane) => topics.of(lane))).toEqual([...Array(5).fill(LANE_MAX), 0, 0]);
    expect(lanes.reduce((sum, lane) => sum + topics.of(lane), 0)).toBe(NODE_MAX);
    // A group that is gone makes room; so does the next window.
    topics.forget(0);
    topics.note(5, 'x');
    expect([topics.of(0), topics.of(5)]).toEqual([0, 1]);
    topics.keep(WINDOW_MS);
    noteMany(topics, 6, 0, 9);
    expect(topics.of(6)).toBe(9);
  });
});
