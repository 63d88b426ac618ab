import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpScene, httpScene, readyScene } from './http-scene.js';

const PROBLEM = /^application\/problem\+json/;

describe('POST /v1/acquire', () => {
  let scene: HttpScene;
  beforeAll(async () => {
    scene = await readyScene();
  });
  afterAll(() => scene.close());

  it('grants, with what this node would still admit', async () => {
    const { status, headers, body } = await scene.acquire({ group: 'orders', messages: 1, bytes: 512 });
    expect(status).toBe(200);
    expect(body).toEqual({ granted: true });
    expect(headers['content-type']).toMatch(/^application\/json/);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['ratelimit-policy']).toBe(
      '"orders-publish-messages";q=1000;w=1, "orders-publish-bytes";q=1048576;w=1;qu="content-bytes"',
    );
    expect(headers.ratelimit).toMatch(/^"orders-publish-messages";r=\d+;t=\d, "orders-publish-bytes";r=\d+;t=\d$/);
  });

  it('takes bytes alone, and dispatch as a direction of its own', async () => {
    expect(await scene.acquire({ group: 'orders', bytes: 10 })).toMatchObject({ status: 200 });
    const { headers } = await scene.acquire({ group: 'orders', direction: 'dispatch', messages: 1 });
    expect(headers['ratelimit-policy']).toBe('"orders-dispatch-messages";q=50;w=1');
    expect(scene.node.groupStatus('orders').directions.dispatch.local.admittedMessages).toBe(1);
  });

  it('sends no RateLimit fields for a group without quota', async () => {
    const { status, headers } = await scene.acquire({ group: 'free', messages: 1e6, bytes: 1e9 });
    expect(status).toBe(200);
    expect(headers).not.toHaveProperty('ratelimit');
    expect(headers).not.toHaveProperty('ratelimit-policy');
  });

  it('refuses with 429, a problem of the registered type, and when to come back', async () => {
    // The first token takes 20 s.
    const { status, headers, body } = await scene.acquire({ group: 'slow', messages: 1 });
    expect(status).toBe(429);
    expect(headers['content-type']).toMatch(PROBLEM);
    expect(body).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Request cannot be satisfied as assigned quota has been exceeded',
      status: 429,
      detail: 'group slow: messages publish quota is used up for now',
      code: 'QUOTA_EXCEEDED',
      remedy: expect.any(String),
      'violated-policies': ['slow-publish-messages'],
      group: 'slow',
      direction: 'publish',
      dimension: 'messages',
      level: 'group',
      retryAfterMs: expect.any(Number),
    });
    const retryAfterS = Number(headers['retry-after']);
    expect(retryAfterS).toBe(Math.ceil(Number(body.retryAfterMs) / 1000));
    expect(retryAfterS).toBeGreaterThanOrEqual(1);
    expect(headers['ratelimit-policy']).toBe('"slow-publish-messages";q=1;w=20');
    expect(headers.ratelimit).toBe(`"slow-publish-messages";r=0;t=${retryAfterS}`);
  });

  it('a blocked group refuses everything, at most a minute at a time', async () => {
    const { status, headers, body } = await scene.acquire({ group: 'blocked', messages: 1 });
    expect({ status, retryAfterMs: body.retryAfterMs }).toEqual({ status: 429, retryAfterMs: 60_000 });
    expect(headers['ratelimit-policy']).toBe('"blocked-publish-messages";q=0;w=1');
    expect(headers.ratelimit).toBe('"blocked-publish-messages";r=0;t=60');
  });

  it('an unknown group is 404 and names the near ones', async () => {
    const { status, headers, body } = await scene.acquire({ group: 'ordesr', messages: 1 });
    expect(status).toBe(404);
    expect(headers['content-type']).toMatch(PROBLEM);
    expect(body).toMatchObject({ code: 'GROUP_UNKNOWN', title: 'Not Found', type: 'about:blank' });
    expect(body.detail).toContain('did you mean orders?');
  });

  const WRONG_BODIES: readonly (readonly [string, RegExp])[] = [
    ['{"group":', /not valid JSON/],
    ['', /empty/],
    ['[]', /must be a JSON object, got an array of 0/],
    ['7', /must be a JSON object, got 7/],
    ['null', /must be a JSON object, got null/],
    ['{"group":"orders","messages":1,"__proto__":{}}', /not valid JSON/],
  ];

  it.each(WRONG_BODIES)('%s is 400', async (payload, detail) => {
    const { status, headers, body } = await post(scene, payload);
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'BODY_INVALID' });
    expect(headers['content-type']).toMatch(PROBLEM);
    expect(body.detail).toMatch(detail);
  });

  it('a body over the limit is 413', async () => {
    const { status, body } = await scene.acquire({ group: 'orders', messages: 1, zzz: 'x'.repeat(20_000) });
    expect({ status, code: body.code }).toEqual({ status: 413, code: 'BODY_TOO_LARGE' });
    expect(body.detail).toBe('the body is larger than 16384 bytes');
  });

  it.each([['text/plain'], ['application/x-www-form-urlencoded'], ['']])('content-type "%s" is 415', async (type) => {
    const headers = type === '' ? {} : { 'content-type': type };
    const { status, body } = await scene.ask('POST', '/v1/acquire', '{}', { headers });
    expect({ status, code: body.code }).toEqual({ status: 415, code: 'MEDIA_TYPE_UNSUPPORTED' });
  });
});

describe('POST /v1/acquire on a node that does not decide', () => {
  it('is 503 with Retry-After until it is ready, and again while it stops', async () => {
    const scene = await httpScene();
    const early = await scene.acquire({ group: 'orders', messages: 1 });
    expect(early.status).toBe(503);
    expect(early.headers['retry-after']).toBe('1');
    expect(early.headers['content-type']).toMatch(PROBLEM);
    expect(early.body).toMatchObject({
      type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
      code: 'NOT_READY',
      detail: 'node a is not ready: the groups are being read from the registry',
      'violated-policies': [],
      retryAfterMs: 250,
    });
    await scene.node.start();
    await scene.node.ready(10_000);
    await expect.poll(() => scene.acquire({ group: 'orders', messages: 1 })).toMatchObject({ status: 200 });
    await scene.node.close();
    const late = await scene.acquire({ group: 'orders', messages: 1 });
    expect(late).toMatchObject({ status: 503, body: { detail: 'node a is not ready: the node is stopping' } });
    await scene.close();
  });

  it('wrong requests are told so even then', async () => {
    const scene = await httpScene();
    expect(await scene.acquire({ group: 'nope', messages: 1 })).toMatchObject({ status: 404 });
    expect(await scene.acquire({ group: 'orders', messages: -1 })).toMatchObject({ status: 422 });
    await scene.close();
  });
});

describe('defaultGroup', () => {
  it('takes the names that are not configured', async () => {
    const scene = await readyScene({ defaultGroup: 'slow' });
    const { status, body } = await scene.acquire({ group: 'something else', messages: 1 });
    expect({ status, group: body.group }).toEqual({ status: 429, group: 'slow' });
    await scene.close();
  });
});

function post(scene: HttpScene, payload: string) {
  const headers = { 'content-type': 'application/json' };
  return scene.ask('POST', '/v1/acquire', payload, { headers });
}
