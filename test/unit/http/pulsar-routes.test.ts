import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpScene, type Method, readyScene, settled } from './http-scene.js';

/** What every request of Pulsar's admin client 4.0.8 carries; recorded from the unmodified client. */
const HEADERS = { accept: 'application/json', 'accept-encoding': 'gzip' };
const WRITING = { ...HEADERS, 'content-type': 'application/json' };

let scene: HttpScene;
let other: HttpScene;
beforeAll(async () => {
  const cluster = `pulsar-${process.pid}`;
  scene = await readyScene({ cluster, node: 'a' });
  other = await readyScene({ cluster, node: 'b' });
});
afterAll(() => Promise.all([scene.close(), other.close()]));

async function send(method: Method, path: string, payload?: string) {
  const isWrite = method === 'PUT' || method === 'POST';
  const body = isWrite ? { payload: payload ?? '', headers: { ...WRITING } } : { headers: HEADERS };
  const response = await scene.app.inject({ method, url: `/admin/v2/${path}`, ...body });
  const type = String(response.headers['content-type'] ?? '');
  return { status: response.statusCode, type, text: response.body };
}

const RATES =
  '{"publishRateInMsgs":5,"publishRateInBytes":600,"dispatchRateInMsgs":7,"dispatchRateInBytes":8000000000}';

