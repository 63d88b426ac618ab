import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type HttpScene, readyScene } from './http-scene.js';

const GROUPS = {
  reports: { concurrency: 2 },
  metered: { concurrency: 2, quota: { publish: { messagesPerSecond: '1/hour' } }, burst: 1 },
  orders: { quota: { publish: { messagesPerSecond: 1000 } } },
};

let scene: HttpScene;
const post = (url: string, payload: object) => scene.ask('POST', url, payload);
const enter = (body: object = {}) => post('/v1/slots', { group: 'reports', waitMs: 20_000, ...body });
const end = (id: unknown) => post('/v1/slots/release', { id });
const idOf = ({ status, body }: Answer) => {
  expect([status, body.granted]).toEqual([200, true]);
  return body.id as string;
};
const codeOf = ({ status, body }: Answer) => [status, body.code];

describe('slots over HTTP', () => {
  beforeAll(async () => {
    scene = await readyScene({ groups: GROUPS, keys: { 'key:{id}': { concurrency: 1 } } });
    for (let tries = 0; tries < 600; tries++) {
      if ([...scene.node.slots.all.values()].every(({ bucket }) => bucket.isKnown)) return;
      await sleep(50);
    }
    throw new Error('no slots after 30 s');
  }, 60_000);
  afterAll(() => scene.close());

  it('a slot has an id and a lease, and its answer says how many are left', async () => {
    const { status, body, headers } = await enter();
    const id = expect.stringMatching(/^a\/[0-9a-f]{12}\/1\/[0-9a-f]{32}$/);
    expect([status, body]).toEqual([200, { granted: true, id, leaseMs: 5000 }]);
    expect(headers['ratelimit-policy']).toBe('"reports-concurrency";q=2;qu="concurrent-requests"');
    expect(headers.ratelimit).toMatch(/^"reports-concurrency";r=[01]$/);
    const ended = await end(body.id);
    expect([ended.status, ended.body]).toEqual([200, { ended: 'released' }]);
  });

  it('the third request is refused, or waits until one ends', async () => {
    const ids = [idOf(await enter()), idOf(await enter())];
    const refused = await enter({ waitMs: 0 });
    expect(codeOf(refused)).toEqual([429, 'CONCURRENCY_REACHED']);
    expect(refused.body['violated-policies']).toEqual(['reports-concurrency']);
    expect(refused.headers.ratelimit).toBe('"reports-concurrency";r=0;t=1');
    expect(refused.headers['retry-after']).toBe('1');
    const waiting = enter();
    await sleep(20);
    await end(ids[0]);
    for (const id of [idOf(await waiting), ids[1]]) await end(id);
  });

  it('each key has slots of its own', async () => {
    const first = idOf(await enter({ group: 'key:alice' }));
    const refused = await enter({ group: 'key:alice', waitMs: 100 });
    expect(codeOf(refused)).toEqual([429, 'CONCURRENCY_REACHED']);
    expect(refused.headers.ratelimit).toBe('"key:alice-concurrency";r=0;t=1');
    for (const id of [first, idOf(await enter({ group: 'key:bob' }))]) await end(id);
    await end(idOf(await enter({ group: 'key:alice' })));
    expect(codeOf(await post('/v1/acquire', { group: 'key:alice', messages: 1 }))).toEqual([409, 'SLOT_NEEDED']);
  });

  it('a quota that refuses keeps no slot', async () => {
    const first = await enter({ group: 'metered' });
    expect(first.headers['ratelimit-policy']).toBe(
      '"metered-concurrency";q=2;qu="concurrent-requests", "metered-publish-messages";q=1;w=3600',
    );
    const refused = await enter({ group: 'metered', waitMs: 0 });
    expect(codeOf(refused)).toEqual([429, 'QUOTA_EXCEEDED']);
    await end(first.body.id);
    expect(scene.node.slots.get(1)?.inUse).toBe(0);
  });

  it('a lease that nobody renews ends by itself; one that is renewed goes on', async () => {
    const [left, kept] = [idOf(await enter({ leaseMs: 100 })), idOf(await enter({ leaseMs: 100 }))];
    const renewed = await post('/v1/slots/renew', { id: kept, leaseMs: 5000 });
    expect([renewed.status, renewed.body]).toEqual([200, { id: kept, leaseMs: 5000 }]);
    idOf(await enter());
    for (const url of ['/v1/slots/release', '/v1/slots/renew']) {
      expect(codeOf(await post(url, { id: left }))).toEqual([409, 'SLOT_EXPIRED']);
    }
    expect((await end(kept)).status).toBe(200);
    const text = await scene.metrics.text();
    expect(text).toMatch(/^quotamesh_http_slots_ended_total\{outcome="expired"\} 1$/m);
    expect(text).toMatch(/^quotamesh_http_slots 1$/m);
  });

  it('what releases nothing is told by name', async () => {
    const id = idOf(await enter());
    await end(id);
    expect(codeOf(await end(id))).toEqual([409, 'SLOT_RELEASED']);
    const [node, process, , code] = id.split('/');
    const unknown = [404, 'SLOT_UNKNOWN'];
    expect(codeOf(await end(`${node}/${process}/1/${code}`))).toEqual(unknown);
    expect(codeOf(await end(`${node}/ffffffffffff/1/${code}`))).toEqual(unknown);
    expect(codeOf(await end('x'))).toEqual(unknown);
    const elsewhere = await end(`b/${process}/1/${code}`);
    expect(codeOf(elsewhere)).toEqual([404, 'SLOT_ELSEWHERE']);
    expect(elsewhere.body.detail).toContain('node b');
    expect(codeOf(await enter({ leaseMs: 5001 }))).toEqual([422, 'LEASE_TOO_LONG']);
    expect(codeOf(await post('/v1/slots/renew', { id, leaseMs: 60_000 }))).toEqual([422, 'LEASE_TOO_LONG']);
    expect(codeOf(await enter({ group: 'reprots' }))).toEqual([404, 'GROUP_UNKNOWN']);
    expect(codeOf(await scene.acquire({ group: 'reports', messages: 1 }))).toEqual([409, 'SLOT_NEEDED']);
    const enforce = await post('/v1/enforce', { enforcer: 'gateway', life: 1, groups: [{ group: 'reports' }] });
    expect(JSON.stringify(enforce.body)).toContain('SLOT_NEEDED');
  });

  it('a group without concurrency is entered, too', async () => {
    const { body, headers } = await enter({ group: 'orders' });
    expect(headers['ratelimit-policy']).toBe('"orders-publish-messages";q=1000;w=1');
    expect((await end(body.id)).body).toEqual({ ended: 'released' });
  });

  it('a lost slot says so when it is renewed and released', async () => {
    const id = idOf(await enter());
    const lane = scene.node.slots.get(0)!;
    lane.bucket.wallet!.isEnded = true;
    expect(codeOf(await post('/v1/slots/renew', { id }))).toEqual([409, 'SLOT_LOST']);
    expect((await end(id)).body).toEqual({ ended: 'lost' });
  });
});
