import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import type { ReadRecord } from '../../src/base/ports/report-topic.js';
import { resolveConfig } from '../../src/config/read/resolve-config.js';
import { RedisAnswerBounds } from '../../src/topic/answers/redis-answer-bounds.js';
import { BrokerLink } from '../../src/topic/kafka/broker-link.js';
import { fetchById } from '../../src/topic/kafka/fetch-13.js';
import { KafkaReportTopic } from '../../src/topic/kafka/kafka-report-topic.js';
import { loadKafkajs } from '../../src/topic/kafka/kafkajs-internals.js';
import type { KafkaTopicConfig } from '../../src/topic/kafka/kind.js';
import { LeaderReader } from '../../src/topic/kafka/leader-reader.js';
import { LeaderWriter } from '../../src/topic/kafka/leader-writer.js';
import { metadataWithId } from '../../src/topic/kafka/metadata-10.js';
import { PartitionCursor } from '../../src/topic/kafka/partition-cursor.js';
import type { RedisTopicConfig } from '../../src/topic/redis/kind.js';
import { scanNewest } from '../../src/topic/redis/log-reader.js';
import { RedisConnection } from '../../src/topic/redis/redis-connection.js';
import { RedisReportTopic } from '../../src/topic/redis/redis-report-topic.js';
import { redisTopicOptions } from '../../src/topic/redis/redis-topic-options.js';
import type { TopicLink } from '../../src/topic/redis/topic-link.js';
import { Outbox } from '../../src/topic/remote/outbox.js';
import { randomOf } from '../property/random-of.js';
import { drawn, partOf } from '../property/seed.js';
import { drip, fakeServer, pour, type Serve } from './fake-server.js';
import { answerTo, FETCH, fetchedAnswer, KAFKA_FETCHED, recordBatch } from './kafka-answers.js';
import { mutate } from './mutate.js';

const SEED = Number(process.env.QUOTAMESH_TEST_SEED ?? 20_261_128);
const MEMORY_BYTES_MAX = 64 * 1024 * 1024;
const FRAMES = partOf(600);
const ACCESS = { topic: 't', grantee: { principal: 'User:a', bootstrapServer: 'b:1' } };
const AT_ONCE = 8;

let uncaught: unknown[] = [];
const note = (error: unknown) => uncaught.push(error);
beforeEach(() => {
  uncaught = [];
  process.on('uncaughtExceptionMonitor', note);
});
afterEach(() => {
  process.off('uncaughtExceptionMonitor', note);
  expect(uncaught).toEqual([]);
});

/** Runs `work` and returns the largest growth of the process' memory meanwhile. */
async function growthOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 5);
  await work();
  clearInterval(timer);
  return Math.max(peak, process.memoryUsage.rss()) - before;
}

