import { expect, it } from 'vitest';
import { throttleTimeMs } from '../../../src/topic/answers/kafka-throttle-time.js';
import { BrokerLink } from '../../../src/topic/kafka/broker-link.js';
import { fetchById } from '../../../src/topic/kafka/fetch-13.js';
import { loadKafkajs } from '../../../src/topic/kafka/kafkajs-internals.js';
import { ThrottleWatch } from '../../../src/topic/remote/throttle-watch.js';
import { createTopicCounters } from '../../../src/topic/topic-counters.js';
import { fakeServer } from '../../fuzz/fake-server.js';
import { answerTo } from '../../fuzz/kafka-answers.js';

const THROTTLE_MS = 400;
const LINK = { clientId: 'quotamesh', connectionTimeoutMs: 1000, requestTimeoutMs: 200, tls: false, sasl: null };
const FETCH = {
  topicId: Buffer.alloc(16, 7),
  maxWaitMs: 0,
  minBytes: 1,
  maxBytes: 1 << 19,
  partitionMaxBytes: 1 << 18,
  partitions: [{ partition: 0, offset: 0, leaderEpoch: -1, lastReadEpoch: -1 }],
};

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
  const told: [number, string][] = [];
  const note = (throttleMs: number, who: string) => told.push([throttleMs, who]);
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
  const who = `broker 127.0.0.1:${server.port} throttles client id quotamesh by a client quota (consumer)`;
  expect(told).toEqual([
    [THROTTLE_MS, who],
    [THROTTLE_MS, who],
  ]);
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

it('tells once that it begins, and counts all of it', () => {
  const lines: string[] = [];
  const counters = createTopicCounters();
  const watch = new ThrottleWatch(counters, 't', (level, message) => lines.push(`${level} ${message}`));
  watch.noted(50, 'who');
  expect(watch.reason).toBeNull();
  watch.noted(3000, 'who');
  watch.noted(2000, 'who');
  expect(watch.reason).toBe('who, for 2000 ms');
  expect(counters.throttledMs).toBe(5050);
  expect(lines).toEqual([expect.stringMatching(/^warn the topic is throttled: who, for 3000 ms/)]);
  watch.close();
});
