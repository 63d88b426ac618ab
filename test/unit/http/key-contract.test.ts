import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GroupRules } from '../../../src/doors/mqtt/group-rules.js';
import type { WholeNode } from '../../whole-node.js';
import { type HttpScene, readyScene } from './http-scene.js';

let scene: HttpScene;
let node: WholeNode;
beforeAll(async () => {
  scene = await readyScene({
    groups: { rest: {} },
    keys: { 'key:{id}': { quota: { publish: { messagesPerSecond: 1000 } } }, 'topic:{a}/{b}': {} },
    attachments: {
      scopes: { acme: 'key:acme' },
      rules: [
        { headers: { 'x-api-key': '{id}' }, group: 'key:{id}' },
        { topic: 'in/{a}/{b}', group: 'topic:{a}/{b}' },
        { client: 'fixed-*', group: 'key:fixed' },
        { client: '*', group: 'key:{client}' },
      ],
    },
    mqtt: {
      rules: [
        { topic: 'fixed/#', group: 'key:fixed' },
        { username: 'u-*', group: 'key:{username}' },
        { clientId: 'c-*', group: 'key:{clientId}' },
        { group: 'rest' },
      ],
    },
  });
  node = scene.node;
  // What a node may spend without publishing it is there from the first round on in which it is confirmed.
  await sleep(200);
});
afterAll(() => scene.close());

const ONE = { messages: 1 };

describe('every call that takes the name of a group takes that of a key, with no call before it', () => {
  it.each<[string, (key: string) => unknown]>([
    ['tryAcquire', (key) => node.tryAcquire(key, ONE)],
    ['tryAcquire, telling', (key) => node.tryAcquire(key, ONE, { tell: true })],
    ['tryAcquire, a part', (key) => node.tryAcquire(key, ONE, { atMost: true })],
    ['acquire', (key) => node.acquire(key, ONE, { waitMs: 1000 })],
    ['reserve', (key) => node.reserve(key, ONE)],
    ['takeBatch', (key) => node.takeBatch(key, ONE, { waitMs: 1000 })],
    ['containsTokens', (key) => ({ granted: node.containsTokens(key, ONE) })],
    ['consume', (key) => ({ granted: node.consume(key, ONE) === undefined })],
    ['throttleDurationMs', (key) => ({ granted: node.throttleDurationMs(key) >= 0 })],
    ['reportCost', (key) => ({ granted: node.reportCost(key, { units: 1 }) === undefined })],
    [
      'reportCost of several',
      (key) => ({ granted: node.reportCost([key, 'rest'] as never, { units: 1 }) === undefined }),
    ],
  ])('%s', async (name, call) => {
    expect(await call(`key:${name.replace(/[, ]+/g, '-')}`)).toMatchObject({ granted: true });
  });

  it.each<[string, string, (key: string) => object, object]>([
    ['acquire', '/v1/acquire', (group) => ({ group, ...ONE }), { granted: true }],
    ['acquire, by another word', '/v1/acquire', (key) => ({ key, ...ONE }), { granted: true }],
    ['acquire, waiting', '/v1/acquire', (group) => ({ group, ...ONE, waitMs: 1000 }), { granted: true }],
    ['acquire, a part', '/v1/acquire', (group) => ({ group, ...ONE, atMost: true }), { granted: true, messages: 1 }],
    ['acquire, at once', '/v1/acquire', (group) => ({ group, ...ONE, priority: 'immediate' }), { granted: true }],
    ['acquire, reserving', '/v1/acquire', (group) => ({ group, ...ONE, reserve: true }), { id: expect.any(String) }],
    ['bulk', '/v1/acquire/bulk', (group) => ({ requests: [{ group, ...ONE }] }), { answers: [{ granted: true }] }],
    [
      'bulk, by another word',
      '/v1/acquire/bulk',
      (key) => ({ requests: [{ key, ...ONE }] }),
      { answers: [{ granted: true }] },
    ],
    ['take', '/v1/take', (group) => ({ group, ...ONE, waitMs: 1000 }), { granted: true, id: expect.any(String) }],
    ['costs', '/v1/costs', (group) => ({ group, costs: [{ units: 1 }] }), { accepted: true }],
  ])('POST %s', async (name, url, bodyOf, answer) => {
    const payload = bodyOf(`key:http-${name.replace(/[, ]+/g, '-')}`);
    expect((await scene.ask('POST', url, payload)).body).toMatchObject(answer);
  });

  it('a reservation of a key is committed, and what a batch did not use goes back', async () => {
    const reserved = await scene.acquire({ group: 'key:committed', messages: 5, reserve: true });
    const committed = await scene.ask('POST', '/v1/commit', { id: reserved.body.id, messages: 2 });
    expect(committed.body).toMatchObject({ ended: 'committed' });
    const { id } = (await scene.ask('POST', '/v1/take', { group: 'key:batch', messages: 3, waitMs: 1000 })).body;
    expect((await scene.ask('POST', '/v1/refund', { id, messages: 1 })).body).toMatchObject({ ended: true });
  });

  it.each(['', '/explain'])('GET /v1/groups/{key}%s', async (path) => {
    // What a key has cost is told to others.
    node.reportCost('key:shown', { units: 1 });
    const { status, body } = await scene.get(`/v1/groups/key:shown${path}`);
    expect([status, body.group]).toEqual([200, 'key:shown']);
  });
});

