import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writtenHash } from '../../../src/base/access/token.js';
import { callerOf } from '../../../src/doors/http/access/caller.js';
import { RouteGuard } from '../../../src/doors/http/access/route-guard.js';
import { KnownPaths } from '../../../src/doors/http/route/known-paths.js';
import { type HttpScene, httpScene, type Method, readyScene } from '../http/http-scene.js';
import { AUTH, bearer, MANY_FAILURES, TOKENS } from './access-scene.js';

let scene: HttpScene;
beforeAll(async () => {
  scene = await readyScene({ auth: AUTH, constants: MANY_FAILURES });
});
afterAll(() => scene.close());

function ask(method: Method, url: string, token: string, body?: object, of = scene) {
  return of.ask(method, url, body, { headers: bearer(token) });
}

describe('a caller with tenants', () => {
  test('changes attachments of its tenants, and no others', async () => {
    const put = (scope: string, body: object) => ask('PUT', `/v1/attachments/${scope}`, TOKENS.acme, body);
    expect((await put('acme/sales', { group: 'orders' })).status).toBe(200);
    expect((await put('acme/other', { sameAs: 'acme/sales' })).status).toBe(200);
    for (const scope of ['other/sales', 'other%2Facme', 'acme2', 'ACME/sales', '%61cmes/x']) {
      expect((await put(scope, { group: 'orders' })).body, scope).toMatchObject({
        status: 403,
        code: 'TENANT_DENIED',
      });
    }
    expect((await ask('DELETE', '/v1/attachments/other/sales', TOKENS.acme)).status).toBe(403);
    expect((await ask('DELETE', '/v1/attachments/acme/other', TOKENS.acme)).status).toBe(204);
  });

  test('does not lift its limits, nor follow another tenant', async () => {
    for (const body of [{ exempt: true }, { sameAs: 'other' }, { sameAs: 'other/acme' }]) {
      const answer = await ask('PUT', '/v1/attachments/acme/sales', TOKENS.acme, body);
      expect(answer.body, JSON.stringify(body)).toMatchObject({ status: 403, code: 'TENANT_DENIED' });
    }
    expect((await ask('PUT', '/v1/attachments/acme/sales', TOKENS.operator, { exempt: true })).status).toBe(200);
    expect((await ask('DELETE', '/v1/attachments/acme/sales', TOKENS.operator)).status).toBe(204);
  });

  test('cannot replace, detach or hide what the cluster’s operator has attached', async () => {
    const url = '/v1/attachments/acme/given';
    const { revision } = (await ask('PUT', url, TOKENS.operator, { group: 'orders' })).body;
    const denied = { status: 403, code: 'ATTACHMENT_OWNED' };
    for (const body of [{ group: 'free' }, { group: 'orders', andBroader: true }]) {
      expect((await ask('PUT', url, TOKENS.acme, body)).body).toMatchObject(denied);
    }
    const refused = await ask('DELETE', url, TOKENS.acme);
    expect(refused.body).toMatchObject(denied);
    expect(refused.body.detail).toContain("acme/given was attached by the cluster's operator");
    const pulsar = '/admin/v2/namespaces/acme/given/resourcegroup';
    expect((await ask('POST', `${pulsar}/free`, TOKENS.acme)).body).toMatchObject(denied);
    expect((await ask('DELETE', pulsar, TOKENS.acme)).body).toMatchObject(denied);
    expect((await ask('GET', url, TOKENS.acme)).body).toMatchObject({
      revision,
      attachment: { group: 'orders' },
      attachedBy: null,
    });
    // A topic of it goes to another group only beside the one that the operator has chosen.
    const topic = `${url}/topic`;
    expect((await ask('PUT', topic, TOKENS.acme, { group: 'free' })).body).toMatchObject(denied);
    expect((await ask('PUT', topic, TOKENS.acme, { group: 'free', andBroader: true })).status).toBe(200);
    expect((await ask('GET', '/v1/which?tenant=acme&namespace=given&topic=topic', TOKENS.acme)).body).toMatchObject({
      groups: ['free', 'orders'],
    });
    expect((await ask('DELETE', topic, TOKENS.acme)).status).toBe(204);
    expect((await ask('DELETE', url, TOKENS.operator)).status).toBe(204);
  });

  test('changes what it has attached itself, as the operator may; the trail tells the scope', async () => {
    const url = '/v1/attachments/acme/own';
    const shown = (await ask('PUT', url, TOKENS.acme, { group: 'orders' })).body;
    expect(shown).toMatchObject({ attachment: { group: 'orders' }, attachedBy: ['acme'] });
    expect((await ask('PUT', url, TOKENS.acme, { group: 'free' })).status).toBe(200);
    expect((await ask('DELETE', url, TOKENS.acme)).status).toBe(204);
    await ask('PUT', url, TOKENS.acme, { group: 'free' });
    // From now on it is the operator's.
    expect((await ask('PUT', url, TOKENS.operator, { group: 'orders' })).body).toMatchObject({ attachedBy: null });
    expect((await ask('DELETE', url, TOKENS.acme)).body).toMatchObject({ code: 'ATTACHMENT_OWNED' });
    const { changes } = (await ask('GET', '/v1/audit', TOKENS.operator)).body;
    expect((changes as unknown[]).at(-1)).toMatchObject({
      before: { group: 'free', attachedBy: ['acme'] },
      after: { group: 'orders' },
      who: { name: 'operator' },
    });
    expect((await ask('DELETE', url, TOKENS.operator)).status).toBe(204);
  });

  test('has no say over a scope of YAML, nor over one attached by a token of more tenants', async () => {
    const tokens = [
      ...AUTH.tokens,
      { name: 'both', roles: ['operator'], tenants: ['acme', 'beta'], hash: writtenHash('qm_both') },
    ];
    const attachments = { scopes: { 'acme/yaml': 'orders' } };
    const other = await readyScene({ auth: { ...AUTH, tokens }, attachments });
    const send = (method: Method, scope: string, token: string, body?: object) =>
      ask(method, `/v1/attachments/${scope}`, token, body, other);
    const free = { group: 'free' };
    expect((await send('PUT', 'acme/yaml', TOKENS.acme, free)).body).toMatchObject({ code: 'ATTACHMENT_OWNED' });
    expect((await send('PUT', 'acme/shared', 'qm_both', free)).status).toBe(200);
    expect((await send('DELETE', 'acme/shared', TOKENS.acme)).body.detail).toContain(
      'a caller of the tenants acme, beta',
    );
    expect((await send('DELETE', 'acme/shared', 'qm_both')).status).toBe(204);
    // Nobody says by hand whose it is.
    const claimed = { ...free, attachedBy: ['acme'] };
    expect((await send('PUT', 'acme/shared', TOKENS.acme, claimed)).body).toMatchObject({
      code: 'ATTACHMENT_INVALID',
    });
    await other.close();
  });

  test('of an operator and a tenant at the same moment, the operator’s attachment stays', async () => {
    for (let round = 0; round < 20; round++) {
      const url = `/v1/attachments/acme/race-${round}`;
      const [, late] = await Promise.all([
        ask('PUT', url, TOKENS.operator, { group: 'orders' }),
        ask('PUT', url, TOKENS.acme, { group: 'free' }),
      ]);
      expect([200, 403]).toContain(late.status);
      expect((await ask('GET', url, TOKENS.viewer)).body).toMatchObject({ attachment: { group: 'orders' } });
      expect((await ask('DELETE', url, TOKENS.acme)).status).toBe(403);
    }
  });

  test('the same below Pulsar’s paths, with a reason as its client prints it', async () => {
    const path = (tenant: string) => `/admin/v2/namespaces/${tenant}/sales/resourcegroup/orders`;
    expect((await ask('POST', path('acme'), TOKENS.acme)).status).toBe(204);
    const refused = await ask('POST', path('other'), TOKENS.acme);
    expect(refused.status).toBe(403);
    expect(refused.body.reason).toMatch(/acme may change attachments of acme alone: not other/);
    expect((await ask('PUT', '/v1/groups/new', TOKENS.acme, {})).body).toMatchObject({ code: 'TENANT_DENIED' });
  });
});

