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

beforeAll(async () => {
  const raw = {
    cluster: `mqtt-${process.pid}`,
    node: 'a',
    topic: 'memory',
    auth: AUTH,
    mqtt: { port: 0 },
    groups: { orders: {} },
  };
  const config = resolveConfig(raw, { source: '(test)' });
  node = await wholeNode(config, silentTelemetry);
  access = new Access(config.auth, node.clock, silentTelemetry);
  broker = new MqttBroker(node, silentTelemetry, access);
  await broker.listen();
});

afterAll(async () => {
  for (const end of ends) end();
  await broker.close();
  await node.close();
});

/** Return code of CONNACK, and when the connection ends. */
function logIn(password: string | null): Promise<{ readonly code: number; readonly closed: Promise<void> }> {
  const packet = connectPacket(`c${ends.length}`, 0, true, password ?? undefined);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(broker.url).port) }, () => socket.write(packet));
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
    expect(broker.counts.disconnects.get('token-revoked')).toBe(2);
    expect([...broker.connections].filter((connection) => connection.isConnected)).toHaveLength(2);
    expect((await logIn(TOKENS.traffic)).code).toBe(4);
  });
});
