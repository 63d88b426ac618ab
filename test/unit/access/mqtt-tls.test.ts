import { type EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectSecure, type TLSSocket } from 'node:tls';
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Access } from '../../../src/base/access/access.js';
import { silentTelemetry } from '../../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { MqttBroker } from '../../../src/doors/mqtt/mqtt-broker.js';
import { type WholeNode, wholeNode } from '../../whole-node.js';
import { connectPacket, publishPacket } from '../mqtt/wire.js';
import { AUTH, TOKENS } from './access-scene.js';
import { type KeyPair, makeAuthority, makeCertificate } from './certificates.js';

const CERTIFICATES = [{ match: 'CN=sensor-*', roles: ['traffic'] }];

let folder: string;
let servers: KeyPair;
let devices: KeyPair;
let server: KeyPair;
let renewed: KeyPair;
let sensor: KeyPair;
let camera: KeyPair;
let stranger: KeyPair;
const open: Listening[] = [];

interface Listening {
  readonly node: WholeNode;
  readonly access: Access;
  readonly broker: MqttBroker;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quotamesh-mqtt-tls-'));
  [servers, devices] = await Promise.all([makeAuthority(folder, 'servers'), makeAuthority(folder, 'devices')]);
  const make = (authority: KeyPair, name: string) =>
    makeCertificate(folder, authority, { name, alternative: 'IP:127.0.0.1' });
  server = await make(servers, 'broker-1');
  renewed = await make(servers, 'broker-1-renewed');
  sensor = await make(devices, 'sensor-7');
  camera = await make(devices, 'camera-1');
  // The right name, signed by an authority that nobody asked for.
  stranger = await make(servers, 'sensor-8');
});

