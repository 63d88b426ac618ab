import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GROUPS, type HttpScene, type Method, readyScene, settled } from './http-scene.js';

/** Two nodes of one cluster, where one alone does not show it. */
let a: HttpScene;
let b: HttpScene;
let clusters = 0;

const LIMITED = {
  groups: {
    ...GROUPS,
    gold: { quota: { publish: { messagesPerSecond: 1000 } }, debtMs: 1000, strategy: 'equal' },
    tight: { quota: { publish: { messagesPerSecond: 0 } } },
  },
  attachments: {
    scopes: {
      acme: 'gold',
      'acme/orders': { group: 'orders', andBroader: true },
      'acme/stopped': { group: 'free', andBroader: true },
      stopped: 'tight',
      'stopped/open': { group: 'gold', andBroader: true },
      'acme/replicated': { exempt: true },
    },
    rules: [
      { client: 'replicator-*', exempt: true },
      { headers: { 'X-Tier': 'blocked' }, group: 'blocked' },
    ],
  },
};

beforeEach(async () => {
  const cluster = `attachments-${process.pid}-${clusters++}`;
  a = await readyScene({ cluster, node: 'a', ...LIMITED });
});
afterEach(() => a.close());

function ask(scene: HttpScene, method: Method, path: string, payload?: unknown) {
  return scene.ask(method, `/v1/attachments/${path}`, payload);
}

