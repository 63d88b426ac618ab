import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GroupExplanation } from '../../../src/node/api/group-explanation.js';
import { explanationText } from '../../../src/tools/cli/look/explanation-text.js';
import { type Answer, type HttpScene, readyScene } from './http-scene.js';

const GROUPS = {
  orders: { quota: { publish: { costPerSecond: 600, reservedCostPerSecond: 60 } } },
  other: { quota: { publish: { costPerSecond: 10 } } },
  ramped: { quota: { publish: { messagesPerSecond: 1000 } }, ramp: { fromPerSecond: 100, overMs: '100s' } },
};

describe('costs and backends over HTTP', () => {
  let scene: HttpScene;
  const costs = (body: object) => scene.ask('POST', '/v1/costs', body);
  const backend = (name: string, body: object): Promise<Answer> =>
    scene.ask('PUT', `/v1/backends/${encodeURIComponent(name)}`, body);
  const explain = async () => {
    return (await scene.get('/v1/groups/orders/explain')).body as unknown as GroupExplanation;
  };
  /** Until the record has been read back. */
  const until = async (isTrue: (explanation: GroupExplanation) => boolean) => {
    for (let turn = 0; turn < 100 && !isTrue(await explain()); turn++) await sleep(20);
    return explain();
  };

  beforeAll(async () => {
    scene = await readyScene({ groups: GROUPS, constants: { limiting: { maxBackends: 2 }, costs: { maxLanes: 1 } } });
  });
  afterAll(() => scene.close());

  it('a ramp shows where it stands, in every way there is', async () => {
    const explainRamped = async () =>
      (await scene.get('/v1/groups/ramped/explain')).body as unknown as GroupExplanation;
    const before = await explainRamped();
    expect(before.directions.publish.ramp).toMatchObject({
      mode: 'relaxed',
      state: 'waiting',
      ceiling: 100,
      to: 1000,
    });
    expect(before.directions.publish.inForce.messagesPerSecond).toBe(100);
    expect(before.directions.dispatch.ramp).toBeNull();
    await scene.acquire({ group: 'ramped', messages: 1 });
    const isClimbing = async () => (await explainRamped()).directions.publish.ramp?.state === 'climbing';
    for (let turn = 0; turn < 100 && !(await isClimbing()); turn++) await sleep(20);
    expect(explanationText(await explainRamped())).toMatch(
      /ramp +1\d\d messages\/s: the ramp binds .*relaxed; on its way/,
    );
    const { body } = await scene.get('/v1/groups/ramped');
    expect(body).toMatchObject({ directions: { publish: { ramp: { state: 'climbing' } }, dispatch: { ramp: null } } });
  });

  it('before any cost is known the expected one counts', async () => {
    const { publish } = (await explain()).directions;
    expect(publish.desired).toBe(600);
    expect(publish.binding).toBe('cost');
    expect(explanationText(await explain())).toContain('not reported yet: 1 units per message expected');
  });

  it('reported costs make the average, and the target follows', async () => {
    await scene.acquire({ group: 'orders', messages: 10 });
    const read = { backend: 'db-1', readBytes: 4096 * 6 };
    const answer = await costs({ group: 'orders', messages: 10, costs: [{ ...read, readBytes: 4096 * 60 }] });
    expect([answer.status, answer.body]).toEqual([202, { accepted: true }]);
    const { publish } = (await until(({ directions }) => directions.publish.cost.average > 5)).directions;
    expect(publish.cost.average).toBeCloseTo(6, 5);
    expect(publish.target).toBeCloseTo(100, 3);
    expect(publish.reserved).toBeCloseTo(10, 3);
    expect(publish.inForce.messagesPerSecond).toBeCloseTo(100, 3);
  });

  it('a saturated backend limits, down to what is reserved, and explain names it', async () => {
    const { status, body: answer } = await backend('db-1', { zone: 'a', level: 1200, target: 800, spring: 200 });
    expect([status, answer]).toEqual([202, { accepted: true }]);
    const explanation = await until(({ directions }) => directions.publish.limiting.deciding !== null);
    const { publish } = explanation.directions;
    expect(publish.limiting.deciding).toMatchObject({ zone: 'a', backend: 'db-1' });
    expect(publish.binding).toBe('reserved');
    expect(publish.target).toBeCloseTo(10, 3);
    const text = explanationText(explanation);
    expect(text).toMatch(/backend +db-1 in zone a: .* units\/s, bears 0\.5 of its work/);
    expect(text).toMatch(/target +10 messages\/s: saturated backends bind; the reserved part is never taken away/);
    const { body } = await scene.get('/v1/backends');
    expect(body).toMatchObject({
      backends: [{ backend: 'db-1', throttlingRatio: 0.5, busiestGroups: [{ group: 'orders', busyness: 1 }] }],
    });
  });

  it('a backend that is well again limits nothing', async () => {
    await backend('db-1', { zone: 'a', throttlingRatio: null });
    const { publish } = (await until(({ directions }) => directions.publish.limiting.deciding === null)).directions;
    expect(publish.binding).toBe('cost');
  });

  it('full tables refuse loudly', async () => {
    const { status, body } = await costs({ group: 'other', costs: [{ units: 1 }] });
    expect([status, body.code]).toEqual([503, 'COSTS_FULL']);
    await backend('db-2', { throttlingRatio: 1 });
    await until(() => [...(scene.node.coordinator?.targets.backends.all() ?? [])].length === 2);
    const third = await backend('db-3', { throttlingRatio: 1 });
    expect([third.status, third.body.code]).toEqual([503, 'BACKENDS_FULL']);
    expect(third.body.detail).toContain('db-3');
  });

  it('an unknown group is told', async () => {
    expect((await scene.get('/v1/groups/nope/explain')).status).toBe(404);
  });
});