async function repeat(times: number, work: () => Promise<unknown>): Promise<void> {
  let left = times;
  const worker = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

const kafkajs = loadKafkajs();
/** For answers that are refused, or end, however slow the machine is. */
const PATIENT_MS = 20_000;
const patienceOf = (reason: RegExp) => (reason.source.includes('within') ? {} : { requestTimeoutMs: PATIENT_MS });
const LINK = { clientId: 'fuzz', connectionTimeoutMs: 1000, requestTimeoutMs: 250, tls: false, sasl: null };

/** Answers every request of Kafka with what `answer` returns, and ends where that is told. */
function kafka(answer: (apiKey: number, honest: Buffer, socket: Socket) => Buffer | null): Serve {
  return (socket, bytes) => {
    let at = 0;
    while (bytes.length - at >= 12 && bytes.length - at >= 4 + bytes.readInt32BE(at)) {
      const apiKey = bytes.readInt16BE(at + 4);
      const answered = answer(apiKey, answerTo(apiKey, bytes.readInt16BE(at + 6), bytes.readInt32BE(at + 8)), socket);
      if (answered !== null && !socket.destroyed) socket.write(answered);
      at += 4 + bytes.readInt32BE(at);
    }
    return at;
  };
}

async function useKafka(port: number, which: number, patience = {}): Promise<unknown> {
  const link = new BrokerLink(kafkajs, { host: '127.0.0.1', port }, { ...LINK, ...patience }, () => {});
  try {
    await link.connect();
    if (which === 0) return await link.exchange(metadataWithId('t'));
    if (which === 1) return await link.exchange(fetchById(kafkajs, FETCH));
    const topics = [{ topic: 't', partitions: [{ partition: 0, timestamp: -1 }] }];
    return await link.send('ListOffsets', { isolationLevel: 0, topics });
  } finally {
    link.destroy(new Error('done'));
  }
}

it(`${FRAMES} broken answers of Kafka: every one ends its connection or is an answer, and the next one works`, async () => {
  const random = randomOf(SEED + drawn);
  const honest = kafka((_, answer) => answer);
  const server = await fakeServer(honest);
  expect(await useKafka(server.port, 1)).toEqual(KAFKA_FETCHED);
  const hostile = kafka((apiKey, answer, socket) => {
    if (apiKey === 18 && random() < 0.8) return answer;
    socket.end(mutate(answer, random));
    return null;
  });
  let failed = 0;
  const growth = await growthOf(async () => {
    server.serve = hostile;
    await repeat(FRAMES, () => useKafka(server.port, Math.floor(random() * 3)).catch(() => failed++));
  });
  expect(failed).toBeGreaterThan(FRAMES / 2);
  expect(growth).toBeLessThan(MEMORY_BYTES_MAX);
  server.serve = honest;
  expect(await useKafka(server.port, 1)).toEqual(KAFKA_FETCHED);
});

const int32 = (...numbers: number[]) => {
  const bytes = Buffer.alloc(4 * numbers.length);
  for (const [i, number] of numbers.entries()) bytes.writeInt32BE(number, 4 * i);
  return bytes;
};

it.each<readonly [string, (socket: Socket, correlation: number) => void, RegExp]>([
  ['a length of 0', (socket) => socket.write(int32(0)), /a length of 0$/],
  ['a length of 2', (socket) => socket.write(Buffer.from([0, 0, 0, 2, 1, 1])), /a length of 2$/],
  ['a length of -5', (socket) => socket.write(int32(-5)), /a length of -5$/],
  ['2 GiB, and bytes', (socket) => pour(socket, int32(0x7fffffff), Buffer.alloc(65_536, 65)), /2147483647, at most/],
  [
    'an alert of TLS',
    (socket) => socket.end(Buffer.from('15030300020246', 'hex')),
    /the port wants TLS: set topic.tls/,
  ],
  ['a page', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), /speaks HTTP: topic.brokers names another/],
  ['an answer nobody asked for', (socket) => socket.write(int32(20, 12_345)), /to request 12345$/],
  [
    '30,000,000 elements',
    (socket, id) =>
      socket.write(Buffer.concat([int32(110, id), Buffer.alloc(2), int32(30_000_000), Buffer.alloc(100)])),
    /30000000 elements/,
  ],
  [
    '1 MiB in single bytes',
    (socket, id) => drip(socket, Buffer.concat([int32(1 << 20, id), Buffer.alloc(1 << 20)])),
    /did not answer within/,
  ],
])('Kafka answers with %s', async (_, answer, reason) => {
  const server = await fakeServer(
    kafka((__, honest, socket) => {
      answer(socket, honest.readInt32BE(4));
      return null;
    }),
  );
  const growth = await growthOf(async () => {
    await expect(useKafka(server.port, 0, patienceOf(reason))).rejects.toThrow(reason);
  });
  expect(growth).toBeLessThan(MEMORY_BYTES_MAX);
});

it('Kafka asks for a proof of 2^31 - 1 iterations: refused, and no thread computes it', async () => {
  const [handshake, authenticate] = [17, 36];
  const text = (words: string) => Buffer.concat([Buffer.from([0, words.length]), Buffer.from(words)]);
  const framed = (id: Buffer, ...parts: Buffer[]) => {
    const body = Buffer.concat([id, ...parts]);
    return Buffer.concat([int32(body.length), body]);
  };
  const proof = Buffer.from('r=nonce,s=c2FsdA==,i=2147483647');
  const server = await fakeServer(
    kafka((apiKey, honest) => {
      const id = honest.subarray(4, 8);
      if (apiKey === handshake) return framed(id, Buffer.alloc(2), int32(1), text('SCRAM-SHA-512'));
      if (apiKey !== authenticate) return honest;
      return framed(id, Buffer.from([0, 0, 255, 255]), int32(proof.length), proof, Buffer.alloc(8));
    }),
  );
  const sasl = { mechanism: 'scram-sha-512', username: 'u', password: 'p' };
  const link = new BrokerLink(kafkajs, { host: '127.0.0.1', port: server.port }, { ...LINK, sasl }, () => {});
  await expect(link.connect()).rejects.toThrow('a proof of 2147483647 iterations, at most 100000 are allowed');
});

