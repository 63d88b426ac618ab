import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpScene, readyScene } from './http-scene.js';

const GROUPS = {
  fast: { quota: { publish: { messagesPerSecond: 500, bytesPerSecond: 100_000 } } },
  parts: { quota: { publish: { messagesPerSecond: 500, bytesPerSecond: 100_000 } } },
  slow: { quota: { publish: { messagesPerSecond: 0.05 } }, burst: { start: 'empty' } },
  debts: { quota: { publish: { messagesPerSecond: 5 } } },
  clients: {
    quota: { publish: { messagesPerSecond: 1000 } },
    perClient: { publish: { messagesPerSecond: 1 }, max: 2 },
  },
  // A client keeps its place until its bucket is full again, here for hours.
  crowd: { perClient: { publish: { messagesPerSecond: 0.0001 }, max: 2 } },
  free: {},
};

let scene: HttpScene;
beforeAll(async () => {
  scene = await readyScene({ groups: GROUPS });
});
afterAll(() => scene.close());

describe('waitMs', () => {
  it('waits for its turn', async () => {
    scene.node.consume('fast', { messages: 500 });
    expect((await scene.acquire({ group: 'fast', messages: 1 })).status).toBe(429);
    expect(await scene.acquire({ group: 'fast', messages: 1, waitMs: 5000 })).toMatchObject({ status: 200 });
  });

  it('ends with the refusal', async () => {
    expect(await scene.acquire({ group: 'slow', messages: 1, waitMs: 20 })).toMatchObject({
      status: 429,
      body: { code: 'QUOTA_EXCEEDED', level: 'group' },
    });
    expect(scene.node.gate.waiting.count).toBe(0);
  });
});

describe('priority', () => {
  it('immediate work is granted whatever is there, and charged: the others wait for it', async () => {
    scene.node.consume('debts', { messages: 400 });
    expect((await scene.acquire({ group: 'debts', messages: 1 })).status).toBe(429);
    const lane = scene.node.gate.groupIndex('debts') * 2;
    const before = scene.node.limiter.available(lane, 0, scene.node.clock());
    expect(await scene.acquire({ group: 'debts', messages: 9, priority: 'immediate' })).toMatchObject({
      status: 200,
      body: { granted: true },
    });
    expect((await scene.acquire({ group: 'debts', messages: 9, priority: 'immediate', waitMs: 0 })).status).toBe(200);
    expect(scene.node.limiter.available(lane, 0, scene.node.clock())).toBeLessThanOrEqual(before);
    expect(scene.node.limiter.admitted.at(lane * 2)).toBe(418);
    const { status, body } = await scene.acquire({ group: 'debts', messages: 1e6, priority: 'immediate' });
    expect([status, body.code]).toEqual([422, 'AMOUNT_ABOVE_MAX_REQUEST']);
  });

  it('beside atMost it is refused; in a batch the others are decided all the same', async () => {
    const ask = { group: 'debts', messages: 9, priority: 'immediate' };
    const requests = [{ ...ask, atMost: true }, ask];
    const { body } = await scene.ask('POST', '/v1/acquire/bulk', { requests });
    expect(body.answers).toMatchObject([
      { status: 422, code: 'FIELD_INVALID' },
      { status: 200, granted: true },
    ]);
  });
});

describe('atMost', () => {
  it('grants whole messages of the size asked for, and says how many', async () => {
    const { status, body } = await scene.acquire({ group: 'parts', messages: 4000, bytes: 400_000, atMost: true });
    expect(status).toBe(200);
    expect(body.messages).toBeGreaterThan(0);
    expect(body.messages).toBeLessThan(100);
    expect(body.bytes).toBe(100 * (body.messages as number));
    expect(await scene.acquire({ group: 'slow', messages: 1, atMost: true })).toMatchObject({ status: 429 });
    expect((await scene.acquire({ group: 'free', messages: 5, bytes: 7, atMost: true })).body).toEqual({
      granted: true,
      messages: 5,
      bytes: 7,
    });
  });
});

describe('levels', () => {
  it('tell which one refused, with its policy, and refuse loudly when there is no room', async () => {
    const ask = (client: string) => scene.acquire({ group: 'clients', messages: 1, client });
    expect((await ask('a')).status).toBe(200);
    const { status, headers, body } = await ask('a');
    expect(status).toBe(429);
    expect(body).toMatchObject({
      level: 'client',
      dimension: 'messages',
      detail: 'group clients: messages publish limit of the client on this node is used up for now',
      'violated-policies': ['clients-publish-messages-per-client'],
    });
    expect(headers['ratelimit-policy']).toBe(
      '"clients-publish-messages";q=1000;w=1, "clients-publish-messages-per-client";q=1;w=1',
    );
    expect(headers.ratelimit).toMatch(
      /^"clients-publish-messages";r=\d+, "clients-publish-messages-per-client";r=0;t=1$/,
    );
    expect((await ask('b')).status).toBe(200);
    expect(await ask('c')).toMatchObject({
      status: 503,
      body: { code: 'LEVEL_FULL' },
      headers: { 'retry-after': '1' },
    });
  });

  it('no room counts as not ready, and a mistake as rejected, in every way to ask', async () => {
    const outcomes = async () => {
      const text = await scene.metrics.text();
      const of = (outcome: string) =>
        Number(new RegExp(`http_acquires_total\\{[^}]*"${outcome}"\\} (\\d+)`).exec(text)?.[1]);
      return { notReady: of('not-ready'), rejected: of('rejected') };
    };
    const full = { group: 'crowd', messages: 1 };
    for (const client of ['a', 'b']) await scene.acquire({ ...full, client });
    for (const wanted of [
      { ...full, client: 'c' },
      { group: 'nope', messages: 1 },
    ]) {
      const before = await outcomes();
      await scene.acquire(wanted);
      await scene.acquire({ ...wanted, waitMs: 1 });
      await scene.ask('POST', '/v1/acquire/bulk', { requests: [wanted] });
      await scene.ask('POST', '/v1/take', wanted);
      const after = await outcomes();
      const [notReady, rejected] = wanted.group === 'nope' ? [0, 4] : [4, 0];
      expect(after).toEqual({ notReady: before.notReady + notReady, rejected: before.rejected + rejected });
    }
  });
});

describe('POST /v1/acquire/bulk', () => {
  const batch = (payload: object) => scene.ask('POST', '/v1/acquire/bulk', payload);

  it('answers every request by itself, in order', async () => {
    const requests = [
      { group: 'free', messages: 1 },
      { group: 'slow', messages: 1 },
      { group: 'nope', messages: 1 },
      { group: 'free', messages: 3, atMost: true },
    ];
    const { status, body } = await batch({ requests });
    expect(status).toBe(200);
    expect(body.answers).toMatchObject([
      { status: 200, granted: true },
      { status: 429, granted: false, code: 'QUOTA_EXCEEDED', level: 'group', dimension: 'messages' },
      { status: 404, granted: false, code: 'GROUP_UNKNOWN' },
      { status: 200, granted: true, messages: 3 },
    ]);
  });

  it('with a wrong field in one request charges none', async () => {
    const before = [...scene.node.limiter.admitted];
    const requests = [
      { group: 'free', messages: 1 },
      { group: 'free', messages: -1 },
    ];
    expect((await batch({ requests })).status).toBe(422);
    expect([...scene.node.limiter.admitted]).toEqual(before);
  });
});
