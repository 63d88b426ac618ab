import { randomBytes } from 'node:crypto';
import type { KafkaTopicConfig } from '../../src/topic/kafka/kind.js';

/** The adapter's configuration as the settings table has it, on a topic of its own unless one is named. */
export function kafkaTopicConfig(
  brokers: readonly string[],
  overrides: Partial<KafkaTopicConfig> = {},
): KafkaTopicConfig {
  return {
    kind: 'kafka',
    brokers,
    name: `reports-${randomBytes(6).toString('hex')}`,
    clientId: 'quotamesh-test',
    partitions: 1,
    replicationFactor: -1,
    acceptSingleReplica: false,
    compression: 'none',
    appendTimeoutMs: 5000,
    connectionTimeoutMs: 3000,
    requestTimeoutMs: 3000,
    fetchMaxWaitMs: 250,
    fetchMinBytes: 1,
    fetchIntervalMs: 40,
    tls: false,
    sasl: null,
    ...overrides,
  };
}