/** Reads the topic at such a server until that fails, or for 0.3 s; returns why, and the times and offsets of records. */
async function readFrom(port: number): Promise<{ reason: string; records: [number, number][]; unreadable: string[] }> {
  const link = new BrokerLink(kafkajs, { host: '127.0.0.1', port }, LINK, () => {});
  const records: [number, number][] = [];
  const unreadable: string[] = [];
  const sink = {
    onReading: () => {},
    onRecords: (read: readonly ReadRecord[]) => {
      for (const { appendMs, offset } of read) records.push([appendMs, offset]);
    },
    onUnreadable: (_: number, batch: { readonly unreadable: string | null }) =>
      unreadable.push(String(batch.unreadable)),
    onProgress: () => {},
  };
  const settings = { ...ACCESS, topicId: FETCH.topicId, fetchMaxWaitMs: 50, fetchMinBytes: 1, fetchIntervalMs: 0 };
  const reader = new LeaderReader(kafkajs, link, [new PartitionCursor(0)], settings, sink, () => {});
  const reading = link.connect().then(async () => {
    await reader.start();
    return reader.run();
  });
  const reason = await Promise.race([reading.catch((error) => String(error)), sleep(300).then(() => 'still reading')]);
  link.destroy(new Error('done'));
  return { reason, records, unreadable };
}

const FETCH_KEY = 1;
const HUGE = 2n ** 62n;

/** Lists answers to fetches, how reading ends, and how many fetches are allowed. */
it.each<readonly [string, (id: number) => Buffer, RegExp, number, object]>([
  ['another topic', (id) => fetchedAnswer(id, recordBatch({}), Buffer.alloc(16, 9)), /malformed.*another topic/, 1, {}],
  [
    'a batch that is longer than the answer',
    (id) => fetchedAnswer(id, recordBatch({ length: 9999 })),
    /malformed/,
    1,
    {},
  ],
  ['a batch of negative length', (id) => fetchedAnswer(id, recordBatch({ length: -9 })), /malformed/, 1, {}],
  [
    'a batch that ends before it begins',
    (id) => fetchedAnswer(id, recordBatch({ lastOffsetDelta: -7 })),
    /malformed/,
    1,
    {},
  ],
  ['offsets beyond 2^53', (id) => fetchedAnswer(id, recordBatch({ firstOffset: HUGE })), /malformed/, 1, {}],
  ['negative offsets', (id) => fetchedAnswer(id, recordBatch({ firstOffset: -5n })), /malformed/, 1, {}],
  ['the same batch for ever', (id) => fetchedAnswer(id, recordBatch({})), /still/, 40, { records: [[1, 0]] }],
  [
    'a record behind its batch',
    (id) => fetchedAnswer(id, recordBatch({ record: [0, 8, 1, 1] })),
    /still/,
    40,
    { records: [] },
  ],
  ['-3 records', (id) => fetchedAnswer(id, recordBatch({ count: -3 })), /still/, 40, { records: [] }],
  ['2^31 records', (id) => fetchedAnswer(id, recordBatch({ count: 2 ** 31 - 1 })), /still/, 40, { records: [] }],
  [
    'a value of -2^30 bytes',
    (id) => fetchedAnswer(id, recordBatch({ record: [0, 0, 1, 255, 255, 255, 255, 7] })),
    /still/,
    40,
    { records: [] },
  ],
  [
    'the year 146 million',
    (id) => fetchedAnswer(id, recordBatch({ timeMs: HUGE })),
    /still/,
    40,
    { records: [[Number(HUGE), 0]] },
  ],
])('a fetch of Kafka brings %s', async (_, answer, ending, fetchesMax, outcome) => {
  let fetches = 0;
  const server = await fakeServer(
    kafka((apiKey, honest) => {
      if (apiKey !== FETCH_KEY) return honest;
      fetches++;
      return answer(honest.readInt32BE(4));
    }),
  );
  let read: Awaited<ReturnType<typeof readFrom>> | null = null;
  const growth = await growthOf(async () => {
    read = await readFrom(server.port);
  });
  expect(read!.unreadable.length).toBeLessThanOrEqual(1);
  expect(read).toMatchObject({ reason: expect.stringMatching(ending), ...outcome });
  // A broker that brings nothing new is asked a hundred times a second at most.
  expect(fetches).toBeLessThanOrEqual(fetchesMax);
  expect(growth).toBeLessThan(MEMORY_BYTES_MAX);
});