describe('what a refusal says', () => {
  test('401 how to ask, 403 the role that it takes', async () => {
    const unknown = await scene.get('/v1/groups');
    expect(unknown.headers['www-authenticate']).toBe('Bearer realm="quotamesh"');
    expect(unknown.body).toMatchObject({
      status: 401,
      code: 'AUTH_FAILED',
      remedy: expect.stringContaining('Bearer'),
    });
    const refused = await ask('PUT', '/v1/groups/new', TOKENS.viewer, {});
    expect(refused.headers['www-authenticate']).toMatch(/error="insufficient_scope", scope="operator"/);
    expect(refused.body.detail).toBe(
      'viewer may not PUT /v1/groups/new: that takes the role operator, and it has viewer',
    );
    const basic = await scene.ask('GET', '/v1/groups', undefined, { headers: { authorization: 'Basic eDp5' } });
    expect(basic.body.detail).toMatch(/Authorization is no Bearer token/);
  });

  test('a token counts in any case of the scheme, and never shows in an answer or a log line', async () => {
    const given = { authorization: `bearer   ${TOKENS.viewer}` };
    expect((await scene.ask('GET', '/v1/groups', undefined, { headers: given })).status).toBe(200);
    const wrong = await ask('GET', '/v1/groups', 'qm_SECRET');
    expect(JSON.stringify([wrong, scene.log])).not.toContain('SECRET');
  });

  test('the line of a change that a stranger asked for says that nobody knows who it was', async () => {
    const strict = await httpScene({ auth: AUTH, constants: { auth: { failuresPerMinute: 1 } } });
    for (let times = 0; times < 2; times++) await ask('PUT', '/v1/groups/orders', 'qm_wrong', {}, strict);
    const lines = strict.log.flatMap(({ facts }) => (facts?.audit === true ? [[facts.code, facts.who]] : []));
    const stranger = { name: null, how: 'unknown', requestId: expect.any(String) };
    expect(lines).toEqual([
      ['AUTH_FAILED', stranger],
      ['AUTH_LIMITED', stranger],
    ]);
    await strict.close();
  });

  test('429 with Retry-After after too many failures, counted in metrics and status', async () => {
    const strict = await httpScene({ auth: AUTH, constants: { auth: { failuresPerMinute: 2 } } });
    const wrong = () => ask('GET', '/v1/groups', 'qm_wrong', undefined, strict);
    expect([await wrong(), await wrong()].map(({ status }) => status)).toEqual([401, 401]);
    const limited = await wrong();
    expect(limited.body).toMatchObject({ status: 429, code: 'AUTH_LIMITED' });
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(50);
    expect((await strict.get('/livez')).status).toBe(200);
    expect(await strict.metrics.text()).toContain('quotamesh_auth_failures_total{listener="http",reason="unknown"} 2');
    expect(strict.access.status.failures).toEqual({ 'http unknown': 2, 'http limited': 1 });
    await strict.close();
  });
});

