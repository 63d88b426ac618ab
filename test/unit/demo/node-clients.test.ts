import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type Answer,
  CLIENT_PATIENCE_MS,
  CONNECTIONS_PER_NODE,
  NodeClients,
  type Work,
} from '../../../src/tools/demo/traffic/node-clients.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A node that answers after 1 ms as told, and what its clients made of it. */
function scene(answer: (work: Work) => Answer) {
  const asked: { work: Work; retry: boolean; atMs: number }[] = [];
  const admitted: Work[] = [];
  const gaveUp: Work[] = [];
  const clients = new NodeClients({
    acquire: async (work) => {
      asked.push({ work, retry: work.refusedBefore, atMs: performance.now() });
      await new Promise((resolve) => setTimeout(resolve, 1));
      return answer(work);
    },
    outcome: { admitted: (work) => admitted.push(work), gaveUp: (work) => gaveUp.push(work) },
    random: () => 0.4,
  });
  const take = (bytes: number) => clients.take({ bytes, arrivedMs: performance.now(), refusedBefore: false });
  return { clients, asked, admitted, gaveUp, take };
}

function pausesMs(asked: readonly { atMs: number }[]): number[] {
  return asked.slice(1).map(({ atMs }, at) => atMs - (asked[at]?.atMs ?? 0));
}

const GRANTED: Answer = { kind: 'granted' };

describe('the clients of a node', () => {
  test('serve sixteen pieces of work at a time, the others wait in line', async () => {
    const { take, asked, admitted } = scene(() => GRANTED);
    for (let bytes = 1; bytes <= 20; bytes++) take(bytes);
    expect(asked).toHaveLength(CONNECTIONS_PER_NODE);
    await vi.advanceTimersByTimeAsync(2);
    expect(admitted.map(({ bytes }) => bytes)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  });

  test('try refused work again after retryAfterMs and jitter, and say that it was refused before', async () => {
    const answers: Answer[] = [{ kind: 'refused', retryAfterMs: 40 }, GRANTED];
    const { take, asked, admitted } = scene(() => answers.shift() ?? GRANTED);
    take(1);
    await vi.advanceTimersByTimeAsync(100);
    expect(asked.map(({ retry }) => retry)).toEqual([false, true]);
    expect(pausesMs(asked)).toEqual([expect.closeTo(1 + 40 * 1.2, 0)]);
    expect(admitted).toHaveLength(1);
  });

  test('give up when patience has run out, and take the next piece', async () => {
    const { take, gaveUp, asked } = scene(() => ({ kind: 'refused', retryAfterMs: 30 }));
    for (let bytes = 1; bytes <= CONNECTIONS_PER_NODE + 1; bytes++) take(bytes);
    await vi.advanceTimersByTimeAsync(CLIENT_PATIENCE_MS - 100);
    expect(gaveUp).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    expect(gaveUp.map(({ bytes }) => bytes).sort((one, other) => one - other)).toHaveLength(CONNECTIONS_PER_NODE + 1);
    // The last piece waited in line all the time: its patience was over before a connection was free.
    expect(asked.some(({ work }) => work.bytes === CONNECTIONS_PER_NODE + 1)).toBe(false);
  });

  test('hand back everything that is not admitted when the node is gone, and report nothing about it any more', async () => {
    const { clients, take, admitted, gaveUp } = scene(() => ({ kind: 'refused', retryAfterMs: 30 }));
    for (let bytes = 1; bytes <= 20; bytes++) take(bytes);
    await vi.advanceTimersByTimeAsync(10);
    expect(clients.leave()).toHaveLength(20);
    await vi.advanceTimersByTimeAsync(2 * CLIENT_PATIENCE_MS);
    expect([admitted, gaveUp]).toEqual([[], []]);
  });
});
