import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { laneOf } from '../../../src/core/base/vocabulary.js';
import type { GroupExplanation } from '../../../src/node/api/group-explanation.js';
import { type HttpScene, readyScene } from './http-scene.js';

const GROUPS = {
  orders: { quota: { publish: { messagesPerSecond: 1000, bytesPerSecond: 100_000, costPerSecond: 6000 } } },
  blocked: { quota: { publish: { messagesPerSecond: 0 } } },
  owing: { quota: { publish: { messagesPerSecond: 100 } }, debtMs: 2000 },
  seldom: { quota: { publish: { costPerSecond: 0.1 } }, burst: { messages: 50 } },
};

let scene: HttpScene;
const post = (url: string, payload: object) => scene.ask('POST', url, payload);
const reserve = async (body: object = {}) => {
  const answer = await scene.acquire({ group: 'orders', messages: 1, cost: { units: 6 }, ...body });
  expect(answer.status).toBe(200);
  return answer.body.id as string;
};
const counts = async () => {
  const text = await scene.metrics.text();
  const ended = text.matchAll(/^quotamesh_http_reservations_ended_total{outcome="(\w+)"} (\d+)$/gm);
  const open = Number(/^quotamesh_http_reservations (\d+)$/m.exec(text)?.[1]);
  return { open, ...Object.fromEntries(Array.from(ended, ([, how, count]) => [how as string, Number(count)])) };
};
const admitted = () => [scene.node.limiter.admitted.at(0), scene.node.limiter.admitted.at(1)];
const unitsOfOrders = () => {
  const costs = scene.node.coordinator?.costs.costsOf(0, scene.node.clock());
  return costs?.backends.reduce((sum, { cost }) => sum + cost, 0) ?? 0;
};

