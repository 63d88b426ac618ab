import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeHttp, listen } from '../../../src/doors/http/server/http-server.js';
import { type HttpScene, readyScene } from './http-scene.js';

let scene: HttpScene;
const enforce = (body: object) => scene.ask('POST', '/v1/enforce', { enforcer: 'p', life: 1, ...body });
const ORDERS = { group: 'orders', admitted: { messages: 0 } };

describe('POST /v1/enforce', () => {
  beforeAll(async () => {
    scene = await readyScene();
  });
  afterAll(() => scene.close());

  it('tells parts, null where there is no limit, 0 where it is blocked, and what is wrong with one group alone', async () => {
    const groups = [ORDERS, { group: 'free' }, { group: 'blocked' }, { group: 'nobody' }, { group: 'orders' }];
    const { status, body } = await enforce({ groups });
    expect(status).toBe(200);
    const told = body.groups as readonly Record<string, unknown>[];
    expect(told.map((one) => one.status)).toEqual([200, 200, 200, 404, 422]);
    expect(told[0]).toMatchObject({ messagesPerSecond: 500, bytesPerSecond: 524_288 });
    expect(told[1]).toMatchObject({ messagesPerSecond: null, bytesPerSecond: null });
    expect(told[2]).toMatchObject({ messagesPerSecond: 0, messagesDepth: 0 });
    expect(told[3]).toMatchObject({ code: 'GROUP_UNKNOWN' });
    expect(told[4]).toMatchObject({ code: 'FIELD_INVALID' });
  });

  it('takes how many topics of a group an enforcer serves, and refuses nonsense', async () => {
    const serving = (topics: unknown) => enforce({ enforcer: 't', groups: [{ ...ORDERS, topics }] });
    expect((await serving(12)).status).toBe(200);
    for (const nonsense of [-1, 1.5, 1_000_001, '12']) expect((await serving(nonsense)).status).toBe(422);
  });

  it('charges what was admitted to the group', async () => {
    await enforce({ enforcer: 'q', groups: [{ group: 'slow', admitted: { messages: 7 } }] });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await enforce({ enforcer: 'q', groups: [{ group: 'slow', admitted: { messages: 10 } }] });
    const { body } = await scene.get('/v1/groups/slow');
    expect(body.directions).toMatchObject({ publish: { local: { admittedMessages: 3 } } });
  });

  it('waits, and answers when another enforcer takes a part', async () => {
    const { body } = await enforce({ enforcer: 'r', groups: [{ group: 'orders', direction: 'dispatch' }] });
    const waiting = enforce({
      enforcer: 'r',
      seen: body.version,
      waitMs: 50_000,
      ttlMs: 60_000,
      groups: [{ group: 'orders', direction: 'dispatch' }],
    });
    await enforce({ enforcer: 's', groups: [{ group: 'orders', direction: 'dispatch' }] });
    const told = (await waiting).body;
    expect(told.version).not.toBe(body.version);
    const [part] = told.groups as readonly { messagesPerSecond: number }[];
    expect(part?.messagesPerSecond).toBeCloseTo(50 / 3, 1);
  });

  it('a life that was replaced is 409', async () => {
    await enforce({ enforcer: 't', life: 9, groups: [ORDERS] });
    const { status, body } = await enforce({ enforcer: 't', life: 8, groups: [ORDERS] });
    expect([status, body.code]).toEqual([409, 'ENFORCER_REPLACED']);
  });

  it('lists who enforces', async () => {
    const { status, body } = await scene.get('/v1/enforcers');
    expect(status).toBe(200);
    const listed = body.enforcers as readonly { enforcer: string; alive: boolean; groups: number }[];
    expect(listed.find(({ enforcer }) => enforcer === 't')).toMatchObject({ life: 9, alive: true, groups: 1 });
  });
});

describe('over a Unix socket', () => {
  interface Told {
    readonly version: number;
    readonly groups: readonly { readonly messagesPerSecond: number }[];
  }

  const post = (socketPath: string, body: object) => {
    const asked = request({ socketPath, method: 'POST', path: '/v1/enforce', headers: JSON_HEADERS });
    const answer = new Promise<Told>((resolve, reject) => {
      asked.once('response', (response) => resolve(json(response) as Promise<Told>)).once('error', reject);
    });
    asked.end(JSON.stringify({ life: 1, groups: [ORDERS], ...body }));
    return { asked, answer };
  };
  const JSON_HEADERS = { 'content-type': 'application/json' };

  it('a wait ends with a change, or with the connection of who has asked', async ({ onTestFinished }) => {
    const folder = mkdtempSync(join(tmpdir(), 'quotamesh-enforce-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const socket = join(folder, 'q.sock');
    const local = await readyScene({ http: { socket } });
    onTestFinished(() => closeHttp(local.app, 100).then(() => local.close()));
    await listen(local.app, local.node);
    const first = await post(socket, { enforcer: 'a' }).answer;
    expect(first.groups[0]?.messagesPerSecond).toBe(500);
    const patience = { ttlMs: 60_000, waitMs: 20_000, seen: first.version };
    const abandoned = post(socket, { enforcer: 'a', ...patience });
    abandoned.answer.catch(() => {});
    await sleep(50);
    abandoned.asked.destroy();
    const waiting = post(socket, { enforcer: 'a', ...patience });
    await sleep(50);
    await post(socket, { enforcer: 'b' }).answer;
    const told = await waiting.answer;
    expect(told.groups[0]?.messagesPerSecond).toBeCloseTo(1000 / 3, 0);
    expect(told.version).not.toBe(first.version);
  });
});
