import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import mqtt, { type MqttClient } from 'mqtt';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrokerProcess, Brokers } from '../mqtt/broker-process.js';
import { connectPacket, subscribePacket } from '../unit/mqtt/wire.js';

let cluster: Brokers;
let broker: BrokerProcess;
const clients: MqttClient[] = [];

beforeAll(async () => {
  const constants = { maxSubscriptions: 5, maxRetainedMessages: 3 };
  const bounds = { maxSessionMessages: 20 };
  [cluster, broker] = (await Brokers.start({ topic: 'memory', groups: { free: {} }, mqtt: bounds, constants }, [
    'a',
  ])) as [Brokers, BrokerProcess];
});

afterAll(async () => {
  for (const client of clients) client.end(true);
  await cluster?.stop();
});

async function client(clientId: string, clean: boolean): Promise<MqttClient> {
  const one = await mqtt.connectAsync(broker.mqttUrl, { clientId, clean, reconnectPeriod: 0 });
  one.on('error', () => undefined);
  clients.push(one);
  return one;
}

test('a client that is away gets what its session may hold, in order; the rest is counted and logged', async () => {
  // `constructor`: what an object answers to without having been given it.
  for (const id of ['away', 'constructor']) {
    const away = await client(id, false);
    await away.subscribeAsync('free/away', { qos: 1 });
    await away.endAsync();
  }
  const publisher = await client('publisher', true);
  for (let sent = 0; sent < 50; sent++) await publisher.publishAsync('free/away', `${sent}`, { qos: 1 });
  expect((await broker.status()).kept).toMatchObject({ sessionMessages: 40, sessionDropped: 60 });
  await expect
    .poll(() => broker.child.output, { timeout: 8000 })
    .toMatch(/"bound":"session-full","client":"away".*mqtt keeps no more/);
  const got: number[] = [];
  const back = mqtt.connect(broker.mqttUrl, { clientId: 'away', clean: false, reconnectPeriod: 0 });
  clients.push(back);
  back.on('message', (_, payload) => got.push(Number(payload)));
  const deadline = performance.now() + 8000;
  while ((await broker.status()).kept.sessionMessages !== 20 && performance.now() < deadline) await sleep(20);
  expect(got).toEqual(Array.from({ length: 20 }, (_, at) => at));
  const { kept } = await broker.status();
  expect(kept).toMatchObject({ sessionMessages: 20, subscriptions: 2 });
  expect(await broker.metrics()).toMatch(/quotamesh_mqtt_not_kept_total\{[^}]*kind="session"[^}]*\} 60/);
});

test('sessions have room for so many subscriptions; beyond it the connection ends, the others notice nothing', async () => {
  const greedy = await client('greedy', false);
  const closed = new Promise<void>((resolve) => greedy.once('close', () => resolve()));
  void greedy.subscribeAsync(['free/1', 'free/2', 'free/3', 'free/4'], { qos: 1 }).catch(() => undefined);
  await closed;
  expect((await broker.status()).disconnects['subscriptions-full']).toBe(1);
  const other = await client('clean', true);
  const granted = await other.subscribeAsync('free/5', { qos: 1 });
  expect(granted[0]?.qos).toBe(1);
});

test('a clean client has no more room than sessions, and gives back what it had when it goes', async () => {
  const { subscriptions } = (await broker.status()).kept;
  const greedy = await client('greedy-clean', true);
  const closed = new Promise<void>((resolve) => greedy.once('close', () => resolve()));
  for (let at = 0; at < 6; at++) void greedy.subscribeAsync(`free/many/${at}`, { qos: 0 }).catch(() => undefined);
  await closed;
  const { disconnects, kept } = await broker.status();
  expect([disconnects['subscriptions-full'], kept.subscriptions]).toEqual([2, subscriptions]);
});

test('long filters of a clean client take the room of several', async () => {
  const { subscriptions } = (await broker.status()).kept;
  const greedy = await client('long-filters', true);
  const closed = new Promise<void>((resolve) => greedy.once('close', () => resolve()));
  void greedy.subscribeAsync(`free/${'x'.repeat(2000)}`, { qos: 0 }).catch(() => undefined);
  await closed;
  const { disconnects, kept } = await broker.status();
  expect([disconnects['subscriptions-full'], kept.subscriptions]).toEqual([3, subscriptions]);
});

test('a session that is connected and never acknowledges is cut off when it is full', async () => {
  const { hostname, port } = new URL(broker.mqttUrl);
  const silent = connect({ host: hostname, port: Number(port) });
  const closed = new Promise<void>((resolve) => silent.once('close', () => resolve()));
  silent.resume();
  silent.write(Buffer.concat([connectPacket('silent', 0, false), subscribePacket('free/silent', 1)]));
  const publisher = await client('to-silent', true);
  const deadline = performance.now() + 8000;
  let sent = 0;
  for (let isOpen = true; isOpen && performance.now() < deadline; sent++) {
    await publisher.publishAsync('free/silent', `${sent}`, { qos: 1 });
    isOpen = !silent.destroyed;
  }
  await closed;
  expect((await broker.status()).disconnects['session-full']).toBe(1);
  expect(sent).toBeGreaterThan(20);
  await publisher.publishAsync('free/silent', 'the others go on', { qos: 1 });
});

test('retained messages have a bound; what goes beyond is delivered all the same', async () => {
  const listener = await client('listener', true);
  const topics: string[] = [];
  await listener.subscribeAsync('free/r/#', { qos: 1 });
  listener.on('message', (topic) => topics.push(topic));
  const publisher = await client('retains', true);
  for (let at = 0; at < 5; at++) await publisher.publishAsync(`free/r/${at}`, 'x', { qos: 1, retain: true });
  const deadline = performance.now() + 8000;
  while (topics.length < 5 && performance.now() < deadline) await sleep(20);
  expect(topics).toHaveLength(5);
  expect((await broker.status()).kept).toMatchObject({ retainedMessages: 3, retainedBytes: 795, retainedDropped: 2 });
});