describe('a listening server', () => {
  test('knows the caller of a connection, and forgets it when the tokens change', async () => {
    const live = await readyScene({ auth: AUTH, http: { port: 0 } });
    const url = await live.app.listen({ host: '127.0.0.1', port: 0 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = (token: string, path = '/v1/groups') =>
      new Promise<number>((resolve, reject) => {
        request(new URL(path, url), { agent, headers: bearer(token) }, (answer) => {
          answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
        })
          .once('error', reject)
          .end();
      });
    // One connection: another token on it is another caller.
    expect([await ask(TOKENS.viewer), await ask(TOKENS.viewer)]).toEqual([200, 200]);
    expect([await ask(TOKENS.traffic), await ask('qm_wrong'), await ask(TOKENS.viewer)]).toEqual([403, 401, 200]);
    const { auth } = live.node.config;
    live.access.take({ ...auth!, tokens: [{ ...auth!.tokens[0], hash: writtenHash('qm_new').slice(7) }] });
    expect([await ask(TOKENS.viewer), await ask(TOKENS.admin), await ask('qm_new')]).toEqual([401, 401, 200]);
    agent.destroy();
    await live.close();
  });

  test('without auth every caller has every role, and is called by where it is', async () => {
    const open = await httpScene();
    expect((await open.app.inject({ url: '/v1/groups' })).statusCode).toBe(200);
    const change = { method: 'PUT', url: '/v1/groups/new', payload: {} } as const;
    const fromFar = await open.app.inject({ ...change, remoteAddress: '10.0.0.7' });
    expect(fromFar.json()).toMatchObject({ status: 403, code: 'CHANGE_NOT_LOCAL' });
    // Nobody's word for where he is counts.
    for (const headers of [{ 'x-forwarded-for': '127.0.0.1' }, { forwarded: 'for=127.0.0.1' }, { host: 'localhost' }]) {
      const claimed = await open.app.inject({ ...change, headers, remoteAddress: '10.0.0.7' });
      expect(claimed.json(), JSON.stringify(headers)).toMatchObject({ status: 403, code: 'CHANGE_NOT_LOCAL' });
    }
    expect(callerOf({ socket: { remoteAddress: '10.0.0.7' } })).toMatchObject({
      name: '10.0.0.7',
      how: 'open',
      tenants: null,
    });
    expect(callerOf({ socket: { remoteAddress: '::ffff:127.0.0.1' } }).name).toBe('loopback');
    await open.close();
    // With auth the role decides, from everywhere.
    const allowed = await scene.app.inject({ ...change, headers: bearer(TOKENS.operator), remoteAddress: '10.0.0.7' });
    expect(allowed.statusCode).toBe(201);
    await sleep(0);
  });

  test('a route that does not say which role it needs fails at the start', async () => {
    const app = fastify();
    new RouteGuard(scene.access, { remoteChanges: false, listensOn: '127.0.0.1' }).guard(app, new KnownPaths(app));
    expect(() => app.get('/new', () => 'x')).toThrow(/invariant broken: GET \/new does not say which role it needs/);
    await app.close();
  });
});
