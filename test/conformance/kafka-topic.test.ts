import { afterAll, beforeAll } from 'vitest';
import { KAFKA_START_TIMEOUT_MS, type Kafka, startKafka } from '../kafka/kafka.js';
import { kafkaOutages } from '../kafka/outages.js';
import { KAFKA, KafkaWorld } from './kafka-world.js';
import { registryConformance } from './registry.js';
import { reportTopicConformance } from './report-topic.js';

// A broker of its own: outages are made by freezing and killing it.
let kafka: Kafka;
beforeAll(async () => {
  // Half of what the harness sets, which is what a restart takes.
  const sooner = { 'broker.session.timeout.ms': '1500', 'broker.heartbeat.interval.ms': '300' };
  kafka = await startKafka({ properties: sooner });
}, KAFKA_START_TIMEOUT_MS);
afterAll(() => kafka?.stop());

reportTopicConformance('kafka', async () => new KafkaWorld(kafka, 4), { ...KAFKA, deadlineMs: 15_000 });
registryConformance('kafka', async () => new KafkaWorld(kafka, 1, true));
kafkaOutages(() => kafka);
