import { setTimeout as sleep } from 'node:timers/promises';
import mqtt, { type MqttClient } from 'mqtt';
import { afterAll, expect, test } from 'vitest';
import { type BrokerProcess, Brokers } from '../mqtt/broker-process.js';
import { startPublishers } from '../mqtt/publisher-process.js';
import { OtherLoad } from '../other-load.js';

/** 2,000 connections: 1,000 publishers that want twice the quota, each with a subscriber of its own. */
const PAIRS = 1000;
const QUOTA = 1000;
const LOAD_MS = 60_000;
/** Connections made at once: the machine does other things, too. */
const BATCH = 50;

let cluster: Brokers | undefined;
afterAll(() => cluster?.stop());

test('2,000 connections for 60 s: nothing lost, nothing repeated, nothing left behind', async () => {
  const groups = { load: { quota: { publish: { messagesPerSecond: QUOTA } } } };
  // Publishers come all at once, and do not come back.
  const mqttSettings = { rules: [{ topic: '{namespace}/#', group: '{namespace}' }], connectsPerSecond: 10_000 };
  const [brokers, broker] = (await Brokers.start({ topic: 'memory', groups, mqtt: mqttSettings }, ['a'])) as [
    Brokers,
    BrokerProcess,
  ];
  cluster = brokers;
  const idleBytes = await heapBytes(broker);
  const got = new Map<string, number[]>();
  const subscribers = await subscribeAll(broker, got);
  const plans = Array.from({ length: PAIRS }, (_, at) => ({ id: `p${at}`, topic: `load/p${at}`, perSecond: 2 }));
  const publishers = await startPublishers(broker.mqttUrl, plans, { underWay: 5 });
  const others = new OtherLoad();
  publishers.go();
  await sleep(LOAD_MS / 2);
  const halfBytes = await heapBytes(broker);
  await sleep(LOAD_MS / 2);
  const { connections } = await broker.status();
  const fullBytes = await heapBytes(broker);
  const isTooBusy = others.isTooMuch('mqtt load');
  const { acknowledged, errors } = await publishers.drain();
  const total = Object.values(acknowledged).reduce((sum, one) => sum + one, 0);
  await sleep(1000);
  expect(errors).toBe(0);
  expect(connections).toBe(2 * PAIRS);
  // QoS 1 on connections that never broke: exactly once, in order.
  for (const [publisher, count] of Object.entries(acknowledged)) {
    expect(got.get(publisher), publisher).toEqual(Array.from({ length: count }, (_, at) => at));
  }
  if (!isTooBusy) expect(total).toBeGreaterThan(QUOTA * (LOAD_MS / 1000) * 0.95);
  publishers.end();
  for (const client of subscribers) client.end(true);
  await sleep(3000);
  const after = await broker.status();
  const leftBytes = await heapBytes(broker);
  const megabytes = [idleBytes, halfBytes, fullBytes, leftBytes].map((bytes) => (bytes / 1e6).toFixed(0));
  console.log(`mqtt load: ${total} messages; heap ${megabytes.join(', ')} MB idle, half way, at the end, afterwards`);
  expect([after.connections, after.queued, after.heldBytes, after.pendingPublishes]).toEqual([0, 0, 0, 0]);
  // A heap that is not collected on purpose: a leak of 1 KB per message would be 60 MB.
  expect(fullBytes - halfBytes).toBeLessThan(40e6);
  expect(leftBytes - idleBytes).toBeLessThan(60e6);
}, 300_000);

async function subscribeAll(broker: BrokerProcess, got: Map<string, number[]>): Promise<MqttClient[]> {
  const clients: MqttClient[] = [];
  for (let first = 0; first < PAIRS; first += BATCH) {
    const batch = Array.from({ length: BATCH }, async (_, at) => {
      const publisher = `p${first + at}`;
      const received: number[] = [];
      got.set(publisher, received);
      const client = await mqtt.connectAsync(broker.mqttUrl, { clientId: `s-${publisher}`, reconnectPeriod: 0 });
      client.on('message', (__, payload) => received.push(Number(payload.toString())));
      await client.subscribeAsync(`load/${publisher}`, { qos: 1 });
      return client;
    });
    clients.push(...(await Promise.all(batch)));
  }
  return clients;
}

/** The smallest of a few readings: the rest is garbage. */
async function heapBytes(broker: BrokerProcess): Promise<number> {
  let least = Infinity;
  for (let reading = 0; reading < 10; reading++) {
    const metrics = await broker.metrics();
    least = Math.min(least, Number(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(metrics)?.[1]));
    await sleep(200);
  }
  return least;
}
