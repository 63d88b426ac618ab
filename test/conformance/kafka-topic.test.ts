import { afterAll, beforeAll } from 'vitest';
import { KAFKA_START_TIMEOUT_MS, type Kafka, startKafka } from '../kafka/kafka.js';
import { KAFKA, KafkaWorld } from './kafka-world.js';
import { registryConformance } from './registry.js';
import { reportTopicConformance } from './report-topic.js';

// A broker of its own: outages are made by freezing it.
let kafka: Kafka;
beforeAll(async () => {
  kafka = await startKafka();
}, KAFKA_START_TIMEOUT_MS);
afterAll(() => kafka?.stop());

reportTopicConformance('kafka', async () => new KafkaWorld(kafka, 4), { ...KAFKA, deadlineMs: 15_000 });
registryConformance('kafka', async () => new KafkaWorld(kafka, 1, true), { changes: 300 });
