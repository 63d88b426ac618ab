import { setTimeout as sleep } from 'node:timers/promises';
import * as zlib from 'node:zlib';
import { ConfigResourceTypes, Kafka, logLevel } from 'kafkajs';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { QuotameshError } from '../../src/base/errors/quotamesh-error.js';
import { KafkaReportTopic } from '../../src/topic/kafka/kafka-report-topic.js';
import type { KafkaTopicConfig } from '../../src/topic/kafka/kind.js';
import { RecordingListener } from '../conformance/recording-listener.js';
import { text } from '../conformance/topic-expectations.js';
import { createTopic, withAdmin } from '../kafka/admin.js';
import { KAFKA_START_TIMEOUT_MS } from '../kafka/kafka.js';
import { kafkaTopicConfig } from '../kafka/kafka-topic-config.js';
import { sharedKafka } from '../kafka/shared-kafka.js';

const DEADLINE_MS = 15_000;
/** From Node.js 22.15 on. */
const HAS_ZSTD = 'zstdCompressSync' in zlib;
const RIGHT = {
  'cleanup.policy': 'compact',
  'message.timestamp.type': 'LogAppendTime',
  'compression.type': 'producer',
};

let brokers: readonly string[];
beforeAll(async () => {
  brokers = await sharedKafka();
}, KAFKA_START_TIMEOUT_MS);

const opened: KafkaReportTopic[] = [];
afterEach(() => Promise.all(opened.splice(0).map((topic) => topic.close())));

async function open(config: KafkaTopicConfig, logged: unknown[] = []) {
  const log = (...line: unknown[]) => logged.push(line);
  const topic = new KafkaReportTopic(config, { log });
  opened.push(topic);
  const listener = new RecordingListener();
  await topic.open(listener);
  return { topic, listener };
}

async function refusalOf(config: KafkaTopicConfig): Promise<QuotameshError> {
  const error: unknown = await open(config).then(
    () => 'opened',
    (reason: unknown) => reason,
  );
  if (!(error instanceof QuotameshError)) throw new Error(`not refused as expected: ${String(error)}`);
  return error;
}

describe('a topic that is missing', () => {
  it('is created as reports need it', async () => {
    const config = kafkaTopicConfig(brokers, { partitions: 3 });
    const { topic } = await open(config);
    expect(topic.partitions).toBe(3);
    const settings = await settingsOf(config.name);
    expect(settings).toMatchObject({ ...RIGHT, 'segment.ms': '300000', 'min.cleanable.dirty.ratio': '0.1' });
  });

  it('is created once by nodes that start at the same time', async () => {
    const config = kafkaTopicConfig(brokers, { partitions: 2 });
    const all = await Promise.all(Array.from({ length: 5 }, () => open(config)));
    await all[0].topic.append([{ partition: 1, key: 'key', value: Buffer.from('for all') }]);
    for (const { listener } of all) {
      await listener.until('the record', () => listener.has('key'), DEADLINE_MS);
      expect(listener.lost).toEqual([]);
    }
  });

  it('is refused by name when Kafka cannot hold as many copies', async () => {
    const error = await refusalOf(kafkaTopicConfig(brokers, { replicationFactor: 7 }));
    expect(error.code).toBe('TOPIC_SETTINGS');
    expect(error.message).toContain('INVALID_REPLICATION_FACTOR');
  });
});

describe('a topic that exists', () => {
  it('is refused with every mistake and the command that corrects them', async () => {
    const config = kafkaTopicConfig(brokers);
    const wrong = { 'cleanup.policy': 'delete', 'compression.type': 'zstd', 'max.message.bytes': '5000' };
    await createTopic(brokers, config.name, { ...wrong, 'retention.ms': '1000' }, { numPartitions: 17 });
    const error = await refusalOf(config);
    expect(error.code).toBe('TOPIC_SETTINGS');
    for (const mistake of [
      'cleanup.policy is delete, wanted compact',
      'retention.ms is 1000, wanted -1 or at least 3600000',
      'message.timestamp.type is CreateTime, wanted LogAppendTime',
      'compression.type is zstd, wanted producer',
      'max.message.bytes is 5000, wanted at least 1000000',
      'it has 17 partitions, wanted 1 to 16',
      `kafka-configs.sh --bootstrap-server ${brokers[0]} --alter --entity-type topics --entity-name ${config.name}`,
      '--add-config cleanup.policy=compact,retention.ms=86400000,message.timestamp.type=LogAppendTime,',
    ]) {
      expect(error.message).toContain(mistake);
    }
  });

  it('is used as it is when its settings are right, whatever its number of partitions', async () => {
    const config = kafkaTopicConfig(brokers, { partitions: 1 });
    await createTopic(brokers, config.name, { ...RIGHT, 'cleanup.policy': 'compact,delete' }, { numPartitions: 5 });
    expect((await open(config)).topic.partitions).toBe(5);
  });
});

