import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpScene, readyScene } from './http-scene.js';

const QUOTA = { publish: { messagesPerSecond: 0.1, bytesPerSecond: 100 } };
const GROUPS = {
  orders: { quota: QUOTA, limiter: 'window', windowMs: 3_600_000 },
  blocked: { quota: { publish: { messagesPerSecond: 0 } }, limiter: 'window' },
};

let scene: HttpScene;
const post = (url: string, payload: object) => scene.ask('POST', url, payload);
const take = (body: object) => post('/v1/take', { group: 'orders', ...body });
const counts = () => ({ ...scene.node.gate.batches.counts });

/** A full window, so that the test does not depend on where in it it begins. */
function fill(messages = 100): void {
  scene.node.serve(0);
  scene.node.limiter.tokens.set(0, messages);
  scene.node.limiter.tokens.set(1, 100_000);
}

describe('batches over HTTP', () => {
  beforeAll(async () => {
    scene = await readyScene({ groups: GROUPS });
  });
  afterAll(() => scene.close());

  it('takes what there is, and hands back what was not used', async () => {
    fill();
    const taken = await take({ messages: 150 });
    expect([taken.status, taken.body]).toEqual([
      200,
      {
        granted: true,
        id: expect.stringMatching(/-\d+$/),
        messages: 100,
        bytes: 0,
        epoch: expect.any(Number),
        validMs: expect.any(Number),
      },
    ]);
    const ended = await post('/v1/refund', { id: taken.body.id, messages: 30, dropped: { messages: 20 } });
    expect([ended.status, ended.body]).toEqual([200, { ended: true }]);
    expect((await take({ all: true })).body).toMatchObject({ messages: 50 });
  });

  it('refuses as an acquire does: 429 with Retry-After', async () => {
    fill(0);
    const refused = await take({ messages: 5, waitMs: 20 });
    expect([refused.status, refused.body.code]).toEqual([429, 'QUOTA_EXCEEDED']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect((await take({ group: 'blocked', all: true })).status).toBe(429);
  });

  it('several refunds in one request: each has its answer, nothing is minted', async () => {
    fill();
    const [one, other] = [(await take({ messages: 10 })).body.id, (await take({ messages: 10 })).body.id];
    const before = counts();
    const refunds = [{ id: one, messages: 10 }, { id: one, messages: 10 }, { id: other, messages: 11 }, { id: 'x-1' }];
    const { body } = await post('/v1/refund/bulk', { refunds });
    const answers = body.answers as readonly { status: number; code?: string }[];
    expect(answers.map(({ status, code }) => [status, code])).toEqual([
      [200, undefined],
      [409, 'BATCH_ENDED'],
      [422, 'BATCH_TOO_SMALL'],
      [404, 'BATCH_UNKNOWN'],
    ]);
    expect(counts()).toMatchObject({ refundsRefused: before.refundsRefused + 3 });
    expect((await take({ all: true })).body).toMatchObject({ messages: 90 });
  });
});
