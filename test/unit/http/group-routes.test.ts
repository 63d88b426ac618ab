import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChangePreview } from '../../../src/node/api/change-answers.js';
import type { DirectionStatus } from '../../../src/node/api/node-status.js';
import { type HttpScene, type Method, readyScene, settled } from './http-scene.js';

/** Two nodes of one cluster: what one is asked, the other has, too. */
let a: HttpScene;
let b: HttpScene;
let clusters = 0;
beforeEach(async () => {
  const cluster = `groups-${process.pid}-${clusters++}`;
  [a, b] = await Promise.all([readyScene({ cluster, node: 'a' }), readyScene({ cluster, node: 'b' })]);
});
afterEach(async () => {
  await Promise.all([a.close(), b.close()]);
});

function ask(scene: HttpScene, method: Method, path: string, payload?: unknown, headers: Record<string, string> = {}) {
  return scene.ask(method, `/v1/groups/${path}`, payload, { headers });
}

/** In so many words. */
const NONE = { quota: null };
const QUOTA = { quota: { publish: { messagesPerSecond: '5k', bytesPerSecond: '10MiB' }, dispatch: null } };

describe('groups at run time', () => {
  it('made at one node, a group is enforced by both; deleted, it is unknown to both', async () => {
    const made = await ask(a, 'PUT', 'new', { quota: { publish: { messagesPerSecond: 0 } } });
    expect(made).toMatchObject({ status: 201, body: { group: 'new', origin: 'run-time' } });
    expect(made.headers.etag).toBe(`"${made.body.revision}"`);
    await settled(a, b);
    for (const scene of [a, b]) {
      expect(await scene.acquire({ group: 'new', messages: 1 })).toMatchObject({ status: 429 });
      expect((await scene.get('/v1/groups/new')).body).toMatchObject({
        origin: 'run-time',
        revision: made.body.revision,
      });
    }
    expect((await ask(b, 'DELETE', 'new')).status).toBe(204);
    await settled(a, b);
    for (const scene of [a, b]) {
      expect(await scene.acquire({ group: 'new', messages: 1 })).toMatchObject({ status: 404 });
      expect((await scene.get('/v1/groups')).body.groups).toHaveLength(4);
    }
    expect(await ask(a, 'DELETE', 'new')).toMatchObject({ status: 404, body: { code: 'GROUP_UNKNOWN' } });
  });

  it('a burst is kept and told as it is written; single keys are laid over what a short form stands for', async () => {
    const quota = { publish: { messagesPerSecond: 10 }, dispatch: null };
    const definition = async () =>
      ((await ask(b, 'GET', 'bursty/definition')).body as { readonly definition: { readonly burst: unknown } })
        .definition.burst;
    const depth = async () => {
      await b.acquire({ group: 'bursty', messages: 1 });
      await settled(a, b);
      const { publish } = (await b.get('/v1/groups/bursty')).body.directions as {
        readonly publish: DirectionStatus;
      };
      return publish.clusterBucket?.messages?.depth;
    };
    expect(await ask(a, 'PUT', 'bursty', { quota, burst: '2s' })).toMatchObject({ status: 201 });
    await settled(a, b);
    expect(await definition()).toBe('2s');
    expect(await depth()).toBe(20);
    await ask(a, 'PATCH', 'bursty', { burst: { policy: 'divided' } });
    await settled(a, b);
    expect(await definition()).toEqual({ quotaMs: '2s', policy: 'divided' });
    expect(await depth()).toBe(20);
    await ask(a, 'PATCH', 'bursty', { burst: 30 });
    await settled(a, b);
    expect(await definition()).toEqual({ messages: 30, policy: 'divided' });
    expect(await depth()).toBe(30);
    const wrong = await ask(a, 'PATCH', 'bursty', { burst: 0 });
    expect(wrong).toMatchObject({ status: 422, body: { code: 'GROUP_INVALID' } });
    expect(wrong.body.detail).toMatch(/burst.* must be a whole number between 1 and 1T/);
    expect(wrong.body.detail).toContain('Write burst: 10 (messages), burst: 2s (of the quota)');
  });

  it('a quota in its own unit of time is kept, told and changed as it is written', async () => {
    const put = (publish: object) => ask(a, 'PUT', 'alerts', { quota: { publish, dispatch: null } });
    expect(await put({ messagesPerSecond: '5/min', bytesPerSecond: '6MiB/h' })).toMatchObject({ status: 201 });
    await settled(a, b);
    for (const scene of [a, b]) {
      expect((await ask(scene, 'GET', 'alerts/definition')).body.definition).toEqual({
        quota: { publish: { messagesPerSecond: '5/min', bytesPerSecond: '6MiB/h' } },
      });
      const asked = await scene.get('/v1/groups/alerts');
      const { publish } = asked.body.directions as Readonly<Record<string, unknown>>;
      expect(publish).toMatchObject({
        quota: { messagesPerSecond: 5 / 60, bytesPerSecond: 6_291_456 / 3600 },
        quotaAsWritten: { messagesPerSecond: '5/min', bytesPerSecond: '6291456/h' },
      });
      const answer = await scene.acquire({ group: 'alerts', messages: 1, bytes: 1 });
      expect(answer.headers['ratelimit-policy']).toBe(
        '"alerts-publish-messages";q=5;w=60, "alerts-publish-bytes";q=6291456;w=3600;qu="content-bytes"',
      );
    }
    // Another unit takes the place of the first, and null takes any away.
    await ask(b, 'PATCH', 'alerts', { quota: { publish: { messagesPerSecond: 2, bytesPerSecond: null } } });
    await settled(a, b);
    expect((await ask(a, 'GET', 'alerts/definition')).body.definition).toEqual({
      quota: { publish: { messagesPerSecond: 2 } },
    });
    // A replacement in another unit forgets no limit.
    expect(await put({ messagesPerSecond: '100/h' })).toMatchObject({ status: 200 });
    expect(await put({ bytesPerSecond: '100/h' })).toMatchObject({ status: 422, body: { code: 'GROUP_INVALID' } });
    const { changes } = (await a.get('/v1/audit?group=alerts')).body as { changes: { after: unknown }[] };
    expect(changes.map(({ after }) => after)).toEqual([
      { quota: { publish: { messagesPerSecond: '5/min', bytesPerSecond: '6MiB/h' } } },
      { quota: { publish: { messagesPerSecond: 2 } } },
      { quota: { publish: { messagesPerSecond: '100/h' } } },
    ]);
  });

  it.each([
    { from: '10.0.0.7', isTaken: false },
    { from: '::ffff:10.0.0.7', isTaken: false },
    { from: 'fe80::1', isTaken: false },
    { from: '127.0.0.2', isTaken: true },
    { from: '::1', isTaken: true },
    { from: '::ffff:127.0.0.1', isTaken: true },
  ])('a change from $from is taken: $isTaken', async ({ from, isTaken }) => {
    const url = '/v1/groups/new';
    const put = await a.ask('PUT', url, QUOTA, { remoteAddress: from });
    if (isTaken) expect(put.status).toBe(201);
    else expect(put).toMatchObject({ status: 403, body: { code: 'CHANGE_NOT_LOCAL' } });
    for (const method of ['PATCH', 'DELETE'] as const) {
      const { status } = await a.ask(method, url, QUOTA, { remoteAddress: from });
      expect(status === 403).toBe(!isTaken);
    }
    const definition = await a.ask('GET', '/v1/groups/orders/definition', undefined, { remoteAddress: from });
    expect(definition.status).toBe(200);
  });

  it('what was defined at run time replaces YAML as a whole; deleted, YAML is in force again', async () => {
    await ask(a, 'PUT', 'orders', QUOTA);
    await settled(a, b);
    const publish = (body: Readonly<Record<string, unknown>>) =>
      (body.directions as Record<string, { quota: object }>).publish?.quota;
    expect(publish((await b.get('/v1/groups/orders')).body)).toEqual({
      messagesPerSecond: 5000,
      bytesPerSecond: 10 * 2 ** 20,
    });
    expect((await ask(b, 'DELETE', 'orders')).status).toBe(204);
    await settled(a, b);
    for (const scene of [a, b]) {
      const { body } = await scene.get('/v1/groups/orders');
      expect(body).toMatchObject({ origin: 'yaml', revision: 0 });
      expect(publish(body)).toEqual({ messagesPerSecond: 1000, bytesPerSecond: 2 ** 20 });
    }
    expect(await ask(b, 'DELETE', 'orders')).toMatchObject({ status: 409, body: { code: 'FROM_YAML' } });
  });

  it('PATCH lays keys over the group as it is, null takes one away', async () => {
    const patched = await ask(a, 'PATCH', 'orders', {
      quota: { dispatch: { messagesPerSecond: null } },
      debtMs: '1s',
    });
    expect(patched).toMatchObject({
      status: 200,
      body: { origin: 'run-time', definition: { debtMs: '1s', quota: { publish: { messagesPerSecond: 1000 } } } },
    });
    await settled(a, b);
    expect((await b.get('/v1/groups/orders')).body).toMatchObject({
      directions: { dispatch: { quota: { messagesPerSecond: null } }, publish: { quota: { messagesPerSecond: 1000 } } },
    });
  });

  it('If-Match: of two changes of what was read, one wins; If-None-Match: * makes only what is new', async () => {
    const { headers } = await ask(a, 'PUT', 'new', QUOTA);
    const match = { 'if-match': String(headers.etag) };
    const both = await Promise.all([ask(a, 'PUT', 'new', NONE, match), ask(b, 'PUT', 'new', NONE, match)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
    expect(both.find(({ status }) => status === 412)?.body).toMatchObject({ code: 'GROUP_CHANGED' });
    expect((await ask(a, 'PUT', 'new', {}, { 'if-none-match': '*' })).status).toBe(412);
    expect((await ask(a, 'PUT', 'newer', {}, { 'if-none-match': '*' })).status).toBe(201);
    expect((await ask(a, 'DELETE', 'newer')).status).toBe(204);
    const again = await Promise.all([a, b].map((node) => ask(node, 'PUT', 'newer', {}, { 'if-none-match': '*' })));
    expect(again.map(({ status }) => status).sort()).toEqual([201, 412]);
    expect((await ask(a, 'PUT', 'new', {}, { 'if-match': 'W/"1"' })).body).toMatchObject({ code: 'FIELD_INVALID' });
    // A group of YAML that was never changed has revision 0.
    const yaml = await ask(a, 'GET', 'slow/definition');
    expect(yaml.headers.etag).toBe('"0"');
    expect((await ask(a, 'PATCH', 'slow', { debtMs: 5 }, { 'if-match': '"0"' })).status).toBe(200);
    expect((await ask(a, 'PATCH', 'slow', { debtMs: 6 }, { 'if-match': '"0"' })).status).toBe(412);
  });
});

describe('?dryRun=true', () => {
  const shareOf = (body: Readonly<Record<string, unknown>>, when: 'before' | 'after') => {
    const preview = body[when] as ChangePreview['after'];
    return preview?.publish.nodes.map(({ nodeId, share }) => [nodeId, Math.round(share.messagesPerSecond ?? -1)]);
  };

  it('shows the shares that would follow; nothing is changed', async () => {
    const publish = { messagesPerSecond: 600, bytesPerSecond: null };
    const payload = { quota: { publish, dispatch: null }, weights: { a: 2 } };
    const before = await ask(a, 'GET', 'orders/definition');
    const put = await ask(a, 'PUT', 'orders?dryRun=true', payload);
    const definition = { quota: { publish: { messagesPerSecond: 600 } }, weights: { a: 2 } };
    expect(put).toMatchObject({ status: 200, body: { group: 'orders', dryRun: true, definition } });
    expect(shareOf(put.body, 'before')).toEqual([
      ['a', 500],
      ['b', 500],
    ]);
    expect(shareOf(put.body, 'after')).toEqual([
      ['a', 400],
      ['b', 200],
    ]);
    const patch = await ask(a, 'PATCH', 'orders?dryRun=true', { quota: { publish: { messagesPerSecond: '1k' } } });
    expect(shareOf(patch.body, 'after')).toEqual(shareOf(put.body, 'before'));
    const made = await ask(a, 'PUT', 'new?dryRun=true', payload);
    expect(made).toMatchObject({ status: 200, body: { before: null } });
    expect(shareOf(made.body, 'after')).toEqual(shareOf(put.body, 'after'));
    expect((await ask(a, 'GET', 'orders/definition')).body).toEqual(before.body);
    expect((await ask(a, 'GET', 'new')).status).toBe(404);
  });

  it('of a deletion shows what is left: the group of YAML, or none', async () => {
    await ask(a, 'PUT', 'orders', QUOTA);
    await ask(a, 'PUT', 'new', QUOTA);
    const left = await ask(a, 'DELETE', 'orders?dryRun=true');
    expect(left).toMatchObject({ status: 200, body: { after: { publish: { quota: { messagesPerSecond: 1000 } } } } });
    expect((await ask(a, 'DELETE', 'new?dryRun=true')).body).toMatchObject({ definition: null, after: null });
    expect((await ask(a, 'GET', 'new')).status).toBe(200);
  });

  it.each([
    ['PUT', 'orders?dryRun=true', {}, { 'if-match': '"17"' }, 412, 'GROUP_CHANGED'],
    ['PATCH', 'nope?dryRun=true', {}, {}, 404, 'GROUP_UNKNOWN'],
    ['DELETE', 'orders?dryRun=true', undefined, {}, 409, 'FROM_YAML'],
  ] as const)('%s %s fails as the change would', async (method, path, payload, headers, status, code) => {
    expect(await ask(a, method, path, payload, headers)).toMatchObject({ status, body: { code } });
  });
});
