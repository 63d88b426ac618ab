import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AUTH, bearer, TOKENS, type Who } from '../access/access-scene.js';
import { type HttpScene, type Method, readyScene } from './http-scene.js';

const PER_MINUTE = (amount: number) => ({ quota: { publish: { messagesPerSecond: `${amount}/min` } } });
const TEMPLATE = `/v1/key-templates/${encodeURIComponent('key:{id}')}`;

let scene: HttpScene;
beforeAll(async () => {
  scene = await readyScene({
    groups: { orders: {} },
    auth: AUTH,
    keys: {
      'user:{id}': { ...PER_MINUTE(60), allowLimits: PER_MINUTE(600) },
      'gate:{id}': { ...PER_MINUTE(60), allowLimits: { ...PER_MINUTE(600), role: 'admin' } },
      'fixed:{id}': PER_MINUTE(60),
    },
  });
});
afterAll(() => scene.close());

function as(role: Who, method: Method, url: string, payload?: object, headers: object = {}) {
  return scene.ask(method, url, payload, { headers: { ...bearer(TOKENS[role]), ...headers } });
}

describe('templates over HTTP', () => {
  it('are made, shown, changed by their revision, told in the trail, and deleted', async () => {
    expect(await as('viewer', 'GET', TEMPLATE)).toMatchObject({
      status: 404,
      body: { code: 'KEY_DEFINITION_UNKNOWN' },
    });
    const made = await as('operator', 'PUT', TEMPLATE, PER_MINUTE(6), { 'if-none-match': '*' });
    expect(made).toMatchObject({ status: 201, body: { kind: 'template', name: 'key:{id}', origin: 'run-time' } });
    expect(await as('traffic', 'POST', '/v1/acquire', { group: 'key:a', messages: 1 })).not.toMatchObject({
      status: 404,
    });
    const again = await as('operator', 'PUT', TEMPLATE, PER_MINUTE(7), { 'if-none-match': '*' });
    expect(again).toMatchObject({ status: 412, body: { code: 'KEY_DEFINITION_CHANGED' } });
    const etag = String(made.headers.etag);
    expect(await as('operator', 'PUT', TEMPLATE, PER_MINUTE(7), { 'if-match': etag })).toMatchObject({ status: 200 });
    expect(await as('operator', 'PUT', TEMPLATE, PER_MINUTE(8), { 'if-match': etag })).toMatchObject({ status: 412 });
    const shown = await as('viewer', 'GET', TEMPLATE);
    expect(shown.body).toMatchObject({ definition: PER_MINUTE(7), origin: 'run-time' });
    const key = await as('operator', 'PUT', '/v1/keys/key:acme', PER_MINUTE(100));
    expect(key).toMatchObject({ status: 201, body: { kind: 'key', name: 'key:acme' } });
    const { definitions } = (await as('viewer', 'GET', '/v1/key-templates')).body;
    expect((definitions as { name: string }[]).map(({ name }) => name)).toEqual([
      'fixed:{id}',
      'gate:{id}',
      'key:{id}',
      'user:{id}',
      'key:acme',
    ]);
    const trail = await as('operator', 'GET', '/v1/audit');
    expect(trail.body).toMatchObject({
      changes: [
        { kind: 'key-template', name: 'key:{id}', what: 'made', who: { name: 'operator' } },
        { kind: 'key-template', what: 'changed' },
        { kind: 'key', name: 'key:acme', what: 'made' },
      ],
    });
    expect(await as('operator', 'DELETE', '/v1/keys/key:acme')).toMatchObject({ status: 204 });
    expect(await as('operator', 'DELETE', TEMPLATE)).toMatchObject({ status: 204 });
    expect(await as('traffic', 'POST', '/v1/acquire', { key: 'key:a', messages: 1 })).toMatchObject({ status: 404 });
    const yaml = `/v1/key-templates/${encodeURIComponent('user:{id}')}`;
    expect(await as('operator', 'DELETE', yaml)).toMatchObject({ status: 409 });
  });

  it('are patched, and a dry run changes nothing and refuses what would be refused', async () => {
    const url = `/v1/key-templates/${encodeURIComponent('patched:{id}')}`;
    const dry = `${url}?dryRun=true`;
    const would = await as('operator', 'PATCH', dry, PER_MINUTE(6));
    expect(would).toMatchObject({ status: 200, body: { dryRun: true, before: null, after: PER_MINUTE(6) } });
    expect(await as('viewer', 'GET', url)).toMatchObject({ status: 404 });
    expect(await as('operator', 'PATCH', url, PER_MINUTE(6))).toMatchObject({ status: 201 });
    const patch = { burst: 3, quota: { publish: { messagesPerSecond: '9/min' } } };
    const after = { quota: { publish: { messagesPerSecond: '9/min' } }, burst: 3 };
    const preview = {
      before: PER_MINUTE(6),
      after,
      kind: 'template',
      name: 'patched:{id}',
      dryRun: true,
      warnings: [],
    };
    expect((await as('operator', 'PATCH', dry, patch)).body).toEqual(preview);
    expect((await as('operator', 'PUT', dry, after)).body).toEqual(preview);
    expect((await as('viewer', 'GET', url)).body).toMatchObject({ definition: PER_MINUTE(6) });
    expect(await as('operator', 'PATCH', url, patch)).toMatchObject({ status: 200, body: { definition: after } });
    expect((await as('operator', 'PATCH', url, { burst: null })).body).toMatchObject({ definition: PER_MINUTE(9) });
    expect((await as('operator', 'DELETE', dry)).body).toMatchObject({ before: PER_MINUTE(9), after: null });
    for (const bad of [{ burst: -1 }, { qouta: {} }]) {
      expect(await as('operator', 'PATCH', dry, bad)).toMatchObject({ status: 422 });
    }
    expect(await as('operator', 'PUT', dry, after, { 'if-match': '"1"' })).toMatchObject({ status: 412 });
    const yaml = `/v1/key-templates/${encodeURIComponent('user:{id}')}`;
    expect(await as('operator', 'DELETE', `${yaml}?dryRun=true`)).toMatchObject({ status: 409 });
    expect(await as('viewer', 'PATCH', url, patch)).toMatchObject({ status: 403 });
    const key = await as('operator', 'PATCH', '/v1/keys/patched:a?dryRun=true', PER_MINUTE(1));
    expect(key.body).toMatchObject({ kind: 'key', before: null, after: PER_MINUTE(1) });
    expect(await as('operator', 'PATCH', '/v1/keys/patched:a', PER_MINUTE(1))).toMatchObject({ status: 201 });
    expect(await as('operator', 'DELETE', '/v1/keys/patched:a')).toMatchObject({ status: 204 });
    expect(await as('operator', 'DELETE', url)).toMatchObject({ status: 204 });
  });

  it.each(['PUT', 'PATCH'] as const)('a preview of %s refuses as the change would', async (method) => {
    const url = `/v1/key-templates/${encodeURIComponent(`${method}:{id}`)}`;
    const none = { 'if-none-match': '*' };
    const both = async (body: object, headers: object) => {
      const answers = await Promise.all(
        ['?dryRun=true', ''].map((query) => as('operator', method, url + query, body, headers)),
      );
      return answers.map(({ status, body: { code } }) => code ?? status);
    };
    const made = await as('operator', 'PUT', url, PER_MINUTE(6));
    const etag = { 'if-match': String(made.headers.etag) };
    await as('operator', 'PUT', url, PER_MINUTE(7));
    expect(await both({ burst: -1 }, etag)).toEqual(['KEY_DEFINITION_INVALID', 'KEY_DEFINITION_INVALID']);
    expect(await both(PER_MINUTE(8), etag)).toEqual(['KEY_DEFINITION_CHANGED', 'KEY_DEFINITION_CHANGED']);
    await as('operator', 'DELETE', url);
    expect(await both(PER_MINUTE(8), none)).toEqual([200, 201]);
  });

  it('asks operators for changes, and viewers to look', async () => {
    expect(await as('traffic', 'PUT', TEMPLATE, {})).toMatchObject({ status: 403, body: { code: 'ROLE_MISSING' } });
    expect(await as('viewer', 'DELETE', '/v1/keys/key:a')).toMatchObject({ status: 403 });
    expect(await as('traffic', 'GET', '/v1/key-templates')).toMatchObject({ status: 403 });
  });
});