const REDIS = ['+OK\r\n', ':7\r\n', '$3\r\nabc\r\n', '$-1\r\n', '*-1\r\n', '-ERR no\r\n', '*0\r\n'].map((text) =>
  Buffer.from(text),
);
const STREAM = Buffer.from(
  '*1\r\n*2\r\n$1\r\nl\r\n*1\r\n*2\r\n$3\r\n7-0\r\n*4\r\n$1\r\nk\r\n$1\r\na\r\n$1\r\nr\r\n$4\r\n1 1\n\r\n',
);

const TIMES = { redis: { requestTimeoutMs: 500, connectionTimeoutMs: 1000 } };
const config = (topic: object) =>
  resolveConfig({ cluster: 'fuzz', topic }, { source: 'test', env: {}, hostName: 'host', constants: TIMES }).topic;
const redisConfig = (port: number) =>
  config({
    kind: 'redis',
    addresses: [`127.0.0.1:${port}`],
  }) as RedisTopicConfig;

async function useRedis(port: number, patience = {}): Promise<unknown> {
  const options = redisTopicOptions('fuzz', 'reports', redisConfig(port), {});
  const connection = new RedisConnection({ ...options, ...patience });
  try {
    await connection.connect();
    return await connection.send('XREAD', ['STREAMS', 'l', '0']);
  } finally {
    connection.destroy(new Error('done'));
  }
}

const answering = (answer: Buffer | ((socket: Socket) => void)): Serve => {
  return (socket, bytes) => {
    if (typeof answer === 'function') answer(socket);
    else socket.write(answer);
    return bytes.length;
  };
};

it(`${FRAMES} broken answers of Redis: every one ends its connection or is an answer, and the next one works`, async () => {
  const random = randomOf(SEED + drawn);
  const server = await fakeServer(answering(STREAM));
  const expected = [['l', [['7-0', ['k', 'a', 'r', '1 1\n']]]]];
  const read = async () =>
    JSON.parse(
      JSON.stringify(await useRedis(server.port), (_, value) =>
        value?.type === 'Buffer' ? String(Buffer.from(value)) : value,
      ),
    );
  expect(await read()).toEqual(expected);
  let failed = 0;
  const growth = await growthOf(async () => {
    server.serve = answering((socket) => {
      const base = random() < 0.6 ? STREAM : REDIS[Math.floor(random() * REDIS.length)];
      socket.end(mutate(base, random));
    });
    await repeat(FRAMES, () => useRedis(server.port).catch(() => failed++));
  });
  expect(failed).toBeGreaterThan(FRAMES / 2);
  expect(growth).toBeLessThan(MEMORY_BYTES_MAX);
  server.serve = answering(STREAM);
  expect(await read()).toEqual(expected);
});

it('finds the ends of answers however they are cut', () => {
  const answers = Buffer.concat([STREAM, ...REDIS]);
  for (let cut = 1; cut < answers.length; cut++) {
    const bounds = new RedisAnswerBounds(() => 1 + REDIS.length);
    const whole = bounds.wholeBytes(answers.subarray(0, cut));
    expect(whole + bounds.wholeBytes(answers.subarray(whole))).toBe(answers.length);
  }
});