describe('the recorded requests of Pulsar’s admin client', () => {
  it('create, get, update, list, delete', async () => {
    expect(await send('PUT', 'resourcegroups/rg', RATES)).toMatchObject({ status: 204, text: '' });
    const got = await send('GET', 'resourcegroups/rg');
    expect(got).toMatchObject({ status: 200, type: expect.stringContaining('application/json'), text: RATES });
    // Update: what is not named stays; create without options is {}.
    expect((await send('PUT', 'resourcegroups/rg', '{"publishRateInMsgs":50}')).status).toBe(204);
    expect(JSON.parse((await send('GET', 'resourcegroups/rg')).text)).toEqual({
      ...JSON.parse(RATES),
      publishRateInMsgs: 50,
    });
    expect((await send('PUT', 'resourcegroups/empty', '{}')).status).toBe(204);
    expect((await send('GET', 'resourcegroups/empty')).text).toBe('{}');
    expect(JSON.parse((await send('GET', 'resourcegroups')).text)).toEqual(
      expect.arrayContaining(['empty', 'free', 'orders', 'rg']),
    );
    expect(await send('DELETE', 'resourcegroups/empty')).toMatchObject({ status: 204, text: '' });
    expect((await send('GET', 'resourcegroups/empty')).status).toBe(404);
    expect(other.node.groups.numbers.has('rg')).toBe(true);
  });

  it('with If-Match change only what was read: a condition is never passed over', async () => {
    const ask = async (method: Method, path: string, condition: Readonly<Record<string, string>> = {}) => {
      // Bare names are no JSON.
      const { statusCode, headers } = await scene.app.inject({
        method,
        url: `/admin/v2/${path}`,
        headers: { ...WRITING, ...condition },
        ...(method === 'PUT' && { payload: '{}' }),
      });
      return { status: statusCode, etag: String(headers.etag) };
    };
    for (const path of ['resourcegroups/read', 'namespaces/acme/read/resourcegroup']) {
      const change = path.startsWith('n') ? `${path}/orders` : path;
      const stale = { 'if-match': '"1"' };
      expect((await ask('PUT', change, stale)).status, path).toBe(412);
      expect((await ask('PUT', change, { 'if-none-match': '*' })).status, path).toBe(204);
      expect((await ask('PUT', change, { 'if-none-match': '*' })).status, path).toBe(412);
      const { etag } = await ask('GET', path);
      expect((await ask('PUT', change, { 'if-match': etag })).status, path).toBe(204);
      for (const late of [stale, { 'if-match': etag }]) {
        expect([(await ask('PUT', change, late)).status, (await ask('DELETE', path, late)).status], path).toEqual([
          412, 412,
        ]);
      }
      const removed = await ask('DELETE', path, { 'if-match': (await ask('GET', path)).etag });
      expect(removed.status, path).toBe(path.startsWith('n') ? 200 : 204);
    }
  });

  it('made through two nodes at once, a group has the rates of both', async () => {
    const put = (at: HttpScene, rates: string) =>
      at.ask('PUT', '/admin/v2/resourcegroups/both', rates, { headers: WRITING });
    await Promise.all([put(scene, '{"publishRateInMsgs":5}'), put(other, '{"dispatchRateInMsgs":7}')]);
    expect((await send('GET', 'resourcegroups/both')).text).toBe('{"publishRateInMsgs":5,"dispatchRateInMsgs":7}');
  });

  it('-1 takes a quota away, 0 lets nothing pass: it is no "no limit"', async () => {
    await send('PUT', 'resourcegroups/zero', '{"publishRateInMsgs":0,"dispatchRateInMsgs":3}');
    expect((await scene.acquire({ group: 'zero', messages: 1 })).status).toBe(429);
    await send('PUT', 'resourcegroups/zero', '{"publishRateInMsgs":-1,"dispatchRateInBytes":null}');
    expect((await send('GET', 'resourcegroups/zero')).text).toBe('{"dispatchRateInMsgs":3}');
  });

  it('publish and dispatch stay apart', async () => {
    await send('PUT', 'resourcegroups/apart', '{"dispatchRateInMsgs":0}');
    await settled(scene, other);
    for (const { acquire } of [scene, other]) {
      expect((await acquire({ group: 'apart', messages: 1 })).status).toBe(200);
      expect((await acquire({ group: 'apart', messages: 1, direction: 'dispatch' })).status).toBe(429);
    }
  });

  it.each(['namespaces/acme/orders', 'tenants/acme'])('%s: set, get, remove resource group', async (scope) => {
    await send('PUT', 'resourcegroups/stop', '{"publishRateInMsgs":0}');
    for (const method of ['POST', 'PUT'] as const) {
      expect(await send(method, `${scope}/resourcegroup/stop`)).toMatchObject({ status: 204, text: '' });
      expect((await send('GET', `${scope}/resourcegroup`)).text).toBe('stop');
      await settled(scene, other);
      const body = { tenant: 'acme', namespace: 'orders', messages: 1 };
      expect((await other.acquire(body)).status).toBe(429);
      const inUse = await send('DELETE', 'resourcegroups/stop');
      expect(inUse.status).toBe(412);
      expect(JSON.parse(inUse.text).reason).toContain('group stop is in use');
      expect(await send('DELETE', `${scope}/resourcegroup`)).toMatchObject({ status: 200, text: '' });
      expect((await send('GET', `${scope}/resourcegroup`)).status).toBe(404);
    }
  });

  it('PIP-82’s own path and spellings, read case-blind', async () => {
    const body = '{"publishRateInmsgs":5,"PublishRateInbytes":6,"DispatchRateInmsgs":7,"DISPATCHRATELIMITINBYTES":8}';
    expect((await send('PUT', 'resourcegroup/pip', body)).status).toBe(204);
    expect(JSON.parse((await send('GET', 'resourcegroup/pip')).text)).toEqual({
      PublishRatelimitinmsgs: 5,
      PublishRatelimitinbytes: 6,
      DispatchRatelimitinmsgs: 7,
      DispatchRatelimitinbytes: 8,
    });
    const lists = await Promise.all(['resourcegroup', 'resourcegroup/', 'resourcegroups'].map((at) => send('GET', at)));
    expect(new Set(lists.map(({ text }) => text)).size).toBe(1);
    expect(await send('DELETE', 'resourcegroup/pip')).toMatchObject({ status: 200, text: '' });
  });

  it('a message rate beyond 32 bits is shown as the largest that the client can read', async () => {
    const quota = {
      quota: { publish: { messagesPerSecond: 1e12, bytesPerSecond: 1e12 }, dispatch: { messagesPerSecond: 0.5 } },
    };
    await scene.ask('PUT', '/v1/groups/large', quota);
    expect(JSON.parse((await send('GET', 'resourcegroups/large')).text)).toEqual({
      publishRateInMsgs: 2 ** 31 - 1,
      publishRateInBytes: 1e12,
      dispatchRateInMsgs: 1,
    });
  });
});