describe('what others write', () => {
  it('gets the time of the log, not of the sender, and a null key becomes an empty one', async () => {
    const config = kafkaTopicConfig(brokers);
    // Compacted topics refuse null keys; one that was compacted later may hold them.
    await createTopic(brokers, config.name, { 'message.timestamp.type': 'LogAppendTime' });
    await produce(config.name, [{ key: null, value: 'no key', timestamp: '1000' }]);
    await alter(config.name, RIGHT);
    const { listener } = await open(config);
    await listener.until('caught up', () => listener.caughtUpAfter.length > 0, DEADLINE_MS);
    const [record] = listener.records;
    expect(record.key).toBe('');
    expect(Math.abs(record.appendMs - Date.now())).toBeLessThan(60_000);
  });

  it.each(['snappy', 'lz4', ...(HAS_ZSTD ? ['zstd'] : [])])(
    'is read where the broker has compressed it with %s',
    async (codec) => {
      const config = kafkaTopicConfig(brokers);
      await createTopic(brokers, config.name, { ...RIGHT, 'compression.type': codec });
      const logged: unknown[] = [];
      // Longer than a block of the Java library.
      const value = 'abcdefgh'.repeat(20_000);
      await produce(config.name, [{ key: 'foreign', value }]);
      await alter(config.name, RIGHT);
      const { listener } = await open(config, logged);
      await listener.until('the record', () => listener.has('foreign'), DEADLINE_MS);
      expect(text(listener.records[0].value)).toBe(value);
      expect(logged.filter((line) => (line as string[])[0] === 'error')).toEqual([]);
    },
  );

  it('ends reading where this node cannot inflate it: others may', async () => {
    if (HAS_ZSTD) return console.log('not shown: this Node.js has zstd');
    const config = kafkaTopicConfig(brokers);
    await createTopic(brokers, config.name, { ...RIGHT, 'compression.type': 'zstd' });
    await produce(config.name, [{ key: 'foreign', value: 'value' }]);
    await alter(config.name, RIGHT);
    const { listener } = await open(config);
    await listener.until('told', () => listener.failures.length > 0, DEADLINE_MS);
    expect(listener.failures[0]).toMatchObject({ code: 'TOPIC_CODEC_MISSING' });
    expect(listener.failures[0].message).toContain('compressed with zstd');
    expect(listener.records).toEqual([]);
    expect(listener.caughtUpAfter).toEqual([]);
  });

  it.each(['gzip', 'snappy', 'lz4', ...(HAS_ZSTD ? ['zstd'] : [])] as const)(
    'is read with %s, as we write it when told to',
    async (compression) => {
      const { topic, listener } = await open(kafkaTopicConfig(brokers, { compression } as Partial<KafkaTopicConfig>));
      const records = Array.from({ length: 100 }, (_, i) => ({
        partition: 0,
        key: `${i}`,
        value: Buffer.alloc(500, 65),
      }));
      await topic.append(records);
      await listener.until('all', () => listener.records.length === 100, DEADLINE_MS);
      expect(listener.records.map(({ key }) => key)).toEqual(records.map(({ key }) => key));
    },
  );
});