describe('an acquire that names a scope', () => {
  it('is granted by all its groups, charged in each of them, and the node answers with the fields of the first', async () => {
    const lane = (group: string) => a.node.limiter.admitted.at(4 * a.node.gate.groupIndex(group));
    const before = [lane('orders'), lane('gold')];
    const { status, headers } = await a.acquire({ tenant: 'acme', namespace: 'orders', messages: 3 });
    expect(status).toBe(200);
    expect(headers.ratelimit).toContain('orders');
    expect([lane('orders'), lane('gold')]).toEqual([before[0] + 3, before[1] + 3]);
  });

  it('is refused by the stricter one, which the answer names, and then nothing is charged', async () => {
    const gold = () => a.node.limiter.admitted.at(4 * a.node.gate.groupIndex('gold'));
    const before = gold();
    const refused = await a.acquire({ tenant: 'stopped', namespace: 'open', messages: 1 });
    expect(refused).toMatchObject({ status: 429, body: { group: 'tight', level: 'group' } });
    expect(gold()).toBe(before);
    const attempted = a.node.limiter.attempted;
    expect(attempted.at(4 * a.node.gate.groupIndex('tight'))).toBe(1);
    expect(attempted.at(4 * a.node.gate.groupIndex('gold'))).toBe(before);
  });

  it('waits for the stricter one, and others of its line need not', async () => {
    const waiting = a.acquire({ tenant: 'stopped', namespace: 'open', messages: 1, waitMs: 300 });
    await sleep(20);
    const passing = await a.acquire({ tenant: 'acme', messages: 1, waitMs: 200 });
    expect(passing.status).toBe(200);
    expect(await waiting).toMatchObject({ status: 429, body: { group: 'tight' } });
  });

  it('reserves in all, commits in all', async () => {
    const admitted = (group: string) => a.node.limiter.admitted.at(4 * a.node.gate.groupIndex(group));
    const reserved = await a.acquire({ tenant: 'acme', namespace: 'orders', messages: 5, reserve: true });
    expect(reserved.status).toBe(200);
    const before = [admitted('orders'), admitted('gold')];
    await a.ask('POST', '/v1/commit', { id: reserved.body.id, messages: 2 });
    expect([admitted('orders'), admitted('gold')]).toEqual([before[0] + 2, before[1] + 2]);
  });

  it.each([
    ['an exempt namespace', { tenant: 'acme', namespace: 'replicated', messages: 1e9 }],
    ['a client', { tenant: 'stopped', client: 'replicator-eu', messages: 7 }],
  ])('exempt by %s: granted, and counted apart', async (_, body) => {
    expect(await a.acquire(body)).toMatchObject({ status: 200, body: { granted: true } });
    expect(a.node.gate.scopes.exempt[0]).toMatchObject({ requests: 1, messages: body.messages });
    expect((await a.app.inject('/metrics')).body).toContain(
      `quotamesh_exempt_messages_total{direction="publish"} ${body.messages}`,
    );
  });

  it.each([
    ['attached to nothing', { tenant: 'nobody', messages: 1 }, 404, 'SCOPE_UNATTACHED'],
    ['by a header', { headers: { 'x-TIER': 'blocked' }, messages: 1 }, 429, 'QUOTA_EXCEEDED'],
    ['odd names', { tenant: '..', namespace: ' é\u0000', messages: 1 }, 404, 'SCOPE_UNATTACHED'],
    ['a prototype', { tenant: '__proto__', messages: 1 }, 404, 'SCOPE_UNATTACHED'],
    [
      'above maxRequest of one of them',
      { tenant: 'acme', namespace: 'orders', messages: 1e9 },
      422,
      'AMOUNT_ABOVE_MAX_REQUEST',
    ],
  ])('%s', async (_, body, status, code) => {
    const answer = await a.acquire(body);
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
  });

  it('the library answers as HTTP does', async () => {
    expect(a.node.tryAcquire({ tenant: 'acme' }, { messages: 1 })).toEqual({ granted: true });
    const scope = { tenant: 'stopped', namespace: 'open' };
    expect(a.node.tryAcquire(scope, { messages: 1 })).toMatchObject({ granted: false, group: 'tight' });
    expect(a.node.containsTokens(scope, { messages: 1 })).toBe(false);
    expect(() => a.node.tryAcquire({ tenat: 'acme' } as object, { messages: 1 })).toThrow('tenat is not known');
    const part = a.node.tryAcquire({ tenant: 'acme', namespace: 'orders' }, { messages: 400 }, { atMost: true });
    expect(part).toMatchObject({ granted: true });
    a.node.consume(scope, { messages: 1 });
    await expect(a.node.acquire(scope, { messages: 1 }, { waitMs: 10 })).resolves.toMatchObject({ granted: false });
  });

  it('/v1/which takes as many headers as an acquire', async () => {
    const which = (count: number) => a.get(`/v1/which?${Array(count).fill('header=x:y').join('&')}`);
    expect((await which(100)).status).toBe(200);
    expect(await which(101)).toMatchObject({ status: 422, body: { code: 'FIELD_INVALID' } });
  });

  it('/v1/which explains', async () => {
    const { body } = await a.get('/v1/which?tenant=acme&namespace=orders&topic=x');
    expect(body).toMatchObject({
      groups: ['orders', 'gold'],
      exempt: false,
      because: [
        { level: 'namespace', at: 'acme/orders', origin: 'yaml', group: 'orders', andBroader: true },
        { level: 'tenant', at: 'acme', group: 'gold' },
      ],
    });
    expect((await a.get('/v1/which?header=x-tier:blocked')).body).toMatchObject({ groups: ['blocked'] });
  });
});

