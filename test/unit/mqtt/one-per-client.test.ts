import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Aedes } from 'aedes';
import mqtt, { type MqttClient } from 'mqtt';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createMqttCounts, type SessionCounts } from '../../../src/doors/mqtt/mqtt-counts.js';
import { onePerClient } from '../../../src/doors/mqtt/one-per-client.js';
import { boundSessions, type SessionStore } from '../../../src/doors/mqtt/session-bounds.js';

const LEVELS = 10;
const TOPIC = Array(LEVELS).fill('a').join('/');
/** All filters of ten levels that match the topic: 1,024. */
const FILTERS = Array.from({ length: 2 ** LEVELS }, (_, bits) =>
  Array.from({ length: LEVELS }, (_, level) => ((bits >> level) & 1 ? '+' : 'a')).join('/'),
);

const BOUNDS = {
  maxSessionMessages: 100,
  maxSessionBytes: 1e6,
  maxSubscriptions: 10_000,
  maxRetainedMessages: 100,
  maxRetainedBytes: 1e6,
};

let aedes: Aedes;
let called: number;
let kept: SessionCounts;
const server = createServer((socket) => aedes.handle(socket));
const clients: MqttClient[] = [];

beforeEach(async () => {
  aedes = new Aedes();
  onePerClient(aedes);
  await aedes.listen();
  const { kept: counts } = createMqttCounts();
  const { persistence } = aedes as Aedes & { persistence: SessionStore };
  boundSessions(persistence, { ...BOUNDS, counts, onFull: () => undefined, onRepeated: () => undefined });
  kept = counts;
  const { _matcher: matcher } = (aedes as Aedes & { mq: { _matcher: { match(topic: string): unknown[] } } }).mq;
  const match = matcher.match.bind(matcher);
  called = 0;
  matcher.match = (topic) => {
    const matched = match(topic);
    if (topic === TOPIC) called += matched.length;
    return matched;
  };
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(async () => {
  for (const one of clients.splice(0)) one.end(true);
  await new Promise<void>((resolve) => aedes.close(() => resolve()));
  await new Promise((resolve) => server.close(resolve));
});

async function client(clientId: string, clean = true): Promise<{ one: MqttClient; got: string[] }> {
  const one = mqtt.connect(`mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`, { clientId, clean });
  const got: string[] = [];
  one.on('message', (_, payload) => got.push(payload.toString()));
  clients.push(one);
  await new Promise<void>((resolve) => one.once('connect', () => resolve()));
  return { one, got };
}

test('a message is handed once to each client, however many of its filters match', async () => {
  const [greedy, other, away] = [await client('greedy'), await client('other'), await client('away', false)];
  await greedy.one.subscribeAsync(FILTERS.slice(0, 500));
  await greedy.one.subscribeAsync(FILTERS.slice(500));
  await other.one.subscribeAsync([TOPIC, '#'], { qos: 1 });
  await away.one.subscribeAsync(FILTERS, { qos: 1 });
  await other.one.publishAsync(TOPIC, 'first', { qos: 1 });
  expect(called).toBe(3);
  await expect.poll(() => [away.got, kept.sessionMessages]).toEqual([['first'], 0]);
  await away.one.endAsync();
  await other.one.publishAsync(TOPIC, 'while away', { qos: 1 });
  expect([called, kept.sessionMessages]).toEqual([5, 1]);
  const back = await client('away', false);
  await expect.poll(() => [back.got, kept.sessionMessages]).toEqual([['while away'], 0]);
  await greedy.one.unsubscribeAsync(FILTERS.slice(0, 1000));
  await other.one.publishAsync(TOPIC, 'second', { qos: 1 });
  expect(called).toBe(8);
  await greedy.one.unsubscribeAsync(FILTERS.slice(1000));
  await other.one.publishAsync(TOPIC, 'third', { qos: 1 });
  expect(called).toBe(10);
  await expect.poll(() => [back.got, kept.sessionMessages]).toEqual([['while away', 'second', 'third'], 0]);
  expect(greedy.got).toEqual(['first', 'while away', 'second']);
  expect(other.got).toEqual(['first', 'while away', 'second', 'third']);
});

test.each([
  ['wildcard', { '#': { qos: 0 }, 'a/+': { qos: 0 }, 'a/b': { qos: 1 } }],
  ['topic itself', { '#': { qos: 0 }, 'a/+': { qos: 1 }, 'a/b': { qos: 0 } }],
] as const)(
  'it comes with the highest QoS that its filters have, and none stays in the session (%s is lower)',
  async (_, filters) => {
    const [kept0, sender] = [await client('kept', false), await client('sender')];
    const qos: number[] = [];
    kept0.one.on('message', (_topic, _payload, packet) => qos.push(packet.qos));
    await kept0.one.subscribeAsync(filters);
    for (let sent = 0; sent < 20; sent++) await sender.one.publishAsync('a/b', 'x', { qos: 1 });
    await expect.poll(() => [qos.length, kept.sessionMessages, kept.sessionBytes]).toEqual([20, 0, 0]);
    expect(new Set(qos)).toEqual(new Set([1]));
  },
);
