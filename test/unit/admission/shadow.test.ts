import { afterEach, describe, expect, test } from 'vitest';
import { examineGroup } from '../../../src/config/read/group-definition.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import type { Batch, Reservation } from '../../../src/node/api/decision.js';
import type { GroupStatus } from '../../../src/node/api/node-status.js';
import { explainGroup } from '../../../src/node/status/explain-group.js';
import { explanationText } from '../../../src/tools/cli/look/explanation-text.js';
import { type HttpScene, readyScene } from '../http/http-scene.js';

let scene: HttpScene;
afterEach(() => scene.close());

const publish = (messagesPerSecond: number) => ({ publish: { messagesPerSecond } });
/** What refuses everything, and what nothing in here exhausts: neither depends on when a test asks. */
const NOTHING = { quota: publish(0) };
const MUCH = { quota: publish(1e6) };

async function sceneWith(groups: Readonly<Record<string, unknown>>, others: Readonly<Record<string, unknown>> = {}) {
  scene = await readyScene({ groups, ...others });
  return scene.node;
}

async function shadowOf(group: string) {
  const { body } = await scene.get(`/v1/groups/${group}`);
  return (body as unknown as GroupStatus).shadow;
}

describe('mode: shadow', () => {
  test('grants whatever is asked in whatever way, and says what would have been refused', async () => {
    const node = await sceneWith({ a: { ...NOTHING, mode: 'shadow' } });
    expect(node.tryAcquire('a', { messages: 1 })).toEqual({ granted: true, shadow: 'refused' });
    expect(node.tryAcquire('a', { messages: 3 }, { atMost: true })).toMatchObject({ messages: 3, shadow: 'refused' });
    expect(await node.acquire('a', { messages: 1 }, { waitMs: 100 })).toMatchObject({
      granted: true,
      shadow: 'refused',
    });
    expect(node.containsTokens('a', { messages: 5 })).toBe(true);
    const reservation = node.reserve('a', { messages: 2 }) as Reservation;
    expect(reservation).toMatchObject({ granted: true, shadow: 'refused' });
    reservation.commit({ messages: 2 });
    const batch = node.gate.batches.tryTake('a', { messages: 4 }) as Batch;
    expect(batch).toMatchObject({ granted: true, messages: 4 });
    batch.refund({ messages: 4 });
    expect(node.gate.batches.tryTake('a', 'all')).toMatchObject({ granted: true, messages: 1 });
    // More than a group with this quota would call a mistake.
    expect(node.tryAcquire('a', { messages: 1000 })).toEqual({ granted: true, shadow: 'refused' });
    const { shadow, directions } = (await scene.get('/v1/groups/a')).body as unknown as GroupStatus;
    const { wouldRefuse, admittedMessages, refusedBecause } = shadow!.directions.publish;
    expect(shadow).toMatchObject({ kind: 'group', strategy: 'max-min' });
    expect(admittedMessages).toBe(0);
    expect(wouldRefuse.requests).toBe(7);
    expect(refusedBecause).toMatchObject([{ level: 'group', dimension: 'messages', reason: 'messages', count: 7 }]);
    expect(directions.publish.local).toMatchObject({ refusedMessages: 0 });
    // The refunded batch was no work, and one that is open has not ended.
    expect(directions.publish.local.admittedMessages).toBe(1 + 3 + 1 + 2 + 1000);
  });

  test('of one group leaves the others of the same work in force', async () => {
    const attachments = {
      scopes: {
        acme: { group: 'a' },
        'acme/orders': { group: 'b', andBroader: true },
        'acme/closed': { group: 'c', andBroader: true },
      },
    };
    const node = await sceneWith({ a: { ...NOTHING, mode: 'shadow' }, b: MUCH, c: NOTHING }, { attachments });
    const ask = (namespace: string) => node.tryAcquire({ tenant: 'acme', namespace }, { messages: 1 });
    expect(ask('orders')).toEqual({ granted: true, shadow: 'refused' });
    expect(ask('closed')).toMatchObject({ granted: false, group: 'c' });
    // What another group has refused is not asked about.
    expect((await shadowOf('a'))!.directions.publish.wouldRefuse.requests).toBe(1);
  });

  test('works for keys of a template', async () => {
    const node = await sceneWith({ other: {} }, { keys: { 'key:{id}': { ...NOTHING, mode: 'shadow' } } });
    for (let time = 0; time < 30; time++) expect(node.tryAcquire('key:acme', { messages: 1 }).granted).toBe(true);
    const { body } = await scene.get('/v1/keys/key:acme');
    const { shadow } = body.group as GroupStatus;
    expect(shadow).toMatchObject({ kind: 'group' });
    expect(shadow!.directions.publish.wouldRefuse.requests).toBe(30);
  });
});

