import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigResourceTypes } from 'kafkajs';
import { KafkaReportTopic } from '../../src/topic/kafka/kafka-report-topic.js';
import { CREATED_WITH } from '../../src/topic/kafka/topic-settings.js';
import { RecordingListener } from '../conformance/recording-listener.js';
import { withAdmin } from './admin.js';
import { kafkaTopicConfig } from './kafka-topic-config.js';

const COMPACTION_TIMEOUT_MS = 15_000;
const POLL_MS = 100;
/** Closes the active segment at the next append, and makes any waste worth cleaning. */
const EAGER = { 'segment.ms': '1', 'min.cleanable.dirty.ratio': '0.01', 'max.compaction.lag.ms': '1' };

/** Makes Kafka's log cleaner drop superseded records of a topic now, without adding a record to it. */
export async function compactTopic(brokers: readonly string[], topic: string, partitions: number): Promise<void> {
  await setSettings(brokers, topic, { ...CREATED_WITH, ...EAGER });
  // Only closed segments are cleaned, and only an append closes one: the end mark of an empty transaction is one that
  // readers do not see.
  await sleep(10);
  await markTransaction(brokers, topic, partitions);
  const givenUpAt = performance.now() + COMPACTION_TIMEOUT_MS;
  while (!(await isCompact(brokers, topic))) {
    if (performance.now() > givenUpAt) throw new Error(`${topic} not compacted within ${COMPACTION_TIMEOUT_MS} ms`);
    await sleep(POLL_MS);
  }
  await setSettings(brokers, topic, CREATED_WITH);
}

function setSettings(brokers: readonly string[], topic: string, settings: Readonly<Record<string, string>>) {
  const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }));
  const resource = { type: ConfigResourceTypes.TOPIC, name: topic, configEntries };
  return withAdmin(brokers, (admin) => admin.alterConfigs({ resources: [resource], validateOnly: false }));
}

async function isCompact(brokers: readonly string[], name: string): Promise<boolean> {
  const listener = new RecordingListener();
  const topic = new KafkaReportTopic(kafkaTopicConfig(brokers, { name }));
  try {
    await topic.open(listener);
    await listener.until('caught up', () => listener.caughtUpAfter.length > 0, COMPACTION_TIMEOUT_MS);
    const keys = listener.delivered.map(({ partition, key }) => `${partition}/${key}`);
    return new Set(keys).size === keys.length;
  } finally {
    await topic.close();
  }
}

const requireKafkajs = createRequire(import.meta.url);

interface TransactionParts {
  initProducerId(): Promise<void>;
  beginTransaction(): void;
  addPartitionsToTransaction(topics: { topic: string; partitions: { partition: number }[] }[]): Promise<void>;
  commit(): Promise<void>;
}
interface Cluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
}

/** kafkajs's public producer begins a transaction on a partition only with a record. */
async function markTransaction(brokers: readonly string[], topic: string, partitions: number): Promise<void> {
  const Cluster = requireKafkajs('kafkajs/src/cluster') as new (options: object) => Cluster;
  const makeTransactions = requireKafkajs('kafkajs/src/producer/eosManager') as (options: object) => TransactionParts;
  const { createLogger } = requireKafkajs('kafkajs/src/loggers');
  const openSocket = requireKafkajs('kafkajs/src/network/socketFactory')();
  const logger = createLogger({ level: 0, logCreator: () => () => {} });
  const retry = { retries: 20, initialRetryTime: 50, maxRetryTime: 500, multiplier: 2, factor: 0.2 };
  const timeouts = { connectionTimeout: 3000, requestTimeout: 10_000, metadataMaxAge: 60_000 };
  const options = {
    logger,
    retry,
    ...timeouts,
    brokers: [...brokers],
    socketFactory: openSocket,
    clientId: 'compactor',
  };
  const cluster = new Cluster(options);
  Object.assign(cluster, { retry });
  await cluster.connect();
  try {
    const transactionalId = randomBytes(6).toString('hex');
    const transaction = makeTransactions({
      logger,
      cluster,
      transactionTimeout: 10_000,
      transactional: true,
      transactionalId,
    });
    await transaction.initProducerId();
    transaction.beginTransaction();
    const marked = Array.from({ length: partitions }, (_, partition) => ({ partition }));
    await transaction.addPartitionsToTransaction([{ topic, partitions: marked }]);
    await transaction.commit();
  } finally {
    await cluster.disconnect();
  }
}