describe('attachments at run time', () => {
  beforeEach(async () => {
    b = await readyScene({ cluster: a.node.config.cluster, node: 'b', ...LIMITED });
  });
  afterEach(() => b.close());

  it('attached at one node, a namespace is limited at both; detached, YAML is in force again', async () => {
    const put = await ask(a, 'PUT', 'acme/new', { group: 'blocked' });
    expect(put).toMatchObject({ status: 200, body: { scope: 'acme/new', origin: 'run-time' } });
    expect(put.headers.etag).toBe(`"${put.body.revision}"`);
    await settled(a, b);
    for (const scene of [a, b]) {
      expect((await scene.acquire({ tenant: 'acme', namespace: 'new', messages: 1 })).status).toBe(429);
    }
    expect((await ask(b, 'DELETE', 'acme/new')).status).toBe(204);
    await settled(a, b);
    expect((await a.acquire({ tenant: 'acme', namespace: 'new', messages: 1 })).status).toBe(200);
    await ask(a, 'PUT', 'acme', { group: 'blocked' });
    await ask(a, 'DELETE', 'acme');
    expect((await ask(a, 'GET', 'acme')).body).toMatchObject({ origin: 'yaml', revision: 0 });
    expect((await a.get('/v1/groups')).body.groups).toHaveLength(6);
  });

  it('a PUT that cannot be is refused by its code, and changes nothing', async () => {
    const refused: readonly [path: string, body: unknown, status: number, code: string][] = [
      ['acme/x', { group: 'missing' }, 412, 'ATTACHMENT_DANGLING'],
      ['acme/x', { sameAs: 'nowhere' }, 412, 'ATTACHMENT_DANGLING'],
      ['acme', { sameAs: 'acme' }, 422, 'ATTACHMENT_CYCLIC'],
      ['acme/x', { group: 'gold', exempt: true }, 422, 'ATTACHMENT_INVALID'],
      ['acme/x', {}, 422, 'ATTACHMENT_INVALID'],
      ['acme/x', [], 400, 'BODY_INVALID'],
      ['a%20b', { group: 'gold' }, 422, 'ATTACHMENT_INVALID'],
      ['%C3%A9', { group: 'gold' }, 422, 'ATTACHMENT_INVALID'],
      ['acme/%2e%2e', { group: 'gold' }, 422, 'ATTACHMENT_INVALID'],
      ['x'.repeat(900), { group: 'gold' }, 422, 'ATTACHMENT_INVALID'],
    ];
    const before = (await a.get('/v1/attachments')).body;
    for (const [path, body, status, code] of refused) {
      const answer = await ask(a, 'PUT', path, body);
      expect({ path, body, status: answer.status, code: answer.body.code }).toEqual({ path, body, status, code });
      expect((await a.get('/v1/attachments')).body, path).toEqual(before);
    }
  });

  it('a circle over two scopes is refused, and a scope that others lead to cannot be detached', async () => {
    await ask(a, 'PUT', 'one', { group: 'gold' });
    await ask(a, 'PUT', 'two', { sameAs: 'one' });
    expect((await ask(a, 'PUT', 'one', { sameAs: 'two' })).body).toMatchObject({ code: 'ATTACHMENT_CYCLIC' });
    expect((await ask(a, 'DELETE', 'one')).body).toMatchObject({ code: 'ATTACHMENT_IN_USE' });
  });

  it('what YAML attaches cannot be detached, what is attached to nothing neither', async () => {
    expect(await ask(a, 'DELETE', 'acme')).toMatchObject({ status: 409, body: { code: 'FROM_YAML' } });
    expect(await ask(a, 'DELETE', 'nobody')).toMatchObject({ status: 404, body: { code: 'ATTACHMENT_UNKNOWN' } });
  });

  it('a group in use is not deleted; with force, its scopes are detached', async () => {
    const url = '/v1/groups/brief';
    await a.ask('PUT', url, {});
    await ask(a, 'PUT', 'acme/brief', { group: 'brief' });
    await ask(a, 'PUT', 'acme/same', { sameAs: 'acme/brief' });
    const refused = await a.ask('DELETE', url);
    expect(refused).toMatchObject({ status: 412, body: { code: 'GROUP_IN_USE' } });
    expect(refused.body.detail).toContain('acme/brief, acme/same are attached');
    expect((await a.ask('DELETE', `${url}?force=true`)).status).toBe(204);
    expect((await ask(a, 'GET', 'acme/brief')).status).toBe(404);
    expect((await a.get('/readyz')).body.degraded).toEqual([]);
  });

  it('deletion with force brings back what YAML says of the scopes, also where YAML leads to one of them', async () => {
    const scopes = { under: 'orders', over: { sameAs: 'under' } };
    const c = await readyScene({ cluster: `${a.node.config.cluster}-c`, groups: GROUPS, attachments: { scopes } });
    await c.ask('PUT', '/v1/groups/brief', {});
    await ask(c, 'PUT', 'under', { group: 'brief' });
    const refused = await c.ask('DELETE', '/v1/groups/brief');
    expect(refused.body.detail).toContain('under, over are attached');
    expect((await c.ask('DELETE', '/v1/groups/brief?force=true')).status).toBe(204);
    expect((await c.get('/v1/which?tenant=over')).body).toMatchObject({ groups: ['orders'] });
    expect((await c.get('/readyz')).body.degraded).toEqual([]);
    await c.close();
  });
});
