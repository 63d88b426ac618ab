import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GRPC_STATUS } from '../../../src/doors/envoy/grpc/grpc-status.js';
import { GrpcClient } from '../envoy/grpc-client.js';
import { ECHO, type GrpcScene, grpcScene } from '../envoy/grpc-scene.js';
import { AUTH, bearer, TOKENS } from './access-scene.js';
import { type KeyPair, makeAuthority, makeCertificate } from './certificates.js';

let folder: string;
let servers: KeyPair;
let gateway: KeyPair;
let viewer: KeyPair;
let stranger: KeyPair;
let renewed: KeyPair;
let scene: GrpcScene;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quotamesh-grpc-tls-'));
  servers = await makeAuthority(folder, 'servers');
  const clients = await makeAuthority(folder, 'clients');
  const make = (authority: KeyPair, name: string) =>
    makeCertificate(folder, authority, { name, alternative: 'IP:127.0.0.1' });
  const server = await make(servers, 'node-1');
  renewed = await make(servers, 'node-1-renewed');
  gateway = await make(clients, 'gateway-1');
  viewer = await make(clients, 'viewer-1');
  // The right name, signed by an authority that nobody asked for.
  stranger = await make(servers, 'gateway-2');
  const certificates = [
    { match: 'CN=gateway-*', roles: ['traffic'] },
    { match: 'CN=viewer-*', roles: ['viewer'] },
  ];
  const tls = { cert: server.cert, key: server.key, clientCa: clients.cert };
  scene = await grpcScene({ auth: { ...AUTH, certificates }, envoy: { tls } });
});
afterAll(async () => {
  await scene?.listener.close();
  await rm(folder, { recursive: true, force: true });
});

async function statusWith(pair: KeyPair | null, metadata: object = {}): Promise<number> {
  const own = pair === null ? {} : { cert: pair.cert, key: pair.key };
  const client = await GrpcClient.open(scene.url, { ca: servers.cert, ...own });
  const { status } = await client.ask(ECHO, Buffer.from('x'), metadata);
  await client.close();
  return status;
}

test('over TLS a certificate or a token says who asks', async () => {
  expect(scene.url).toMatch(/^grpcs:/);
  expect(await statusWith(gateway)).toBe(GRPC_STATUS.OK);
  expect(scene.asked.at(-1)).toBe('CN=gateway-1: x');
  expect(await statusWith(viewer)).toBe(GRPC_STATUS.PERMISSION_DENIED);
  expect(await statusWith(stranger)).toBe(GRPC_STATUS.UNAUTHENTICATED);
  expect(await statusWith(null)).toBe(GRPC_STATUS.UNAUTHENTICATED);
  expect(await statusWith(null, bearer(TOKENS.traffic))).toBe(GRPC_STATUS.OK);
  expect(await statusWith(viewer, bearer(TOKENS.traffic))).toBe(GRPC_STATUS.OK);
  expect(scene.access.status.failures).toMatchObject({ 'envoy denied': 1, 'envoy untrusted': 1, 'envoy missing': 1 });
});

test('new connections have the renewed certificate', async () => {
  scene.listener.renewTls({ ...renewed, passphrase: null, clientCa: null, clientCertificates: 'optional' });
  const client = await GrpcClient.open(scene.url, { ca: servers.cert });
  const { socket } = client.session as unknown as { socket: { getPeerCertificate(): { subject: { CN: string } } } };
  expect(socket.getPeerCertificate().subject.CN).toBe('node-1-renewed');
  await client.close();
});
