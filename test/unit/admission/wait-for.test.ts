import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BYTES, MESSAGES } from '../../../src/core/base/vocabulary.js';
import { windowedNode } from '../../simulation/windowed-node.js';
import type { WholeNode } from '../../whole-node.js';

const WINDOW_MS = 1000;
const MAX_WAITING = 25;

/** Ten messages per window of one second, in virtual time; nothing is left of the first one. */
describe('waitFor', () => {
  let node: WholeNode;
  let beganMs: number;
  const nowMs = () => Date.now() - beganMs;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    beganMs = Date.now();
    node = windowedNode(WINDOW_MS, nowMs, { maxWaiting: MAX_WAITING });
    node.limiter.setLimit(0, MESSAGES, 10, 10, nowMs());
    expect(node.tryAcquire('a', { messages: 10 }).granted).toBe(true);
  });
  afterEach(() => vi.useRealTimers());

  test('goes on at its turn, one message each, in the order of asking', async () => {
    const calledMs: number[] = [];
    const order: number[] = [];
    const calls = Array.from({ length: 24 }, async (_, call) => {
      await node.waitFor('a');
      calledMs.push(nowMs());
      order.push(call);
    });
    await vi.advanceTimersByTimeAsync(3 * WINDOW_MS);
    await Promise.all(calls);
    expect(order).toEqual(Array.from({ length: 24 }, (_, call) => call));
    expect(calledMs).toEqual([...Array(10).fill(1000), ...Array(10).fill(2000), ...Array(4).fill(3000)]);
  });

  test('takes what is named, and no more', async () => {
    node.limiter.setLimit(0, BYTES, 100, 100, nowMs());
    node.consume('a', { bytes: 100 });
    const bytesOnly = node.waitFor('a', { messages: 0, bytes: 60 });
    const both = node.waitFor('a', { messages: 3, bytes: 40 });
    await vi.advanceTimersByTimeAsync(WINDOW_MS);
    expect([(await bytesOnly).granted, (await both).granted]).toEqual([true, true]);
    expect(node.containsTokens('a', { messages: 8 })).toBe(false);
    expect(node.containsTokens('a', { messages: 7 })).toBe(true);
    expect(node.containsTokens('a', { bytes: 1 })).toBe(false);
  });

  test('rejects when its time is up, and says when to come back; nothing is charged', async () => {
    const waiting = expect(node.waitFor('a', { waitMs: 300 })).rejects.toMatchObject({
      code: 'WAIT_OVER',
      httpStatus: 503,
      message: 'no turn for group a within 300 ms',
      facts: { group: 'a', waitMs: 300, retryAfterMs: 700 },
    });
    await vi.advanceTimersByTimeAsync(300);
    await waiting;
    expect(node.gate.waiting.count).toBe(0);
    await vi.advanceTimersByTimeAsync(700);
    expect(node.tryAcquire('a', { messages: 10 }).granted).toBe(true);
  });

  test('waits ten minutes where nothing is said, and no longer', async () => {
    node.limiter.setLimit(0, MESSAGES, 0, 0, nowMs());
    const outcome = vi.fn();
    node.waitFor('a').catch(({ code }) => outcome(code));
    await vi.advanceTimersByTimeAsync(599_999);
    expect(outcome).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(outcome).toHaveBeenCalledExactlyOnceWith('WAIT_OVER');
  });

  test('leaves with its signal, also one that has ended before', async () => {
    const stop = new AbortController();
    const waiting = node.waitFor('a', { signal: stop.signal });
    expect(node.gate.waiting.count).toBe(1);
    stop.abort(new Error('the caller has gone'));
    await expect(waiting).rejects.toThrow('the caller has gone');
    await expect(node.waitFor('a', { signal: stop.signal })).rejects.toThrow('the caller has gone');
    expect(node.gate.waiting.count).toBe(0);
  });

  test('the line is bounded: who comes when it is full is told at once', async () => {
    const waiting = Array.from({ length: MAX_WAITING }, () => node.waitFor('a'));
    await expect(node.waitFor('a')).rejects.toMatchObject({ code: 'WAITING_FULL', facts: { max: MAX_WAITING } });
    await vi.advanceTimersByTimeAsync(3 * WINDOW_MS);
    await Promise.all(waiting);
    await node.waitFor('a');
  });

  test('a node that closes lets nobody go on', async () => {
    const waiting = expect(node.waitFor('a')).rejects.toMatchObject({ code: 'NOT_READY', facts: { node: 'n' } });
    node.gate.waiting.close();
    await waiting;
    await expect(node.waitFor('a')).rejects.toMatchObject({ code: 'WAIT_OVER' });
  });

  test.each([
    ['nobody', {}, 'GROUP_UNKNOWN'],
    ['a', { messages: -1 }, 'AMOUNT_INVALID'],
    ['a', { messages: 0 }, 'AMOUNT_INVALID'],
    ['a', { messages: 1e7 }, 'AMOUNT_ABOVE_MAX_REQUEST'],
    ['a', { waitMs: 600_001 }, 'FIELD_INVALID'],
    ['a', { weight: 0 }, 'FIELD_INVALID'],
  ])('what cannot be is rejected at once: %s %j', async (group, options, code) => {
    await expect(node.waitFor(group, options)).rejects.toMatchObject({ code });
    expect(node.gate.waiting.count).toBe(0);
  });
});
