import { expect, it } from 'vitest';
import type { BrokerLink } from '../../../src/topic/kafka/broker-link.js';
import { loadKafkajs } from '../../../src/topic/kafka/kafkajs-internals.js';
import { createKafkaTopic } from '../../../src/topic/kafka/topic-preparation.js';
import { TopicUnusable } from '../../../src/topic/remote/topic-unusable.js';

const INVALID_REPLICATION_FACTOR = 38;
const GRANTEE = { principal: 'User:alice', bootstrapServer: 'kafka-1:9092' };
const WANTED = {
  topic: 'reports',
  partitions: 1,
  replicationFactor: 1,
  keepsForever: false,
  strict: null,
  grantee: GRANTEE,
};

/** A controller that refuses with this message. */
function refusing(errorMessage: string | null): BrokerLink {
  const answer = { topicErrors: [{ errorCode: INVALID_REPLICATION_FACTOR, errorMessage }] };
  return { send: () => Promise.resolve(answer) } as unknown as BrokerLink;
}

const ask = (message: string | null) =>
  createKafkaTopic(loadKafkajs(), refusing(message), WANTED).catch((error) => error);

it('a replication factor that the cluster cannot have is a mistake of the settings', async () => {
  const few = await ask('Unable to replicate the partition 3 time(s): only 1 broker(s) are registered.');
  expect(few).toBeInstanceOf(TopicUnusable);
  expect(few.message).toContain('only 1 broker(s) are registered');
  expect(await ask(null)).toBeInstanceOf(TopicUnusable);
});

/** Seen on a Kafka that had been frozen: the node that started then gave up for good. */
it('brokers that are fenced, as after a start, are tried again', async () => {
  const fenced = await ask(
    'Unable to replicate the partition 1 time(s): All brokers are currently fenced, or have all their log directories cordoned.',
  );
  expect(fenced).toBeInstanceOf(Error);
  expect(fenced).not.toBeInstanceOf(TopicUnusable);
});