describe('shadow: beside what is in force', () => {
  test('says what the plan would have said, by library, status, explanation, metrics and HTTP', async () => {
    const a = { ...MUCH, shadow: NOTHING };
    const node = await sceneWith({ a }, { metrics: { perGroup: 'all' } });
    expect(node.tryAcquire('a', { messages: 1 })).toEqual({ granted: true, shadow: 'refused' });
    const { status, body } = await scene.acquire({ group: 'a', messages: 1 });
    expect([status, body]).toEqual([200, { granted: true, shadow: 'refused' }]);
    const bulk = { requests: [{ group: 'a', messages: 1 }] };
    const answered = await scene.ask('POST', '/v1/acquire/bulk', bulk);
    expect(answered.body).toEqual({ answers: [{ status: 200, granted: true, shadow: 'refused' }] });
    const reserved = await scene.acquire({ group: 'a', messages: 1, reserve: true });
    expect(reserved.body).toMatchObject({ granted: true, shadow: 'refused' });
    const shadow = await shadowOf('a');
    expect(shadow).toMatchObject({ kind: 'planned' });
    expect(shadow!.directions.publish).toMatchObject({
      quotaAsWritten: { messagesPerSecond: 0 },
      admittedMessages: 0,
      refusedMessages: 4,
      wouldRefuse: { requests: 4, messages: 4 },
      wouldGrant: { requests: 0 },
    });
    const text = explanationText(explainGroup(node, 0));
    expect(text).toMatch(/would refuse\s+4 times, 4 messages/);
    expect(await scene.metrics.text()).toContain('quotamesh_group_would_refuse_total{group="a",direction="publish"} 4');
    expect(await scene.metrics.text()).toContain('quotamesh_would_refuse_total{direction="publish"} 4');
    // Work that is done twice, once in force and once in the shadow, is admitted once.
    expect(await scene.metrics.text()).toMatch(/quotamesh_admitted_messages_total{direction="publish"} [34]\n/);
    const listed = (await scene.get('/v1/groups')).body.groups as readonly { readonly group: string }[];
    expect(listed.map(({ group }) => group)).toEqual(['a']);
  });

  test('is asked about a piece of work once, also if that waits or comes again', async () => {
    const node = await sceneWith({ a: { quota: publish(50), burst: 1, shadow: { ...MUCH, burst: 100 } } });
    const asked = Array.from({ length: 10 }, () => node.acquire('a', { messages: 1 }, { waitMs: 5000 }));
    expect((await Promise.all(asked)).every(({ granted }) => granted)).toBe(true);
    node.tryAcquire('a', { messages: 1 }, { retry: true });
    expect((await shadowOf('a'))!.directions.publish.admittedMessages).toBe(10);
  });

  test('comes and goes at run time', async () => {
    const node = await sceneWith({ a: { ...MUCH } });
    expect(await shadowOf('a')).toBeNull();
    const change = (shadow: unknown) => {
      return scene.ask('PATCH', '/v1/groups/a', { shadow });
    };
    expect(await change({ quota: { publish: { messagesPerSecond: 0 } } })).toMatchObject({ status: 200 });
    expect(node.tryAcquire('a', { messages: 1 })).toEqual({ granted: true, shadow: 'refused' });
    expect(await shadowOf('a')).toMatchObject({ kind: 'planned' });
    const { body } = await scene.get('/v1/groups/a/definition');
    expect(body.definition).toMatchObject({ shadow: { quota: { publish: { messagesPerSecond: 0 } } } });
    expect(await change(null)).toMatchObject({ status: 200 });
    expect(node.tryAcquire('a', { messages: 1 })).toEqual({ granted: true });
    expect(await shadowOf('a')).toBeNull();
  });
});

describe('a configuration', () => {
  const mistakesOf = (group: object) =>
    examineGroup('a', group, 'test').mistakes.map(({ path, problem }) => `${path} ${problem}`);

  test('plans with the words of a group, and is written as it was read', async () => {
    await sceneWith({});
    const shadow = { quota: { publish: { messagesPerSecond: '30/min' } }, strategy: 'equal', burst: '2s' };
    const { config } = examineGroup('a', { quota: publish(100), shadow }, 'test');
    expect(config!.shadow).toMatchObject({
      name: 'a (shadow)',
      strategy: 'equal',
      quota: { publish: [0.5, Infinity] },
    });
    expect(config!.shadow!.burst.ofQuota!.publish.messages).toBe(1);
    const { describeGroupConfig } = await import('../../../src/config/describe/describe-config.js');
    const described = describeGroupConfig(config!);
    expect(described.shadow).toEqual({
      quota: { publish: { messagesPerSecond: '30/min' }, dispatch: {} },
      strategy: 'equal',
      burst: { quotaMs: 2000 },
    });
    expect(examineGroup('a', described, 'test').config).toEqual(config);
  });

  test('is told what cannot be planned', async () => {
    await sceneWith({});
    expect(mistakesOf({ ...MUCH, mode: 'shadow', shadow: MUCH })[0]).toMatch(
      /^groups.a.shadow stands beside mode: shadow/,
    );
    expect(mistakesOf({ quota: publish(1), limiter: 'window', shadow: { burst: 5 } })[0]).toMatch(
      /^groups.a.shadow.burst needs a bucket of the cluster/,
    );
    const keys = { 'key:{id}': { ...MUCH, shadow: { quota: publish(1) } } };
    const read = () => resolveConfig({ cluster: 'c', node: 'a', topic: 'memory', keys }, { source: 'test' });
    expect(read).toThrow(/key:{id}.*shadow cannot be planned for keys/s);
  });
});
