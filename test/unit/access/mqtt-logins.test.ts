import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Access } from '../../../src/base/access/access.js';
import { silentTelemetry } from '../../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { MqttBroker } from '../../../src/doors/mqtt/mqtt-broker.js';
import { type WholeNode, wholeNode } from '../../whole-node.js';
import { connectPacket } from '../mqtt/wire.js';
import { AUTH, TOKENS } from './access-scene.js';

let node: WholeNode;
let access: Access;
let broker: MqttBroker;
const ends: (() => void)[] = [];
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  ({ node, access, broker } = await listening({}));
});

afterAll(async () => {
  for (const end of ends) end();
  for (const close of closing) await close();
});

async function listening(settings: object) {
  const raw = {
    cluster: `mqtt-${process.pid}`,
    node: 'a',
    topic: 'memory',
    auth: AUTH,
    mqtt: { port: 0, ...settings },
    groups: { orders: {} },
  };
  const config = resolveConfig(raw, { source: '(test)' });
  const node = await wholeNode(config, silentTelemetry);
  const access = new Access(config.auth, node.clock, silentTelemetry);
  const broker = new MqttBroker(node, silentTelemetry, access);
  await broker.listen();
  closing.push(async () => {
    await broker.close();
    await node.close();
  });
  return { node, access, broker };
}

/** A connection that sends nothing, and when it ends. */
async function silent({ url }: MqttBroker): Promise<{ readonly closed: Promise<unknown> }> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
  ends.push(() => socket.destroy());
  socket.on('error', () => undefined);
  socket.resume();
  const closed = once(socket, 'close');
  await once(socket, 'connect');
  return { closed };
}

/** Return code of CONNACK, and when the connection ends. */
function logIn(
  password: string | null,
  { url } = broker,
): Promise<{ readonly code: number; readonly closed: Promise<void> }> {
  const packet = connectPacket(`c${ends.length}`, 0, true, password ?? undefined);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) }, () => socket.write(packet));
    ends.push(() => socket.destroy());
    const closed = new Promise<void>((ended) => socket.once('close', () => ended()));
    socket.once('data', (answer) => resolve({ code: answer[3], closed }));
    socket.once('error', reject);
    socket.once('end', () => socket.end());
  });
}

describe('the MQTT listener with auth', () => {
  test.each([
    ['nothing', null, 4],
    ['an empty password', '', 4],
    ['a wrong token', 'qm_wrong', 4],
    ['a viewer', TOKENS.viewer, 5],
    ['an operator', TOKENS.operator, 5],
    ['an operator of a tenant', TOKENS.acme, 5],
    ['traffic', TOKENS.traffic, 0],
    ['an admin', TOKENS.admin, 0],
  ])('answers %s with the return code %3$i', async (_, password, code) => {
    expect((await logIn(password)).code).toBe(code);
  });

  test('counts who was not let in', () => {
    expect(access.status.failures).toMatchObject({ 'mqtt missing': 2, 'mqtt unknown': 1, 'mqtt denied': 3 });
  });

  test('ends connections whose token is not known any more', async () => {
    const { code, closed } = await logIn(TOKENS.traffic);
    const admin = await logIn(TOKENS.admin);
    expect([code, admin.code]).toEqual([0, 0]);
    const { auth } = node.config;
    access.take({ ...auth!, tokens: auth!.tokens.filter(({ name }) => name !== 'traffic') });
    broker.checkLogins();
    await closed;
    expect(broker.counts.disconnects['token-revoked']).toBe(2);
    expect([...broker.connections].filter((connection) => connection.isConnected)).toHaveLength(2);
    expect((await logIn(TOKENS.traffic)).code).toBe(4);
  });

  test('gives the connection up that has been silent for longest, where all are taken, and nobody who logged in', async () => {
    const { broker: small } = await listening({ maxConnections: 2 });
    const [first, second] = [await silent(small), await silent(small)];
    const client = await logIn(TOKENS.traffic, small);
    await first.closed;
    const other = await logIn(TOKENS.traffic, small);
    await second.closed;
    expect([client.code, other.code]).toEqual([0, 0]);
    await (await silent(small)).closed;
    expect(small.counts.disconnects['too-many-connections']).toBe(3);
    expect([...small.connections].filter((connection) => connection.isConnected)).toHaveLength(2);
  });
});
