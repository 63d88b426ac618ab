import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renewTls } from '../../../src/base/access/listener-tls.js';
import { ask, nodeAddress } from '../../../src/tools/node-client/node-address.js';
import { change, get } from '../../../src/tools/node-client/node-requests.js';
import { type HttpScene, httpScene, readyScene } from '../http/http-scene.js';
import { until } from '../http/raw-client.js';
import { AUTH, TOKENS } from './access-scene.js';
import { type KeyPair, makeAuthority, makeCertificate } from './certificates.js';

let folder: string;
let servers: KeyPair;
let clients: KeyPair;
let server: KeyPair;
let broker: KeyPair;
let stranger: KeyPair;
let scene: HttpScene;
let url: string;

const CERTIFICATES = [
  { match: 'CN=broker-*', roles: ['traffic'] },
  { match: 'URI:spiffe://example/ops', name: 'ops', roles: ['operator'] },
];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quotamesh-tls-'));
  [servers, clients] = await Promise.all([makeAuthority(folder, 'servers'), makeAuthority(folder, 'clients')]);
  const make = (authority: KeyPair, name: string, alternative: string) =>
    makeCertificate(folder, authority, { name, alternative });
  server = await make(servers, 'node-1', 'IP:127.0.0.1');
  broker = await make(clients, 'broker-7', 'DNS:broker-7');
  // The right name, signed by an authority that nobody asked for.
  stranger = await make(servers, 'broker-8', 'DNS:broker-8');
  scene = await readyScene(config({ clientCa: clients.cert }));
  url = await scene.app.listen({ host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await scene?.close();
  await rm(folder, { recursive: true, force: true });
});

function config(tls: object) {
  const { cert, key } = server;
  return { auth: { ...AUTH, certificates: CERTIFICATES }, http: { tls: { cert, key, ...tls } } };
}

/** As the commands ask. */
function asked(options: object, at = url) {
  return nodeAddress({ url: at, ca: servers.certFile, ...options });
}

const acquire = {
  method: 'POST',
  path: '/v1/acquire',
  timeoutMs: 5000,
  headers: { 'content-type': 'application/json' },
};

