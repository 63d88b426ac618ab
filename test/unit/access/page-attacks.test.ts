import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isOwnPage } from '../../../src/doors/http/access/route-guard.js';
import { listen } from '../../../src/doors/http/server/http-server.js';
import { type HttpScene, readyScene } from '../http/http-scene.js';
import { AUTH, bearer, TOKENS } from './access-scene.js';

/** Without `auth:` the machine is the only credential, and every page that its browsers show is on the machine. */
let scene: HttpScene;
let port: number;
beforeAll(async () => {
  scene = await readyScene({ http: { host: '127.0.0.1', port: 0 } });
  port = Number(new URL(await listen(scene.app, scene.node)).port);
});
afterAll(() => scene.close());

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** As a browser would write it: `fetch` of Node.js lets nobody choose Host. */
function send({ method = 'GET', path = '/v1/groups', headers = {}, body }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const host = `127.0.0.1:${port}`;
    const asked = request({ host: '127.0.0.1', port, method, path, headers: { host, ...headers } }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => {
        text += part;
      });
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    });
    asked.once('error', reject);
    asked.end(body);
  });
}

const JSON_BODY = { 'content-type': 'application/json', body: '{}' };

/** What the live page does when somebody presses Apply. */
function change(headers: OutgoingHttpHeaders): Promise<Answer> {
  const { body, ...type } = JSON_BODY;
  return send({ method: 'PUT', path: '/v1/groups/made', headers: { ...type, ...headers }, body });
}

const made = async () => (await send({ path: '/v1/groups/made' })).status !== 404;