it.each<readonly [string, (socket: Socket) => void, RegExp]>([
  ['negative lengths', (socket) => socket.write('$-5\r\n'), /"-5" is no length/],
  ['$-1 and unasked ones', (socket) => socket.write('$-1\r\n$-1\r\n:2\r\n'), /nobody waits/],
  [
    'an array of 10^9',
    (socket) => pour(socket, '*1000000000\r\n', Buffer.from(':1\r\n'.repeat(16_000))),
    /1000000000 elements/,
  ],
  ['nested arrays', (socket) => socket.write('*1\r\n'.repeat(200_000)), /more than 8 arrays/],
  ['2 GB, and bytes', (socket) => pour(socket, '$2147483647\r\n', Buffer.alloc(65_536, 65)), /bytes, at most/],
  [
    'texts without end',
    (socket) => pour(socket, '*100000\r\n', Buffer.from(`$65536\r\n${'a'.repeat(65_536)}\r\n`)),
    /bytes, at most/,
  ],
  ['an endless line', (socket) => pour(socket, '+', Buffer.alloc(65_536, 65)), /a line of more/],
  ['pushes of version 3', (socket) => socket.write('>3\r\n$-1\r\n'), /begins with byte 62/],
  [
    '1 MiB in single bytes',
    (socket) => drip(socket, Buffer.from(`$1048576\r\n${'a'.repeat(1 << 20)}`)),
    /has not answered XREAD within/,
  ],
])('Redis answers with %s', async (_, answer, reason) => {
  const server = await fakeServer(answering(answer));
  const growth = await growthOf(async () => {
    await expect(useRedis(server.port, patienceOf(reason))).rejects.toThrow(reason);
  });
  expect(growth).toBeLessThan(MEMORY_BYTES_MAX);
});

it('hears the end of a connection to Redis once, however many commands wait for answers', async () => {
  const warnings: string[] = [];
  const keep = ({ message }: Error) => warnings.push(message);
  process.on('warning', keep);
  onTestFinished(() => void process.off('warning', keep));
  const server = await fakeServer((_, bytes) => bytes.length);
  const connection = new RedisConnection(redisTopicOptions('fuzz', 'reports', redisConfig(server.port), {}));
  await connection.connect();
  const answers = Array.from({ length: 20 }, () => connection.send('XREAD', ['STREAMS', 'l', '0']));
  connection.destroy(new Error('done'));
  expect((await Promise.allSettled(answers)).every(({ status }) => status === 'rejected')).toBe(true);
  await sleep(10);
  expect(warnings).toEqual([]);
});

it('a scan of Redis that brings nothing and never ends is given up, and says so', async () => {
  let pages = 0;
  const link = {
    async read() {
      if (++pages > 1_000_000) throw new Error('read without end');
      return [Buffer.from('7'), []];
    },
  };
  const options = redisTopicOptions('fuzz', 'reports', redisConfig(1), {});
  await expect(scanNewest(link as unknown as TopicLink, options, () => {})).rejects.toThrow(/a scan of more than/);
});

it('a topic in a hostile Kafka or Redis backs off, counts, and logs each cause once', async () => {
  await Promise.all([openInHostile('kafka'), openInHostile('redis')]);
});

const VERSIONS_KEY = 18;
/** A broker that serves no request in any version. */
const offersNothing = kafka((apiKey, honest) => {
  return apiKey === VERSIONS_KEY ? Buffer.concat([int32(14), honest.subarray(4, 8), Buffer.alloc(10)]) : honest;
});
/** Calls the second partition another one. */
const numbersPartitions = kafka((_, honest) => {
  const at = honest.indexOf(int32(1, 1, 3));
  return at === -1 ? honest : Buffer.concat([honest.subarray(0, at), int32(2e9), honest.subarray(at + 4)]);
});
/** Two answers under each other's number. */
const swaps = kafka((apiKey, honest) => {
  const swapped = Buffer.from(honest);
  if (apiKey !== VERSIONS_KEY) swapped.writeInt32BE(honest.readInt32BE(4) ^ 1, 4);
  return swapped;
});