describe('HTTPS', () => {
  test('answers with its certificate, and knows a token', async () => {
    expect(url).toMatch(/^https:/);
    expect(await get(asked({ token: TOKENS.viewer }), '/v1/nodes', {})).toMatchObject({
      nodeId: 'a',
      access: { auth: true },
    });
    await expect(get(nodeAddress({ url, token: TOKENS.viewer }), '/v1/nodes', {})).rejects.toMatchObject({
      code: 'NODE_CERTIFICATE',
      remedy: expect.stringContaining('authority in --ca'),
    });
  });

  test('its connections have the same bounds', async () => {
    const { hostname: host, port } = new URL(url);
    const socket = connect({ host, port: Number(port), ca: servers.cert });
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    await until(() => scene.counts.open > 0);
    const { pipelined } = scene.counts.ended;
    const wait = '{"group":"blocked","messages":1,"waitMs":50000}';
    const fields = `authorization: Bearer ${TOKENS.traffic}\r\ncontent-type: application/json\r\n`;
    socket.write(
      `POST /v1/acquire HTTP/1.1\r\nhost: x\r\n${fields}content-length: ${wait.length}\r\n\r\n${wait}` +
        'GET /livez HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(33),
    );
    await once(socket, 'close');
    expect(scene.counts.ended.pipelined).toBe(pipelined + 1);
    await until(() => scene.counts.open === 0 && scene.counts.heldBytes === 0);
  });

  test('plain HTTP gets no answer of ours', async () => {
    const plain = nodeAddress({ url: url.replace('https', 'http'), token: TOKENS.viewer });
    await expect(get(plain, '/livez', {})).rejects.toMatchObject({
      code: 'NODE_PROTOCOL',
      message: expect.stringMatching(/speaks https, and was asked by http$/),
    });
  });

  test('a client certificate has the roles of its rule', async () => {
    const node = asked({ cert: broker.certFile, key: broker.keyFile });
    const granted = await ask(node, { ...acquire, body: '{"group":"orders","messages":1}' });
    expect([granted.status, granted.text]).toEqual([200, '{"granted":true}']);
    const refused = await ask(node, { method: 'GET', path: '/v1/groups', timeoutMs: 5000 });
    expect(JSON.parse(refused.text)).toMatchObject({
      code: 'ROLE_MISSING',
      detail: expect.stringContaining('CN=broker-7'),
    });
  });

  test('a token counts before a certificate', async () => {
    const node = asked({ cert: broker.certFile, key: broker.keyFile, token: TOKENS.viewer });
    expect((await ask(node, { method: 'GET', path: '/v1/groups', timeoutMs: 5000 })).status).toBe(200);
  });

  test('a certificate of another authority is nobody', async () => {
    const node = asked({ cert: stranger.certFile, key: stranger.keyFile });
    const refused = await ask(node, { ...acquire, body: '{"group":"orders","messages":1}' });
    expect(JSON.parse(refused.text)).toMatchObject({
      status: 401,
      detail: expect.stringMatching(/certificate is not trusted/),
    });
    expect(scene.access.status.failures['http untrusted']).toBe(1);
    expect((await ask(node, { method: 'GET', path: '/livez', timeoutMs: 5000 })).status).toBe(200);
  });

  test('a certificate of the authority without a rule is nobody, too', async () => {
    const other = await makeCertificate(folder, clients, { name: 'laptop', alternative: 'DNS:laptop' });
    const refused = await ask(asked({ cert: other.certFile, key: other.keyFile }), { ...acquire, body: '{}' });
    expect(JSON.parse(refused.text).detail).toMatch(
      /no rule of auth.certificates matches the certificate DNS:laptop, CN=laptop/,
    );
  });

  test('a renewed certificate is shown to new connections', async () => {
    const renewed = await makeCertificate(folder, clients, { name: 'node-1b', alternative: 'IP:127.0.0.1' });
    const { tls } = scene.node.config.http;
    renewTls(scene.app.server, { ...tls!, cert: renewed.cert, key: renewed.key });
    const trusting = nodeAddress({ url, ca: clients.certFile, token: TOKENS.viewer });
    expect(await get(trusting, '/v1/nodes', {})).toMatchObject({ nodeId: 'a' });
    renewTls(scene.app.server, tls);
    expect(await get(asked({ token: TOKENS.viewer }), '/v1/nodes', {})).toMatchObject({ nodeId: 'a' });
  });

  test('where certificates are required, nobody gets in without', async () => {
    const strict = await httpScene(config({ clientCa: clients.cert, clientCertificates: 'required' }));
    const at = await strict.app.listen({ host: '127.0.0.1', port: 0 });
    const live = { method: 'GET', path: '/livez', timeoutMs: 5000 };
    await expect(ask(asked({ token: TOKENS.admin }, at), live)).rejects.toThrow();
    expect((await ask(asked({ cert: broker.certFile, key: broker.keyFile }, at), live)).status).toBe(200);
    await strict.close();
  });
});

describe('the commands', () => {
  test('say in the node’s words who is not let in', async () => {
    await expect(get(asked({}), '/v1/groups', {})).rejects.toMatchObject({
      code: 'CHANGE_REFUSED',
      exitCode: 78,
      remedy: expect.stringContaining('--token-file'),
    });
    const put = { method: 'PUT', path: '/v1/groups/new', body: {} } as const;
    await expect(change(asked({ token: TOKENS.viewer }), put)).rejects.toThrow(/takes the role operator/);
    expect(await change(asked({ token: TOKENS.operator }), put)).toMatchObject({ group: 'new' });
  });

  test.each([
    [{ url: 'http://127.0.0.1:1', ca: 'x' }, /need an https address/],
    [{ url: 'https://127.0.0.1:1', cert: 'x' }, /--cert and --key need each other/],
    [{ url: '127.0.0.1:1', token: 'a b' }, /the token must have/],
    [{ url: '127.0.0.1:1', tokenFile: '/nowhere/token' }, /cannot read \/nowhere\/token/],
  ])('refuse %o', (options, expected) => expect(() => nodeAddress(options)).toThrow(expected));
});