describe('a topic that changes under a running node', () => {
  it('is another log after it was deleted and created again, read from its start in its own offsets', async () => {
    const config = kafkaTopicConfig(brokers);
    const { topic, listener } = await open(config);
    for (let i = 0; i < 5; i++) await topic.append([{ partition: 0, key: 'key', value: Buffer.from(`old ${i}`) }]);
    await listener.until('the old ones', () => listener.records.length === 5, DEADLINE_MS);
    await withAdmin(brokers, (admin) => admin.deleteTopics({ topics: [config.name] }));
    await listener.until('lost', () => listener.lost.length === 1, DEADLINE_MS);
    const other = await open(config);
    await other.topic.append([{ partition: 0, key: 'key', value: Buffer.from('new') }]);
    await listener.until('recovered', () => listener.recovered === 1, DEADLINE_MS);
    await listener.until('the new one', () => listener.has('key') && listener.epochs.length === 2, DEADLINE_MS);
    expect(listener.records.map(({ offset, value }) => [offset, text(value)])).toEqual([[0, 'new']]);
    expect(other.listener.epochs).toEqual(listener.epochs.slice(1));
    expect(listener.failures).toEqual([]);
  });

  it('tells of settings that somebody has changed and partitions that were added, and goes on', async () => {
    const config = kafkaTopicConfig(brokers, { partitions: 2 });
    const { topic, listener } = await open(config);
    expect([topic.partitions, topic.partitionsFound, topic.settingsMistake]).toEqual([2, 2, null]);
    await alter(config.name, { ...RIGHT, 'cleanup.policy': 'delete' });
    const more = { topicPartitions: [{ topic: config.name, count: 4 }] };
    await withAdmin(brokers, (admin) => admin.createPartitions(more));
    await repeat(
      async () => {},
      () => topic.partitionsFound === 4,
    );
    expect(topic.partitions).toBe(2);
    expect(topic.settingsMistake).toMatch(/cleanup\.policy is delete, wanted compact; to correct: .*=compact$/);
    expect(listener).toMatchObject({ lost: [], failures: [] });
    expect(listener.epochs).toHaveLength(1);
  }, 60_000);

  it('refuses an append that is too large, and goes on', async () => {
    const { topic, listener } = await open(kafkaTopicConfig(brokers));
    const tooLarge = topic.append([{ partition: 0, key: 'large', value: Buffer.alloc(1_100_000) }]);
    await expect(tooLarge).rejects.toMatchObject({ code: 'APPEND_REFUSED', message: /MESSAGE_TOO_LARGE/ });
    await topic.append([{ partition: 0, key: 'small', value: Buffer.alloc(10) }]);
    expect(listener.lost).toEqual([]);
    expect(topic.counters).toMatchObject({ appendsFailed: 1, recordsAppended: 1 });
  });

  it('says lost while the topic takes none of our records, with the setting, and recovers with the first', async () => {
    const config = kafkaTopicConfig(brokers);
    const { topic, listener } = await open(config);
    const append = () => topic.append([{ partition: 0, key: 'small', value: Buffer.alloc(1000) }]).catch(() => {});
    await alter(config.name, { ...RIGHT, 'max.message.bytes': '100' });
    await repeat(append, () => listener.lost.length > 0);
    expect(listener.lost).toEqual([expect.stringMatching(/MESSAGE_TOO_LARGE.*; max\.message\.bytes/)]);
    await alter(config.name, RIGHT);
    await repeat(append, () => listener.recovered === 1);
  });

  it('takes an append larger than a batch in pieces', async () => {
    const { topic, listener } = await open(kafkaTopicConfig(brokers));
    const records = Array.from({ length: 40 }, (_, i) => ({ partition: 0, key: `${i}`, value: Buffer.alloc(100_000) }));
    await topic.append(records);
    await listener.until('all', () => listener.records.length === 40, DEADLINE_MS);
    expect(listener.records.map(({ key }) => key)).toEqual(records.map(({ key }) => key));
  });
});

async function repeat(action: () => Promise<void>, until: () => boolean): Promise<void> {
  const givenUpAt = performance.now() + DEADLINE_MS;
  while (!until()) {
    if (performance.now() > givenUpAt) throw new Error(`not within ${DEADLINE_MS} ms: ${until}`);
    await action();
    await sleep(50);
  }
}

async function settingsOf(name: string): Promise<Record<string, string>> {
  const resources = [{ type: ConfigResourceTypes.TOPIC, name }];
  const answer = await withAdmin(brokers, (admin) => admin.describeConfigs({ resources, includeSynonyms: false }));
  return Object.fromEntries(answer.resources[0].configEntries.map((each) => [each.configName, each.configValue]));
}

/** Kafka acknowledges a new setting before it tells it: done when the broker says it. */
async function alter(name: string, settings: Readonly<Record<string, string>>) {
  const configEntries = Object.entries(settings).map(([key, value]) => ({ name: key, value }));
  const resource = { type: ConfigResourceTypes.TOPIC, name, configEntries };
  await withAdmin(brokers, (admin) => admin.alterConfigs({ resources: [resource], validateOnly: false }));
  await expect.poll(() => settingsOf(name), { timeout: DEADLINE_MS }).toMatchObject(settings);
}

/** By kafkajs's public producer. */
async function produce(topic: string, messages: { key: string | null; value: string; timestamp?: string }[]) {
  const retry = { retries: 5, initialRetryTime: 100, maxRetryTime: 1000 };
  const kafka = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING, retry });
  const producer = kafka.producer({ createPartitioner: () => () => 0, retry });
  await producer.connect();
  await producer.send({ topic, messages });
  await producer.disconnect();
}

describe('a topic of strict groups', () => {
  const openStrict = (config: KafkaTopicConfig) => {
    const topic = new KafkaReportTopic(config, { isStrict: true, keepsForever: true });
    opened.push(topic);
    return topic.open(new RecordingListener());
  };

  it('is refused on one broker, unless a single replica is accepted', async () => {
    const config = kafkaTopicConfig(brokers);
    await expect(openStrict(config)).rejects.toThrow(/INVALID_REPLICATION_FACTOR|replica/);
    await openStrict({ ...config, acceptSingleReplica: true });
    expect(await settingsOf(config.name)).toMatchObject({ 'unclean.leader.election.enable': 'false' });
    await expect(openStrict(config)).rejects.toThrow(/min\.insync\.replicas is 1, .*it has 1 replica, wanted 3/s);
  });

  it('is refused with unclean leaders, with the command that corrects it', async () => {
    const config = { ...kafkaTopicConfig(brokers), acceptSingleReplica: true };
    await createTopic(brokers, config.name, { ...RIGHT, 'unclean.leader.election.enable': 'true' });
    await expect(openStrict(config)).rejects.toThrow(
      /unclean\.leader\.election\.enable is true.*--add-config unclean/s,
    );
  });
});
