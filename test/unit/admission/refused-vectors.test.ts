import { afterEach, describe, expect, test } from 'vitest';
import { CASES } from '../core/limiter/token-bucket-steps.js';
import { type HttpScene, readyScene } from '../http/http-scene.js';

let scene: HttpScene;
afterEach(() => scene.close());

/** Cases of token-bucket.json that a typed error answers before the limiter is asked. */
const caseOf = (id: string) => CASES.find((one) => one.id === id)!;

async function nodeOf(id: string) {
  const { ratePerPeriod, periodMs = 1000 } = caseOf(id).params as Readonly<Record<string, number>>;
  const messagesPerSecond = (ratePerPeriod * 1000) / periodMs;
  scene = await readyScene({ groups: { a: { quota: { publish: { messagesPerSecond } }, topics: 'even' } } });
  return scene.node;
}

describe('token-bucket.json, at the gate', () => {
  test('bucket/negative-consume-is-an-error: AMOUNT_INVALID, nothing charged', async () => {
    const node = await nodeOf('bucket/negative-consume-is-an-error');
    const { tokens } = caseOf('bucket/negative-consume-is-an-error').steps[0] as unknown as { tokens: number };
    node.serve(0);
    node.limiter.tokens.set(0, 7);
    const expected = expect.objectContaining({ code: 'AMOUNT_INVALID', message: expect.stringContaining('messages') });
    expect(() => node.consume('a', { messages: tokens })).toThrow(expected);
    expect(() => node.consume('a', { bytes: tokens })).toThrow(expect.objectContaining({ code: 'AMOUNT_INVALID' }));
    expect(node.limiter.tokens.at(0)).toBe(7);
    expect([node.limiter.attempted.at(0), node.limiter.admitted.at(0)]).toEqual([0, 0]);
  });

  test('bucket/overflow-wait: no wait is told for more than maxRequest, but AMOUNT_ABOVE_MAX_REQUEST', async () => {
    const node = await nodeOf('bucket/overflow-wait');
    const [consume, wait] = caseOf('bucket/overflow-wait').steps as unknown as [{ tokens: number }, { need: number }];
    node.consume('a', { messages: consume.tokens });
    const left = node.limiter.tokens.at(0);
    const tooMuch = expect.objectContaining({ code: 'AMOUNT_ABOVE_MAX_REQUEST' });
    expect(() => node.tryAcquire('a', { messages: wait.need })).toThrow(tooMuch);
    expect(() => node.containsTokens('a', { messages: wait.need })).toThrow(tooMuch);
    await expect(node.acquire('a', { messages: wait.need }, { waitMs: 10 })).rejects.toThrow(tooMuch);
    expect(node.limiter.tokens.at(0)).toBe(left);
  });
});