describe('a limit with the request', () => {
  const limited = (key: string, perMinute: number, more: object = {}) => {
    return { key, messages: 1, limit: { publish: { messagesPerSecond: `${perMinute}/min` } }, ...more };
  };

  it('is the quota of the key from then on', async () => {
    await as('traffic', 'POST', '/v1/acquire', limited('user:a', 300));
    expect(await as('viewer', 'GET', '/v1/keys/user:a')).toMatchObject({
      status: 200,
      body: { template: 'user:{id}', quota: { publish: { messagesPerSecond: '300/min' } } },
    });
  });

  it.each([
    ['acquire', 'traffic', '/v1/acquire', {}],
    ['a wait', 'traffic', '/v1/acquire', { waitMs: 1 }],
    ['a reservation', 'traffic', '/v1/acquire', { reserve: true }],
    ['what goes at once', 'consume', '/v1/acquire', { priority: 'immediate' }],
    ['a batch', 'traffic', '/v1/take', {}],
  ] as const)('is 403 in %s for whoever may not', async (_, who, url, more) => {
    const denied = { status: 403, body: { code: 'LIMIT_DENIED' } };
    expect(await as(who, 'POST', url, limited('gate:b', 300, more))).toMatchObject(denied);
    expect(await as(who, 'POST', url, limited('fixed:b', 1, more))).toMatchObject(denied);
    expect(await as(who, 'POST', url, limited('user:b', 601, more))).toMatchObject(denied);
    expect(await as(who, 'POST', url, limited('orders', 1, more))).toMatchObject(denied);
    expect(await as('admin', 'POST', url, limited('gate:b', 300, more))).not.toMatchObject({ status: 403 });
  });

  it('is judged by itself in a bulk', async () => {
    const requests = [limited('gate:c', 5), limited('user:c', 5), limited('user:c', -5)];
    const { body } = await as('traffic', 'POST', '/v1/acquire/bulk', { requests });
    const statuses = (body.answers as { status: number }[]).map(({ status }) => status);
    expect([statuses[0], statuses[2]]).toEqual([403, 422]);
    expect([200, 429]).toContain(statuses[1]);
  });

  it('refuses both words for a name, and other shapes', async () => {
    const both = { group: 'user:a', key: 'user:a', messages: 1 };
    expect(await as('traffic', 'POST', '/v1/acquire', both)).toMatchObject({
      status: 422,
      body: { code: 'FIELD_INVALID' },
    });
    for (const limit of [5, 'a', [], null, { publish: 5 }, { a: {} }]) {
      const answer = await as('traffic', 'POST', '/v1/acquire', { key: 'user:a', messages: 1, limit });
      expect([answer.status, JSON.stringify(limit)]).toEqual([422, JSON.stringify(limit)]);
    }
  });
});