describe('errors', () => {
  it.each<[Method, string, string | undefined, number, RegExp]>([
    ['GET', 'resourcegroups/missing', undefined, 404, /^ResourceGroup does not exist/],
    ['DELETE', 'resourcegroups/missing', undefined, 404, /^ResourceGroup does not exist/],
    ['POST', 'namespaces/acme/x/resourcegroup/missing', undefined, 412, /^ResourceGroup does not exist/],
    ['GET', 'namespaces/acme/x/resourcegroup', undefined, 404, /attached to nothing/],
    ['DELETE', 'namespaces/acme/x/resourcegroup', undefined, 404, /attached to nothing/],
    ['DELETE', 'resourcegroups/orders', undefined, 409, /cannot be deleted at run time/],
    ['PUT', 'resourcegroups/a%20b', '{}', 422, /name of 1 to 200/],
    ['PUT', 'resourcegroups/%C3%A9', '{}', 422, /name of 1 to 200/],
    ['PUT', 'resourcegroups/%3F%23', '{}', 422, /name of 1 to 200/],
    ['PUT', 'resourcegroups', '{}', 405, /does not take PUT/],
    ['PUT', 'resourcegroups/', '{}', 422, /name of 1 to 200/],
    ['PUT', '', '{}', 404, /no such route/],
    ['PUT', 'resourcegroups/x', '{"publishRateInMsgs":"5"}', 422, /whole number/],
    ['PUT', 'resourcegroups/x', '{"publishRateInMsgs":1e300}', 422, /whole number/],
    ['PUT', 'resourcegroups/x', '{"unknownRate":5}', 422, /unknownRate is not known/],
    ['PUT', 'resourcegroups/x', '{', 400, /not valid JSON/],
    ['PUT', 'resourcegroups/x', '[]', 400, /JSON object/],
    ['POST', 'namespaces/a%20b/x/resourcegroup/orders', undefined, 422, /is no scope/],
    ['POST', 'namespaces/a%2Fb/x/resourcegroup/orders', undefined, 404, /attached to nothing/],
    ['POST', 'namespaces/acme/x/resourcegroup/', undefined, 422, /group/],
    ['POST', 'namespaces/acme/x/resourcegroup/a+b', undefined, 412, /^ResourceGroup does not exist/],
    ['GET', 'clusters', undefined, 404, /no such route/],
  ])('%s %s %s is %i with a reason', async (method, path, payload, status, reason) => {
    const before = [...scene.node.groups.numbers.keys()];
    const answer = await send(method, path, payload);
    expect({ status: answer.status, reason: JSON.parse(answer.text).reason }).toEqual({
      status,
      reason: expect.stringMatching(reason),
    });
    expect(answer.type).toMatch(/^application\/json/);
    expect([...scene.node.groups.numbers.keys()]).toEqual(before);
  });

  it('only this machine may change anything', async () => {
    const remoteAddress = '10.0.0.7';
    const writes = [
      'PUT resourcegroups/x',
      'PUT resourcegroup/x',
      'DELETE resourcegroups/rg',
      'POST namespaces/a/b/resourcegroup/orders',
    ];
    for (const write of writes) {
      const [method, path] = write.split(' ') as [Method, string];
      const answer = await scene.ask(method, `/admin/v2/${path}`, undefined, { remoteAddress, headers: WRITING });
      expect(answer.status).toBe(403);
    }
  });
});