it('a topic in a Kafka that offers nothing, swaps answers or has a partition 2 * 10^9 backs off, and says why', async () => {
  const saysNothingOfSettings = kafka((_, honest) => honest);
  const servers = [offersNothing, swaps, numbersPartitions, saysNothingOfSettings];
  const reasons = await Promise.all(servers.map(lostIn));
  expect(reasons).toEqual([
    expect.stringContaining('does not support the requested API version'),
    expect.stringContaining('malformed answer: nobody waits'),
    expect.stringContaining('malformed answer: partition 2000000000 of 2'),
    expect.stringContaining('malformed answer: nothing of topic t'),
  ]);
});

it('a Kafka that says nothing of what was asked is believed neither an offset nor a write', async () => {
  const server = await fakeServer(kafka((_, honest) => honest));
  const link = new BrokerLink(kafkajs, { host: '127.0.0.1', port: server.port }, LINK, () => {});
  await link.connect();
  const settings = { ...ACCESS, topicId: FETCH.topicId, fetchMaxWaitMs: 50, fetchMinBytes: 1, fetchIntervalMs: 0 };
  const sink = { onReading() {}, onRecords() {}, onUnreadable() {}, onProgress() {} };
  const reader = new LeaderReader(kafkajs, link, [new PartitionCursor(1)], settings, sink, () => {});
  await expect(reader.start()).rejects.toThrow('malformed answer: nothing of partition 1');
  const outbox = new Outbox();
  const records = [{ partition: 1, key: 'a', value: Buffer.alloc(1) }];
  const settled = new Promise((settle) => outbox.put([{ partition: 1, records, bytes: 1, settle }]));
  const options = { ...ACCESS, appendTimeoutMs: 200, compression: 'none' } as const;
  const writing = new LeaderWriter(kafkajs, link, [1], outbox, options).run(new AbortController().signal);
  await expect(writing).rejects.toThrow('malformed answer: nothing of partition 1');
  expect(await settled).toMatchObject({ message: expect.stringContaining('nothing of partition 1') });
  link.destroy(new Error('done'));
});

/** Opens a topic there for a second, and returns why it was away. */
async function lostIn(serve: Serve): Promise<string> {
  const server = await fakeServer(serve);
  const brokers = [`127.0.0.1:${server.port}`];
  const topic = new KafkaReportTopic(config({ kind: 'kafka', brokers, name: 't' }) as KafkaTopicConfig, {
    log: () => {},
  });
  const lost: string[] = [];
  openTopic(topic, lost).catch(() => {});
  await sleep(1000);
  await topic.close();
  expect(server.connections).toBeLessThanOrEqual(10);
  return lost.join();
}

/** Opens the topic for somebody who only takes note of why it is away. */
function openTopic(topic: KafkaReportTopic | RedisReportTopic, lost: string[]): Promise<unknown> {
  const nothing = () => {};
  const rest = { onEpoch: nothing, onRecords: nothing, onCaughtUp: nothing, onRecovered: nothing, onFailed: nothing };
  return topic.open({ ...rest, onLost: (reason) => lost.push(reason) });
}

async function openInHostile(kind: 'kafka' | 'redis'): Promise<void> {
  const lines: string[] = [];
  const log = (_: string, message: string) => lines.push(message);
  const server = await fakeServer(kind === 'kafka' ? kafka(() => int32(-5)) : answering(Buffer.from('*-9\r\n')));
  const topic =
    kind === 'kafka'
      ? new KafkaReportTopic(
          config({ kind: 'kafka', brokers: [`127.0.0.1:${server.port}`], name: 't' }) as KafkaTopicConfig,
          { log },
        )
      : new RedisReportTopic({ cluster: 'fuzz', log: 'reports' }, redisConfig(server.port), { log });
  const lost: string[] = [];
  openTopic(topic, lost).catch(() => {});
  await sleep(1000);
  const { malformedAnswers } = topic.counters;
  await topic.close();
  // Waits of 100, 200, 400 ms, a fifth less; two connections each.
  expect(server.connections).toBeLessThanOrEqual(10);
  expect(malformedAnswers).toBeGreaterThanOrEqual(2);
  expect(lines.filter((line) => line.includes('malformed answer') && line.includes('only counted'))).toHaveLength(1);
  expect(lost).toEqual([expect.stringContaining('malformed answer')]);
}
