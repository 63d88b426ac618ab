import { expect, it } from 'vitest';
import type { BrokerLink } from '../../../src/topic/kafka/broker-link.js';
import { loadKafkajs } from '../../../src/topic/kafka/kafkajs-internals.js';
import { LeaderReader } from '../../../src/topic/kafka/leader-reader.js';

// No broker that old runs on the Java of today.
it('names a broker that is too old', async () => {
  const old = { serves: () => false, protocol: () => ({ request: { apiVersion: 10 } }) } as unknown as BrokerLink;
  const sink = { onReading: () => {}, onRecords: () => {}, onUnreadable: () => {}, onProgress: () => {} };
  const access = { topic: 'reports', grantee: { principal: 'User:node', bootstrapServer: 'kafka:9092' } };
  const settings = { ...access, fetchMaxWaitMs: 250, fetchMinBytes: 1, fetchIntervalMs: 40, topicId: null };
  const reader = new LeaderReader(loadKafkajs(), old, [], settings, sink, () => {});
  await expect(reader.start()).rejects.toMatchObject({
    code: 'TOPIC_UNSUPPORTED',
    message:
      'topic reports cannot be used: the broker is older than Kafka 2.3 (it fetches with version 10 of the protocol)',
  });
});