describe('attachment rules and scopes give keys', () => {
  it.each([
    [{ headers: { 'x-api-key': 'alice' } }, 'key:alice'],
    [{ topic: 'in/x/y' }, 'topic:x/y'],
    [{ client: 'fixed-1' }, 'key:fixed'],
    [{ client: 'bob' }, 'key:bob'],
    [{ tenant: 'acme' }, 'key:acme'],
  ])('%j', async (scope, key) => {
    expect(await scene.acquire({ ...scope, ...ONE })).toMatchObject({ status: 200, body: { granted: true } });
    // It is granted unpublished, and no group is made of it.
    expect(node.keys?.seen(key)?.group).toBe(null);
    expect(node.tryAcquire(scope, ONE).granted).toBe(true);
    const query = new URLSearchParams(
      Object.entries(scope).map(([name, value]): [string, string] =>
        name === 'headers' ? ['header', 'x-api-key:alice'] : [name, String(value)],
      ),
    );
    expect((await scene.get(`/v1/which?${query}`)).body).toMatchObject({ groups: [key] });
  });

  it('a client of any name is a key, and is shown by it', async () => {
    for (const client of ['a b', 'a/b', '2001:db8::/56', 'Jürgen']) {
      expect((await scene.acquire({ client, ...ONE })).status).toBe(200);
      const key = `key:${client}`;
      expect((await scene.get(`/v1/keys/${encodeURIComponent(key)}`)).body).toMatchObject({ key, used: true });
    }
  });

  it('a scope is attached to a key at run time', async () => {
    const url = '/v1/attachments/other';
    const put = (group: string) => scene.ask('PUT', url, { group });
    expect(await put('key:other')).toMatchObject({ status: 200 });
    expect(await put('kay:other')).toMatchObject({ status: 412 });
    expect((await scene.acquire({ tenant: 'other', ...ONE })).status).toBe(200);
  });

  it.each([
    ['c-1', '', 'in', 'key:c-1'],
    ['c-1', 'u-1', 'in', 'key:u-1'],
    ['c-1', 'u-1', 'fixed/1', 'key:fixed'],
    ['c-/1', '', 'in', 'key:c-/1'],
  ])('MQTT client %s, user %s, topic %s: %s', (clientId, username, topic, group) => {
    const rules = new GroupRules(scene.node.config.mqtt.rules, {
      defaultGroup: null,
      isGroup: (name) => node.groups.numbers.has(name) || node.keys?.isKey(name) === true,
      resolve: (scope) => node.gate.scopes.resolve(scope),
    });
    expect(rules.whereOf({ clientId, username }, topic)).toBe(group);
  });
});

describe('names that are none', () => {
  const names = ['kay:a\nb', 'key', '__proto__', 'constructor', 'toString', `kay:${'x'.repeat(1000)}`];

  it.each(names.map((name) => [name]))('%j is an unknown group everywhere', async (group) => {
    expect(await scene.acquire({ group, ...ONE })).toMatchObject({ status: 404, body: { code: 'GROUP_UNKNOWN' } });
    expect(await scene.acquire({ group, ...ONE, waitMs: 10 })).toMatchObject({ status: 404 });
    const limit = { publish: { messagesPerSecond: '1/min' } };
    expect(await scene.acquire({ key: group, ...ONE, limit })).toMatchObject({ status: 403 });
    expect(await scene.get(`/v1/keys/${encodeURIComponent(group)}`)).toMatchObject({ status: 404 });
    expect(await scene.ask('POST', '/v1/take', { group, ...ONE })).toMatchObject({ status: 404 });
  });

  it('a name of a megabyte costs the library no more than its digest, and nothing where it is none', () => {
    // CPU of this process: what others take of the cores is not what a name costs.
    const began = process.cpuUsage();
    for (let asked = 0; asked < 10; asked++) {
      node.tryAcquire(`key:${'x'.repeat(1e6)}`, ONE);
      expect(() => node.tryAcquire(`kay:${'x'.repeat(1e6)}`, ONE)).toThrow(/not configured/);
    }
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1000).toBeLessThan(2000);
    for (const odd of [undefined, null, 5, Symbol('a'), [], () => 1]) {
      expect(() => node.tryAcquire(odd as never, ONE)).toThrow();
    }
  });

  it('__proto__ and constructor are fine as values of a field', async () => {
    for (const id of ['__proto__', 'constructor', 'hasOwnProperty']) {
      expect(await scene.acquire({ headers: JSON.parse(`{"x-api-key":"${id}"}`), ...ONE })).toMatchObject({
        status: 200,
      });
      expect((await scene.get(`/v1/keys/key:${id}`)).body).toMatchObject({ key: `key:${id}`, silent: true });
    }
  });
});
