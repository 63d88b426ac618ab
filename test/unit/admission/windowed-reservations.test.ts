import { beforeEach, describe, expect, test } from 'vitest';
import { MESSAGES } from '../../../src/core/base/vocabulary.js';
import type { Reservation } from '../../../src/node/api/decision.js';
import { windowedNode } from '../../simulation/windowed-node.js';
import type { WholeNode } from '../../whole-node.js';

const WINDOW_MS = 1000;
let node: WholeNode;
let nowMs: number;
const left = () => node.limiter.available(0, MESSAGES, nowMs);

function reserve(messages: number): Reservation {
  const answer = node.reserve('a', { messages });
  if (!answer.granted) throw new Error('refused');
  return answer;
}

beforeEach(() => {
  nowMs = 0;
  node = windowedNode(WINDOW_MS, () => nowMs);
  node.limiter.setLimit(0, MESSAGES, 100, 100, nowMs);
  nowMs = WINDOW_MS;
});

describe('what a reservation of a window has left over', () => {
  test('goes back to its window', () => {
    const reserved = reserve(60);
    nowMs += WINDOW_MS - 1;
    reserved.commit({ messages: 10 });
    expect([left(), node.limiter.admitted.at(0)]).toEqual([90, 10]);
  });

  test.each([
    ['cancelled', (reserved: Reservation) => reserved.cancel(), 0],
    ['cost less', (reserved: Reservation) => reserved.commit({ messages: 10 }), 10],
  ])('is void in a later one: %s', (_, end, counted) => {
    const reserved = reserve(60);
    nowMs += WINDOW_MS;
    expect(node.tryAcquire('a', { messages: 100 }).granted).toBe(true);
    end(reserved);
    expect([left(), node.limiter.admitted.at(0)]).toEqual([0, 100 + counted]);
    expect(node.tryAcquire('a', { messages: 1 }).granted).toBe(false);
  });

  test('is void where its group has got another window', () => {
    const reserved = reserve(60);
    node.limiter.buckets.setWindow(0, 10 * WINDOW_MS, nowMs);
    const before = left();
    reserved.cancel();
    expect(left()).toBe(before);
  });

  test('what it has cost above the estimate is charged to the window that it ends in', () => {
    const reserved = reserve(60);
    nowMs += WINDOW_MS;
    reserved.commit({ messages: 90 });
    expect([left(), node.limiter.admitted.at(0)]).toEqual([70, 90]);
  });
});
