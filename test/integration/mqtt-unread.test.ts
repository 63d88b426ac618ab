import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import mqtt, { type MqttClient } from 'mqtt';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrokerProcess, Brokers } from '../mqtt/broker-process.js';
import { connectPacket, subscribePacket } from '../unit/mqtt/wire.js';

const MIB = 1_048_576;
const MAX_HELD_BYTES = 1.5 * MIB;
/** More than two kernels keep for a socket that is not read, some 4 MB. */
const ROUND = { messages: 48, bytes: 250_000 };
/** Bytes of a large message that a socket gets at once. */
const PIECE_BYTES = 65_536;

/** Subscribers that read nothing: a piece of a message in the socket of each is more than all sockets may hold. */
const UNREAD = 30;

/** One is one piece, and more than a client's part; all sockets may hold one each. */
const RETAINED = { subscribers: 11, messages: 240, bytes: 50_000 };

let cluster: Brokers;
let broker: BrokerProcess;
const clients: MqttClient[] = [];
const unread: Socket[] = [];

beforeAll(async () => {
  const constants = { maxHeldBytes: MAX_HELD_BYTES, notReadingMs: 60_000 };
  [cluster, broker] = (await Brokers.start({ topic: 'memory', groups: { free: {} }, mqtt: {}, constants }, ['a'])) as [
    Brokers,
    BrokerProcess,
  ];
});

afterAll(async () => {
  for (const client of clients) client.end(true);
  for (const socket of unread) socket.destroy();
  await cluster?.stop();
});

async function client(clientId: string): Promise<MqttClient> {
  const one = await mqtt.connectAsync(broker.mqttUrl, { clientId, reconnectPeriod: 0 });
  clients.push(one);
  return one;
}

/** A client that subscribes, and reads nothing from its SUBACK on. */
async function unreadSubscriber(clientId: string, filter: string, qos: 0 | 1 | 2): Promise<Socket> {
  const { hostname, port } = new URL(broker.mqttUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  unread.push(socket);
  socket.on('error', () => undefined);
  socket.write(Buffer.concat([connectPacket(clientId), subscribePacket(filter, qos)]));
  let got = 0;
  await new Promise<void>((resolve) => {
    socket.on('data', (bytes) => {
      got += bytes.length;
      if (got < 9) return;
      socket.pause().removeAllListeners('data');
      resolve();
    });
  });
  return socket;
}

async function until(holds: () => boolean | Promise<boolean>, timeoutMs = 15_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error('it never came to that');
    await sleep(20);
  }
}

test('what unread subscribers hold is bounded in sum, and who reads beside them loses nothing', async () => {
  const reader = await client('reader');
  await reader.subscribeAsync('free/#', { qos: 1 });
  const got: number[] = [];
  reader.on('message', (_, payload) => got.push(payload.readUInt32BE()));
  for (let at = 0; at < UNREAD; at++) await unreadSubscriber(`unread-${at}`, 'free/#', 0);
  const publisher = await client('publisher');
  let mostBytes = 0;
  for (let sent = 0; sent < ROUND.messages; sent++) {
    const payload = Buffer.alloc(ROUND.bytes);
    payload.writeUInt32BE(sent);
    await publisher.publishAsync('free/x', payload, { qos: 1 });
    mostBytes = Math.max(mostBytes, (await broker.status()).heldBytes);
  }
  await until(() => got.length === ROUND.messages);
  expect(got).toEqual(Array.from({ length: ROUND.messages }, (_, at) => at));
  // Each client has a turn to read what it has just got: one piece of each may stand above the bound then.
  expect(mostBytes).toBeGreaterThan(MAX_HELD_BYTES / 2);
  expect(mostBytes).toBeLessThanOrEqual(MAX_HELD_BYTES + UNREAD * PIECE_BYTES);
  await until(async () => (await broker.status()).heldBytes <= MAX_HELD_BYTES, 2000);
  const { disconnects, heldBytes } = await broker.status();
  expect(heldBytes).toBeGreaterThan(MAX_HELD_BYTES / 2);
  expect(disconnects).toEqual({ 'held-full': expect.any(Number) });
  expect(disconnects['held-full']).toBeGreaterThan(2);
  await expect
    .poll(() => broker.child.output, { timeout: 8000 })
    .toMatch(/"client":"unread-\d+","reason":"held-full","bound":"mqtt.maxHeldBytes"/);
  expect(broker.child.output.match(/mqtt connection ended.*/g)).toHaveLength(1);
  await restore(reader);
});

test('retained messages wait for those who do not read: none ends, and each gets all once it reads', async () => {
  const publisher = await client('retains');
  const payload = Buffer.alloc(RETAINED.bytes);
  for (let at = 0; at < RETAINED.messages; at++) {
    await publisher.publishAsync(`kept/${at}`, payload, { qos: 1, retain: true });
  }
  const before = await broker.status();
  const subscribers: Socket[] = [];
  for (let at = 0; at < RETAINED.subscribers; at++) {
    subscribers.push(await unreadSubscriber(`later-${at}`, 'kept/#', (at % 3) as 0 | 1 | 2));
  }
  const reader = await client('later-reader');
  const topics = new Set<string>();
  reader.on('message', (topic) => topics.add(topic));
  await reader.subscribeAsync('kept/+', { qos: 1 });
  await until(() => topics.size === RETAINED.messages);
  const { heldBytes, queued, disconnects } = await broker.status();
  // One message each.
  expect(heldBytes).toBeGreaterThanOrEqual(subscribers.length * RETAINED.bytes);
  expect(heldBytes).toBeLessThan(subscribers.length * (RETAINED.bytes + 1000));
  expect([queued, disconnects]).toEqual([0, before.disconnects]);
  const late = subscribers[7].resume();
  await until(() => late.bytesRead >= RETAINED.messages * RETAINED.bytes);
  await restore(publisher, reader);
});

async function restore(...used: MqttClient[]): Promise<void> {
  for (const socket of unread.splice(0)) socket.destroy();
  for (const one of used) one.end(true);
  await until(async () => (await broker.status()).heldBytes === 0);
}
