import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerOf, type HttpScene, readyScene } from './http-scene.js';

let scene: HttpScene;
const enforce = (body: object) =>
  answerOf(scene.app, { method: 'POST', url: '/v1/enforce', payload: { enforcer: 'p', life: 1, ...body } });
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

  it.each([
    [{ groups: [] }, 'groups'],
    [{}, 'groups'],
    [{ enforcer: '', groups: [ORDERS] }, 'enforcer'],
    [{ life: -1, groups: [ORDERS] }, 'life'],
    [{ ttlMs: 1, groups: [ORDERS] }, 'ttlMs'],
    [{ waitMs: 1e9, groups: [ORDERS] }, 'waitMs'],
    [{ seen: 'x', groups: [ORDERS] }, 'seen'],
    [{ groups: [{ admitted: {} }] }, 'group'],
    [{ groups: [{ ...ORDERS, admitted: { messages: 0.5 } }] }, 'messages'],
    [{ groups: [{ ...ORDERS, heldBack: 1 }] }, 'heldBack'],
    [{ groups: [{ ...ORDERS, holdBack: true }] }, 'holdBack'],
  ])('%j is named', async (body, named) => {
    const { status, body: problem } = await enforce(body);
    expect([400, 422]).toContain(status);
    expect(problem.detail).toContain(named);
  });
});