afterEach(async () => {
  for (const { broker, node } of open.splice(0)) {
    await broker.close();
    await node.close();
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function listening(tls: object = {}, settings: object = {}): Promise<Listening> {
  const raw = {
    cluster: `mqtt-tls-${process.pid}`,
    node: 'a',
    topic: 'memory',
    auth: { ...AUTH, certificates: CERTIFICATES },
    mqtt: { port: 0, tls: { cert: server.cert, key: server.key, clientCa: devices.cert, ...tls }, ...settings },
    groups: { orders: {} },
  };
  const config = resolveConfig(raw, { source: '(test)' });
  const node = await wholeNode(config, silentTelemetry);
  const access = new Access(config.auth, node.clock, silentTelemetry);
  const broker = new MqttBroker(node, silentTelemetry, access);
  expect(await broker.listen()).toMatch(/^mqtts:\/\/127\.0\.0\.1:\d+$/);
  const made = { node, access, broker };
  open.push(made);
  return made;
}

function joined({ broker }: Listening, options: IClientOptions): Promise<MqttClient> {
  return mqtt.connectAsync(broker.url, { ca: servers.cert, reconnectPeriod: 0, ...options }, false);
}

/** The types of mqtt.js name no method that `once` asks for. */
function eventsOf(client: MqttClient): EventEmitter {
  return client as unknown as EventEmitter;
}

function certificateOf({ cert, key }: KeyPair) {
  return { cert, key };
}

function portOf({ broker }: Listening): number {
  return Number(new URL(broker.url).port);
}

/** A handshake alone. */
async function handshake(scene: Listening, options: object = {}): Promise<TLSSocket> {
  const socket = connectSecure({ host: '127.0.0.1', port: portOf(scene), ca: servers.cert, ...options });
  await once(socket, 'secureConnect');
  return socket;
}

describe('MQTT over TLS', () => {
  test('a token lets a client in, and messages of many records arrive whole', async () => {
    const scene = await listening();
    const client = await joined(scene, { username: 'somebody', password: TOKENS.traffic });
    const payload = Buffer.alloc(300_000, 'abcdefg');
    await client.subscribeAsync('big/#', { qos: 1 });
    const arrived = once(eventsOf(client), 'message');
    await client.publishAsync('big/one', payload, { qos: 1 });
    const [, received] = (await arrived) as [string, Buffer];
    expect(received.equals(payload)).toBe(true);
    await client.endAsync();
  });

  test('without a password the certificate says who it is', async () => {
    const scene = await listening();
    const client = await joined(scene, certificateOf(sensor));
    expect(client.connected).toBe(true);
    await client.endAsync();
    const refused = (options: IClientOptions) => expect(joined(scene, options)).rejects.toMatchObject({ code: 4 });
    await refused({});
    await refused(certificateOf(camera));
    await refused(certificateOf(stranger));
    expect(scene.access.status.failures).toMatchObject({ 'mqtt missing': 1, 'mqtt unknown': 1, 'mqtt untrusted': 1 });
    // A token counts before a certificate.
    await refused({ ...certificateOf(sensor), username: 'x', password: 'qm_wrong' });
  });

  test('a certificate whose rule is taken out ends its connection', async () => {
    const scene = await listening();
    const client = await joined(scene, certificateOf(sensor));
    const closed = once(eventsOf(client), 'close');
    scene.broker.checkLogins();
    expect(client.connected).toBe(true);
    const { config } = scene.node;
    scene.access.take({ ...config.auth!, certificates: [] });
    scene.broker.checkLogins();
    await closed;
    expect(scene.broker.counts.disconnects['token-revoked']).toBe(1);
  });

  test('certificates may be required: nobody else gets through the handshake', async () => {
    const scene = await listening({ clientCertificates: 'required' });
    const client = await joined(scene, certificateOf(sensor));
    await client.endAsync();
    await expect(joined(scene, { username: 'x', password: TOKENS.traffic })).rejects.toThrow();
    await expect.poll(() => scene.broker.counts.disconnects['handshake-failed']).toBe(1);
  });

  test('who speaks without TLS is not answered, and counted', async () => {
    const scene = await listening();
    const socket = connectPlain({ host: '127.0.0.1', port: portOf(scene) });
    socket.on('error', () => undefined);
    socket.write(connectPacket('plain'));
    socket.resume();
    await once(socket, 'close');
    await expect.poll(() => scene.broker.counts.disconnects['handshake-failed']).toBe(1);
    expect(scene.broker.connections.size).toBe(0);
  });

  test.each([
    ['in their handshake', (scene: Listening) => connectPlain({ host: '127.0.0.1', port: portOf(scene) })],
    ['after it', (scene: Listening) => handshake(scene)],
  ])('connections %s are bounded, too, and make room, the longest first', async (_, connect) => {
    const scene = await listening({}, { maxConnections: 2 });
    const silent = async () => {
      const socket = await connect(scene);
      socket.on('error', () => undefined);
      socket.resume();
      const closed = once(socket, 'close');
      if (socket.connecting) await once(socket, 'connect');
      return { closed };
    };
    const [first, second] = [await silent(), await silent()];
    const clients = [await joined(scene, certificateOf(sensor))];
    await first.closed;
    clients.push(await joined(scene, certificateOf(sensor)));
    await second.closed;
    const refused = connectPlain({ host: '127.0.0.1', port: portOf(scene) });
    refused.on('error', () => undefined);
    refused.resume();
    await once(refused, 'close');
    expect(scene.broker.counts.disconnects['too-many-connections']).toBe(3);
    expect(clients.map(({ connected }) => connected)).toEqual([true, true]);
    for (const client of clients) await client.endAsync();
  });

  test('new connections get a new certificate, and those that are open go on', async () => {
    const scene = await listening();
    const client = await joined(scene, certificateOf(sensor));
    const before = await handshake(scene);
    expect(before.getPeerCertificate().subject.CN).toBe('broker-1');
    scene.broker.renewTls({ ...scene.node.config.mqtt.tls!, cert: renewed.cert, key: renewed.key });
    const after = await handshake(scene);
    expect(after.getPeerCertificate().subject.CN).toBe('broker-1-renewed');
    await client.publishAsync('any', 'x', { qos: 1 });
    await client.endAsync();
    for (const socket of [before, after]) socket.destroy();
  });

  test('the last message of a client that has gone is still read', async () => {
    const scene = await listening();
    const reader = await joined(scene, certificateOf(sensor));
    await reader.subscribeAsync('last', { qos: 1 });
    const arrived = once(eventsOf(reader), 'message');
    const socket = await handshake(scene, certificateOf(sensor));
    socket.write(connectPacket('hasty'));
    await once(socket, 'data');
    socket.end(publishPacket('last', Buffer.from('goodbye'), 1));
    const [topic, payload] = (await arrived) as [string, Buffer];
    expect([topic, String(payload)]).toEqual(['last', 'goodbye']);
    await reader.endAsync();
  });
});