describe('a reservation over HTTP', () => {
  beforeAll(async () => {
    scene = await readyScene({ groups: GROUPS });
  });
  afterAll(() => scene.close());

  it('an acquire with an estimated cost answers an id; what it was counts when it is committed', async () => {
    const { status, body } = await scene.acquire({ group: 'orders', messages: 2, bytes: 100, cost: { readBytes: 1 } });
    expect([status, body]).toEqual([200, { granted: true, id: expect.stringMatching(/-1$/), validMs: 60_000 }]);
    expect(admitted()).toEqual([0, 0]);
    const costs = [{ backend: 'db-1', units: 10 }, { units: 2 }];
    const committed = await post('/v1/commit', { id: body.id, messages: 2, bytes: 300, costs });
    expect([committed.status, committed.body]).toEqual([200, { ended: 'committed' }]);
    expect(admitted()).toEqual([2, 300]);
    for (let turn = 0; turn < 100 && Math.abs((await average()) - 6) > 1e-5; turn++) await sleep(20);
    expect(await average()).toBeCloseTo(6, 4);
  });

  it('what a commit leaves out is as it was estimated; a cancel gives everything back', async () => {
    const before = admitted() as [number, number];
    const units = unitsOfOrders();
    await post('/v1/commit', { id: await reserve({ messages: 3, bytes: 50 }) });
    expect(admitted()).toEqual([before[0] + 3, before[1] + 50]);
    expect(unitsOfOrders()).toBeGreaterThan(units);
    const cancelled = await post('/v1/cancel', { id: await reserve({ messages: 5 }) });
    expect([cancelled.status, cancelled.body]).toEqual([200, { ended: 'cancelled' }]);
    expect(admitted()).toEqual([before[0] + 3, before[1] + 50]);
  });

  it('a cancel of a cost quota that hardly refills brings back all of the estimate', async () => {
    const tokens = () => scene.node.limiter.available(laneOf(3, 0), 0, scene.node.clock());
    const id = await reserve({ group: 'seldom', messages: 30, cost: { units: 30 } });
    await sleep(100);
    expect(tokens()).toBeLessThan(25);
    expect((await post('/v1/cancel', { id })).status).toBe(200);
    await expect.poll(tokens, { timeout: 5000 }).toBeGreaterThanOrEqual(49);
  });

  it('what a commit has above its estimate counts in full, and is a debt of debtMs of the limit at most', async () => {
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) ids.push(await reserve({ group: 'owing', cost: undefined, reserve: true }));
    for (const id of ids) expect((await post('/v1/commit', { id, messages: 1000 })).status).toBe(200);
    const { local } = scene.node.groupStatus('owing').directions.publish;
    expect(local.admittedMessages).toBe(5000);
    expect(local.debtMessages).toBeGreaterThan(150);
    expect(local.debtMessages).toBeLessThanOrEqual(200);
    expect((await scene.acquire({ group: 'owing', messages: 1 })).status).toBe(429);
  });

  it('`reserve` does without a cost, where amounts alone are corrected', async () => {
    const answer = await scene.acquire({ group: 'orders', bytes: 500, reserve: true });
    expect(answer.body.id).toBeDefined();
    const before = admitted() as [number, number];
    await post('/v1/commit', { id: answer.body.id as string, bytes: 20 });
    expect(admitted()).toEqual([before[0], before[1] + 20]);
    expect((await scene.acquire({ group: 'orders', messages: 1, reserve: false })).body).toEqual({ granted: true });
  });

  it('a refusal has no id', async () => {
    const { status, body } = await scene.acquire({ group: 'blocked', messages: 1, cost: { units: 1 } });
    expect([status, body.code, body.id]).toEqual([429, 'QUOTA_EXCEEDED', undefined]);
  });

  it('batches reserve, commit and cancel', async () => {
    const request = { group: 'orders', messages: 1, cost: { units: 6 } };
    const batch = await post('/v1/acquire/bulk', {
      requests: [request, { ...request, cost: undefined }, request, request],
    });
    const answers = batch.body.answers as { status: number; id?: string }[];
    expect(answers.map(({ status, id }) => [status, id !== undefined])).toEqual([
      [200, true],
      [200, false],
      [200, true],
      [200, true],
    ]);
    const [one, , two, three] = answers.map(({ id }) => id);
    const commits = [
      { id: one },
      { id: two, cancel: true },
      { id: three, messages: -1 },
      { id: one },
      { id: 'no-9' },
      7,
    ];
    const { status, body } = await post('/v1/commit/bulk', { commits });
    expect(status).toBe(200);
    expect(body.answers).toMatchObject([
      { status: 200, ended: 'committed' },
      { status: 200, ended: 'cancelled' },
      { status: 422, code: 'AMOUNT_INVALID', detail: expect.stringContaining('commits[2].messages must be') },
      { status: 409, code: 'RESERVATION_ENDED' },
      { status: 404, code: 'RESERVATION_UNKNOWN' },
      { status: 422, code: 'FIELD_INVALID', detail: 'commits[5] must be an object, got 7' },
    ]);
    expect((await post('/v1/cancel', { id: three as string })).status).toBe(200);
  });

  it('an id ends once; an unknown one is told from an ended one', async () => {
    const id = await reserve();
    expect((await post('/v1/commit', { id })).status).toBe(200);
    for (const path of ['/v1/commit', '/v1/cancel']) {
      const { status, body } = await post(path, { id });
      expect([status, body.code]).toEqual([409, 'RESERVATION_ENDED']);
    }
    const [prefix] = id.split('-');
    for (const unknown of ['', 'x', `${prefix}-999999`, `${prefix}-0`, `${prefix}-1-1`, `${prefix}-01`, 'a-1']) {
      const { status, body } = await post('/v1/commit', { id: unknown });
      expect([status, body.code], unknown).toEqual([404, 'RESERVATION_UNKNOWN']);
    }
  });

  it('costs that are refused leave it open', async () => {
    const id = await reserve();
    const { status, body } = await post('/v1/commit', { id, costs: [{ units: -1 }] });
    expect([status, body.code]).toEqual([422, 'COST_INVALID']);
    expect((await post('/v1/commit', { id, costs: [{ units: 1 }] })).status).toBe(200);
  });

  it('metrics count them', async () => {
    expect(await counts()).toMatchObject({ open: 0, committed: expect.toSatisfy((count: number) => count > 3) });
  });
});

describe('nobody ends it', () => {
  it('it is charged as it was estimated, loudly; a full table refuses', async () => {
    scene = await readyScene({
      groups: GROUPS,
      limits: { maxReservations: 2, reservationMs: 200 },
    });
    const id = await reserve({ messages: 2, bytes: 70 });
    await reserve({ messages: 1 });
    const full = await scene.acquire({ group: 'orders', messages: 1, cost: { units: 6 } });
    expect([full.status, full.body.code, full.headers['retry-after']]).toEqual([503, 'RESERVATIONS_FULL', '1']);
    expect(admitted()).toEqual([0, 0]);
    for (let turn = 0; turn < 100 && (await counts()).open !== 0; turn++) await sleep(20);
    expect(await counts()).toMatchObject({ open: 0, expired: 2, full: 1 });
    expect(admitted()).toEqual([3, 70]);
    expect(unitsOfOrders()).toBeGreaterThan(0);
    expect((await post('/v1/commit', { id })).body.code).toBe('RESERVATION_ENDED');
    const lines = scene.log.filter(({ level }) => level === 'warn').map(({ message }) => message);
    expect(lines.filter((line) => /charged as estimated/.test(line))).toHaveLength(1);
    expect(lines.filter((line) => /no room for more reservations/.test(line))).toHaveLength(1);
    await scene.close();
  });
});

async function average(): Promise<number> {
  const { body } = await scene.get('/v1/groups/orders/explain');
  return (body as unknown as GroupExplanation).directions.publish.cost.average;
}
