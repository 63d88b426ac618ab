import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MESSAGES } from '../../../src/core/base/vocabulary.js';
import { type HttpScene, readyScene } from './http-scene.js';

/** Windows of an hour, which hold what a test puts there. */
const WINDOW = {
  quota: { publish: { messagesPerSecond: 0.1 } },
  limiter: 'window',
  windowMs: 3_600_000,
  maxRequest: { messages: 1000 },
};
const GROUPS = { orders: WINDOW, gold: WINDOW, free: {} };
const SCOPES = {
  acme: 'gold',
  'acme/orders': { group: 'orders', andBroader: true },
  'acme/replicated': { exempt: true },
  lab: 'free',
};
const ORDERS = { tenant: 'acme', namespace: 'orders' };

let scene: HttpScene;
const post = (url: string, payload: object) => scene.ask('POST', url, payload);
const laneOf = (group: string) => 2 * scene.node.gate.groupIndex(group);
const fill = (group: string, messages: number) => scene.node.limiter.tokens.set(2 * laneOf(group), messages);
const left = (group: string) =>
  Math.floor(scene.node.limiter.available(laneOf(group), MESSAGES, scene.node.clock()) + 1e-6);
const attempted = (group: string) => scene.node.limiter.attempted.at(2 * laneOf(group));

beforeAll(async () => {
  scene = await readyScene({ groups: GROUPS, attachments: { scopes: SCOPES } });
  for (const group of ['orders', 'gold']) scene.node.serve(laneOf(group));
});
afterAll(() => scene.close());

describe('tokens taken for a scope', () => {
  it('come from all its groups, as many as the tighter one has, and go back to all', async () => {
    fill('orders', 100);
    fill('gold', 30);
    const before = [attempted('orders'), attempted('gold')];
    const taken = await post('/v1/take', { ...ORDERS, messages: 50 });
    expect(taken).toMatchObject({ status: 200, body: { granted: true, messages: 30, epoch: expect.any(Number) } });
    expect([left('orders'), left('gold')]).toEqual([70, 0]);
    // The 20 that are missing are demand of the one that lacks them.
    await post('/v1/refund', { id: taken.body.id, messages: 10 });
    expect([left('orders'), left('gold')]).toEqual([80, 10]);
    expect([attempted('orders') - before[0], attempted('gold') - before[1]]).toEqual([20, 40]);
  });

  it('all: what every one of them has', async () => {
    fill('orders', 7);
    fill('gold', 30);
    const taken = await post('/v1/take', { ...ORDERS, all: true });
    expect(taken.body).toMatchObject({ granted: true, messages: 7 });
    expect(left('gold')).toBe(23);
  });

  it('refused: the tighter one is named, and nothing is charged', async () => {
    fill('orders', 100);
    fill('gold', 0);
    const refused = await post('/v1/take', { ...ORDERS, messages: 5 });
    expect(refused).toMatchObject({ status: 429, body: { code: 'QUOTA_EXCEEDED', group: 'gold' } });
    expect(left('orders')).toBe(100);
  });

  it('exempt: as many as asked for, counted when used, in no group', async () => {
    const exempt = scene.node.gate.scopes.exempt[0];
    const taken = await post('/v1/take', { tenant: 'acme', namespace: 'replicated', messages: 1e6 });
    expect(taken.body).toMatchObject({ granted: true, messages: 1e6 });
    const before = exempt.messages;
    expect(await post('/v1/refund', { id: taken.body.id, messages: 1e6 + 1 })).toMatchObject({ status: 422 });
    await post('/v1/refund', { id: taken.body.id, messages: 1e6 - 3 });
    expect(exempt.messages - before).toBe(3);
  });

  it.each([
    ['no end to all of what is exempt', { tenant: 'acme', namespace: 'replicated', all: true }, 422, 'AMOUNT_INVALID'],
    ['nor of what has no limit', { tenant: 'lab', all: true }, 422, 'AMOUNT_INVALID'],
    ['attached to nothing', { tenant: 'nobody', messages: 1 }, 404, 'SCOPE_UNATTACHED'],
    ['group and scope', { group: 'orders', tenant: 'acme', messages: 1 }, 422, 'FIELD_INVALID'],
    ['above maxRequest of one of them', { ...ORDERS, messages: 1001 }, 422, 'AMOUNT_ABOVE_MAX_REQUEST'],
  ])('%s', async (_, body, status, code) => {
    const answer = await post('/v1/take', body);
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
  });
});

it('requests of one bulk may name groups and scopes, each by itself', async () => {
  fill('orders', 5);
  fill('gold', 3);
  const requests = [
    { ...ORDERS, messages: 2 },
    { group: 'orders', messages: 1 },
    { ...ORDERS, messages: 2 },
    { tenant: 'acme', namespace: 'replicated', messages: 9 },
    { tenant: 'nobody', messages: 1 },
    { group: 'orders', tenant: 'acme', messages: 1 },
  ];
  const { body } = await post('/v1/acquire/bulk', { requests });
  expect(body.answers).toMatchObject([
    { status: 200 },
    { status: 200 },
    { status: 429, group: 'gold' },
    { status: 200 },
    { status: 404, code: 'SCOPE_UNATTACHED' },
    { status: 422, code: 'FIELD_INVALID' },
  ]);
  expect([left('orders'), left('gold')]).toEqual([2, 1]);
});