describe('what is seen of it', () => {
  it('one log line per group in use and interval, when switched on, and metrics', async () => {
    const scene = await readyScene({ groups: GROUPS, log: { targetEveryMs: 100 }, metrics: { perGroup: 'all' } });
    await scene.acquire({ group: 'orders', messages: 10 });
    scene.node.reportCost('orders', { backend: 'db', units: 60 }, { messages: 10 });
    scene.node.reportBackend('db', { throttlingRatio: 0.1 });
    const told = () => scene.log.filter(({ message }) => message === 'target');
    const isWhole = () => told().length > 2 && told().at(-1)?.facts?.busy === true;
    for (let turn = 0; turn < 500 && !isWhole(); turn++) await sleep(20);
    const lines = told();
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.at(-1)?.facts).toMatchObject({ group: 'orders', direction: 'publish', busy: true });
    const text = await scene.metrics.text();
    expect(text).toContain('quotamesh_busy_lanes 1');
    expect(text).toContain('quotamesh_backends{state="saturated"} 1');
    const target = /quotamesh_group_target_messages_per_second\{group="orders",direction="publish"\} (\S+)/.exec(text);
    expect(Number(target?.[1])).toBeCloseTo(10, 3);
    await scene.close();
  });
});

describe('why refused', () => {
  const because = async (scene: HttpScene) => {
    const { body } = await scene.get('/v1/groups/orders/explain');
    const explanation = body as unknown as GroupExplanation;
    return { explanation, reasons: explanation.directions.publish.local.refusedBecause };
  };

  it('explain tells level, dimension, reason, how often and when; status and metrics name the busy group', async () => {
    const perClient = { publish: { messagesPerSecond: 0 } };
    const groups = { ...GROUPS, clients: { quota: { publish: { messagesPerSecond: 100 } }, perClient } };
    const scene = await readyScene({ groups, metrics: { perGroup: 'all' } });
    while ((await scene.acquire({ group: 'orders', messages: 50 })).status === 200);
    expect((await because(scene)).reasons).toMatchObject([
      { level: 'group', dimension: 'messages', reason: 'cost', count: 1 },
    ]);
    scene.node.reportCost('orders', { backend: 'db', units: 60 }, { messages: 10 });
    scene.node.reportBackend('db', { throttlingRatio: 0.1 });
    for (let turn = 0; turn < 100 && scene.node.status().busyLanes === 0; turn++) await sleep(20);
    expect(scene.node.status()).toMatchObject({
      busyLanes: 1,
      busyGroups: [{ group: 'orders', direction: 'publish', binding: 'reserved' }],
    });
    for (let refused = 0; refused < 3; ) {
      if ((await scene.acquire({ group: 'orders', messages: 50 })).status === 429) refused++;
    }
    const { reasons, explanation } = await because(scene);
    expect(reasons).toMatchObject([
      { level: 'group', dimension: 'messages', reason: 'reserved', count: 3 },
      { level: 'group', dimension: 'messages', reason: 'cost', count: 1 },
    ]);
    expect(reasons[0]?.lastAgoMs).toBeLessThan(reasons[1]?.lastAgoMs);
    expect(explanationText(explanation)).toMatch(
      /because +group, messages: saturated backends bind; the reserved.*3 times/,
    );
    expect(await scene.metrics.text()).toContain('quotamesh_group_busy{group="orders",direction="publish"} 1');
    await scene.acquire({ group: 'clients', messages: 1 });
    const { body } = await scene.get('/v1/groups/clients/explain');
    expect((body as unknown as GroupExplanation).directions.publish.local.refusedBecause).toMatchObject([
      { level: 'client', dimension: 'messages', reason: 'own-limit', count: 1 },
    ]);
    await scene.close();
  });
});