describe("the node's own page", () => {
  test('changes groups by the address that it was asked by', async () => {
    const host = `127.0.0.1:${port}`;
    const origin = `http://${host}`;
    expect([200, 201]).toContain((await change({ host, origin })).status);
    expect((await change({ host, origin, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' })).status).toBe(
      200,
    );
    expect((await send({ method: 'DELETE', path: '/v1/groups/made' })).status).toBe(204);
  });

  test('looks at everything, and is in nobody’s frame', async () => {
    const page = await send({ path: '/', headers: { accept: 'text/html' } });
    expect(page.headers['content-security-policy']).toBe("frame-ancestors 'none'");
    const own = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'accept-language': 'de' };
    for (const path of ['/v1/groups', '/v1/live?count=5', '/v1/audit']) {
      expect([path, (await send({ path, headers: own })).status]).toEqual([path, 200]);
    }
  });
});

test.each<[string, string, string, boolean]>([
  // http.host, address connected to, authority of page and host, own
  ['127.0.0.1', '127.0.0.1', '127.0.0.1:7070', true],
  ['127.0.0.1', '127.0.0.1', 'localhost:7070', false],
  ['127.0.0.1', '127.0.0.1', '[::1]:7070', false],
  ['::1', '::1', '[::1]:7070', true],
  ['::1', '::1', 'localhost:7070', false],
  ['localhost', '127.0.0.1', 'localhost:7070', true],
  ['localhost', '::1', 'localhost:7070', true],
  ['localhost', '::1', '[::1]:7070', true],
  ['::', '::ffff:127.0.0.1', '127.0.0.1:7070', true],
  ['::', '::ffff:127.0.0.1', 'localhost:7070', true],
  ['0.0.0.0', '127.0.0.1', '127.0.0.1:7070', true],
  ['0.0.0.0', '127.0.0.1', 'localhost:7070', false],
  ['127.0.0.1', '127.0.0.1', '127.0.0.1:7071', false],
])('http.host %s, connected to %s: a page of %s is its own: %s', (listensOn, localAddress, host, isOwn) => {
  const socket = { localAddress, localPort: 7070, remoteAddress: localAddress };
  expect(isOwnPage({ host, origin: `http://${host}` }, socket, listensOn)).toBe(isOwn);
});

describe('a page of a stranger changes nothing', () => {
  const own = () => `127.0.0.1:${port}`;
  const strangers: readonly [string, () => OutgoingHttpHeaders][] = [
    ['of another site', () => ({ origin: 'https://evil.example' })],
    ['in a sandboxed frame, or of a file', () => ({ origin: 'null' })],
    ['of another port of this machine', () => ({ origin: `http://127.0.0.1:${port - 1}` })],
    ['of no port', () => ({ origin: 'http://127.0.0.1' })],
    ['of another scheme', () => ({ origin: `ws://${own()}` })],
    ['whose name begins like the address', () => ({ origin: `http://127.0.0.1.evil.example:${port}` })],
    ['whose name ends like it', () => ({ origin: `http://evil.example#${own()}` })],
    ['with a user before the address', () => ({ origin: `http://evil@${own()}` })],
    ['with the address spelt otherwise', () => ({ origin: `http://127.1:${port}` })],
    ['with a point after the name', () => ({ host: `localhost.:${port}`, origin: `http://localhost.:${port}` })],
    ['of the address that means all', () => ({ host: `0.0.0.0:${port}`, origin: `http://0.0.0.0:${port}` })],
    ['with two origins', () => ({ origin: `http://${own()}, https://evil.example` })],
    [
      'whose name was made to lead here',
      () => ({ host: `evil.example:${port}`, origin: `http://evil.example:${port}` }),
    ],
    ['that pretends to such a host', () => ({ host: own(), origin: `http://evil.example:${port}` })],
    // Another user of the machine listens at the same port of ::1, where the node does not, and goes away.
    ['of another user that was asked by localhost', () => sameHost(`localhost:${port}`)],
    ['of another user that was asked by its address', () => sameHost(`[::1]:${port}`)],
    ['of another user of the machine', () => ({ host: own(), origin: `http://[::1]:${port}` })],
    ['of another user, by localhost', () => ({ host: own(), origin: `http://localhost:${port}` })],
    ['with the right origin, of which the browser says otherwise', () => crossSite(`http://${own()}`)],
    ['that sends no origin, but the browser says so', () => ({ 'sec-fetch-site': 'cross-site' })],
  ];
  const sameHost = (host: string) => ({ host, origin: `http://${host}` });
  const crossSite = (origin: string) => ({ origin, 'sec-fetch-site': 'cross-site' });

  test.each(strangers)('%s', async (_, headers) => {
    const refused = await change(headers());
    expect([refused.status, JSON.parse(refused.text).code]).toEqual([403, 'PAGE_DENIED']);
    expect(await made()).toBe(false);
  });

  test('not by what a form may send without asking first, nor does it take anything', async () => {
    const { admitted } = (await groupStatus()).local;
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const headers = { origin: 'https://evil.example', 'content-type': type };
      const body = '{"group":"orders","messages":1}';
      expect((await send({ method: 'POST', path: '/v1/acquire', headers, body })).status).toBe(403);
    }
    const attachment = { method: 'POST', path: '/admin/v2/tenants/acme/resourcegroup/orders' };
    expect((await send({ ...attachment, headers: { origin: 'null' } })).status).toBe(403);
    expect(JSON.parse((await send({ path: '/v1/attachments' })).text).attachments).toEqual([]);
    // The own page, too, must say that it sends JSON: of what a form can send nothing is read.
    const form = { origin: `http://127.0.0.1:${port}`, 'content-type': 'text/plain' };
    expect((await send({ method: 'POST', path: '/v1/acquire', headers: form, body: '{}' })).status).toBe(415);
    expect((await groupStatus()).local.admitted).toEqual(admitted);
  });

  test('not by asking first: no answer lets another origin in', async () => {
    const headers = {
      origin: 'https://evil.example',
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'content-type',
      'access-control-request-private-network': 'true',
    };
    const asked = await send({ method: 'OPTIONS', path: '/v1/groups/orders', headers });
    expect(asked.status).toBeGreaterThanOrEqual(400);
    for (const { headers: answered } of [asked, await send({ headers: { origin: 'https://evil.example' } })]) {
      expect(Object.keys(answered).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  });

  async function groupStatus() {
    const { text } = await send({ path: '/v1/groups/orders' });
    return (JSON.parse(text) as { directions: { publish: { local: { admitted: unknown } } } }).directions.publish;
  }
});

describe('a page of a stranger reads nothing', () => {
  const language = { 'accept-language': 'en-US,en;q=0.9' };
  const rebound = (host: string) => send({ headers: { ...language, host } });

  test('by a name that was made to lead here', async () => {
    for (const host of [`evil.example:${port}`, 'evil.example', `0.0.0.0:${port}`, `localhost.evil.example:${port}`]) {
      const refused = await rebound(host);
      expect([host, refused.status, JSON.parse(refused.text).code]).toEqual([host, 403, 'PAGE_DENIED']);
    }
    const live = { ...language, host: 'evil.example', accept: 'text/event-stream' };
    expect((await send({ path: '/v1/live', headers: live })).status).toBe(403);
  });

  test('by a link that it opens by itself, an image, a script or a frame', async () => {
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    const ways = [
      { ...link, 'sec-fetch-dest': 'iframe' },
      { ...link, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
      { ...link, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of ways) expect((await send({ headers })).status).toBe(403);
    const recording = await send({ path: '/v1/live/recording?seconds=1', headers: link });
    expect(recording.status).toBe(403);
    // Who follows a link of a wiki to a node sees it.
    for (const path of ['/v1/groups', '/metrics']) expect((await send({ path, headers: link })).status).toBe(200);
    expect((await send({ path: '/', headers: { ...link, accept: 'text/html' } })).status).toBe(200);
  });

  test('names of the machine itself, and programs behind a proxy of it, are let in', async () => {
    for (const host of [`localhost:${port}`, `[::1]:${port}`, `node-a:${port}`, 'shop.localhost', '10.0.0.7:80']) {
      expect([host, (await rebound(host)).status]).toEqual([host, 200]);
    }
    const host = 'quotamesh.shop.svc.cluster.local';
    expect((await send({ headers: { host } })).status).toBe(200);
    expect((await send({ headers: { host, ...language, 'sec-fetch-mode': 'cors' } })).status).toBe(200);
    expect((await send({ path: '/livez', headers: { host, ...language } })).status).toBe(200);
  });
});

describe('with a token', () => {
  test('any page may do what the token may; without one, its origin opens nothing', async () => {
    const closed = await readyScene({ auth: AUTH });
    const headers = { origin: 'https://console.example', host: 'node.example', 'sec-fetch-site': 'cross-site' };
    const put = (sent: object) => closed.ask('PUT', '/v1/groups/made', {}, { headers: { ...sent } });
    expect((await put({ ...headers, ...bearer(TOKENS.operator) })).status).toBe(201);
    for (const origin of ['http://localhost:80', 'http://127.0.0.1', 'null']) {
      expect((await put({ origin })).status).toBe(401);
    }
    await closed.close();
  });
});
