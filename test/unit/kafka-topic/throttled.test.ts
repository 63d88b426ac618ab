import { expect, it, vi } from 'vitest';
import { QuotameshError } from '../../../src/base/errors/quotamesh-error.js';
import { throttleTimeMs } from '../../../src/topic/answers/kafka-answer-bounds.js';
import { BrokerLink } from '../../../src/topic/kafka/broker-link.js';
import { fetchById } from '../../../src/topic/kafka/fetch-13.js';
import { loadKafkajs } from '../../../src/topic/kafka/kafkajs-internals.js';
import { heldQuotas, quotaClientOf } from '../../../src/topic/kafka/own-quota.js';
import { ThrottleWatch } from '../../../src/topic/remote/throttle-watch.js';
import { createTopicCounters } from '../../../src/topic/topic-counters.js';
import { fakeServer } from '../../fuzz/fake-server.js';
import { answerTo, FETCH } from '../../fuzz/kafka-answers.js';

const THROTTLE_MS = 400;
const LINK = { clientId: 'quotamesh', connectionTimeoutMs: 1000, requestTimeoutMs: 200, tls: false, sasl: null };

it('waits for a broker that throttles it, and says who throttles whom', async () => {
  let mutedUntilMs = 0;
  const server = await fakeServer((socket, bytes) => {
    if (bytes.length < 12 || bytes.length < 4 + bytes.readInt32BE(0)) return 0;
    const apiKey = bytes.readInt16BE(4);
    const answer = answerTo(apiKey, bytes.readInt16BE(6), bytes.readInt32BE(8), THROTTLE_MS);
    setTimeout(() => socket.write(answer), Math.max(0, mutedUntilMs - performance.now()));
    if (apiKey === 1) mutedUntilMs = performance.now() + THROTTLE_MS;
    return 4 + bytes.readInt32BE(0);
  });
  const told: [number, QuotameshError][] = [];
  const note = (throttleMs: number, error: QuotameshError) => told.push([throttleMs, error]);
  const kafkajs = loadKafkajs();
  const link = new BrokerLink(
    kafkajs,
    { host: '127.0.0.1', port: server.port },
    LINK,
    () => {},
    () => {},
    note,
  );
  await link.connect();
  await link.exchange(fetchById(kafkajs, FETCH));
  await link.exchange(fetchById(kafkajs, FETCH));
  link.destroy(new Error('done'));
  expect(told.map(([throttleMs, { message }]) => [throttleMs, message])).toEqual(
    Array(2).fill([
      THROTTLE_MS,
      `broker 127.0.0.1:${server.port} throttles client id quotamesh by a client quota (consumer_byte_rate or request_percentage)`,
    ]),
  );
  expect(told[0]?.[1].remedy).toContain(
    '--alter --entity-type users --entity-name ANONYMOUS --entity-type clients --entity-name quotamesh --add-config',
  );
});

it('reads the time where each version has it', () => {
  const time = Buffer.from([0, 0, 1, 0x90]);
  const rest = Buffer.alloc(40);
  expect(throttleTimeMs(0, 7, Buffer.concat([rest, time]))).toBe(400);
  expect(throttleTimeMs(1, 11, Buffer.concat([time, rest]))).toBe(400);
  expect(throttleTimeMs(1, 13, Buffer.concat([Buffer.from([0]), time, rest]))).toBe(400);
  expect(throttleTimeMs(3, 10, Buffer.concat([Buffer.from([0]), time, rest]))).toBe(400);
  expect(throttleTimeMs(18, 2, Buffer.concat([time, rest]))).toBe(0);
  expect(throttleTimeMs(0, 7, Buffer.alloc(2))).toBe(0);
});

it('tells once that it begins and ends, and counts all of it', () => {
  vi.useFakeTimers();
  const lines: string[] = [];
  const counters = createTopicCounters();
  const log = (level: string, message: string) => lines.push(`${level} ${message}`);
  const watch = new ThrottleWatch({ counters, topic: 't', log });
  const error = new QuotameshError('TOPIC_THROTTLED', { broker: 'b', client: 'c', quota: 'q', command: 'do it' });
  watch.noted(50, error);
  expect(watch.reason).toBeNull();
  watch.noted(3000, error);
  watch.noted(2000, error);
  expect(watch.reason).toBe(`${error.message}, for 2000 ms. ${error.remedy}`);
  expect(error.remedy).toContain('`do it`');
  expect(counters.throttledMs).toBe(5050);
  expect(lines).toEqual([
    expect.stringMatching(
      /^warn the topic is throttled: broker b throttles c by a client quota \(q\), for 3000 ms; reports/,
    ),
  ]);
  vi.advanceTimersByTime(6999);
  expect(watch.reason).not.toBeNull();
  vi.advanceTimersByTime(1);
  expect(watch.reason).toBeNull();
  expect(lines[1]).toBe('info the topic is throttled no more');
  vi.useRealTimers();
});

it('finds the quota that Kafka takes first, of each kind', () => {
  const quota = (value: number, names: Readonly<Record<string, string | null>>, key = 'producer_byte_rate') => {
    return { entity: Object.entries(names).map(([type, name]) => ({ type, name })), values: [{ key, value }] };
  };
  const inOrder = [
    quota(1, { user: 'alice', 'client-id': 'q-a' }),
    quota(2, { 'client-id': null, user: 'alice' }),
    quota(3, { user: 'alice' }),
    quota(4, { user: null, 'client-id': 'q-a' }),
    quota(5, { user: null, 'client-id': null }),
    quota(6, { user: null }),
    quota(7, { 'client-id': 'q-a' }),
    quota(8, { 'client-id': null }),
  ];
  const alice = { clientId: 'q-a', user: 'alice' };
  const others = [quota(9, { user: 'bob' }), quota(9, { 'client-id': 'q-b' }), quota(9, { ip: null })];
  const isDefault = [false, false, false, false, true, true, false, true];
  inOrder.forEach((_, at) => {
    const held = [{ key: 'producer_byte_rate', value: at + 1, isDefault: isDefault[at] }];
    expect(heldQuotas(alice, [...others, ...inOrder.slice(at).reverse()])).toEqual(held);
  });
  expect(heldQuotas(alice, others)).toEqual([]);
  expect(heldQuotas({ clientId: 'q-a', user: null }, inOrder)).toMatchObject([{ value: 4 }]);
  const mixed = [quota(1, { 'client-id': null }), quota(2, { 'client-id': 'q-a' }, 'consumer_byte_rate')];
  expect(heldQuotas(alice, mixed).map(({ value }) => value)).toEqual([1, 2]);
  expect(quotaClientOf('q-a', null, false).user).toBe('ANONYMOUS');
  expect(quotaClientOf('q-a', null, { cert: 'c' }).user).toBeNull();
});
