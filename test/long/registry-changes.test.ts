import { afterAll, beforeAll, describe } from 'vitest';
import { embeddedWorld } from '../conformance/embedded-world.js';
import { KafkaWorld } from '../conformance/kafka-world.js';
import { redisWorld } from '../conformance/redis-world.js';
import { registryConformance } from '../conformance/registry.js';
import { KAFKA_START_TIMEOUT_MS, type Kafka, startKafka } from '../kafka/kafka.js';
import { type RedisServer, startRedis } from '../redis/redis.js';

const changes = 10_000;

describe('10,000 changes on every store', () => {
  let kafka: Kafka;
  let redis: RedisServer;
  beforeAll(async () => {
    [kafka, redis] = [await startKafka(), await startRedis()];
  }, KAFKA_START_TIMEOUT_MS);
  afterAll(async () => {
    await redis?.stop();
    await kafka?.stop();
  });

  // Each is written through to the disk, which others use, too.
  registryConformance('embedded', () => embeddedWorld(true, 10_000), changes);
  registryConformance('redis', async () => redisWorld(redis, 'registry', 10_000), changes);
  registryConformance('kafka', async () => new KafkaWorld(kafka, 1, true), changes);
});
