import { afterAll, beforeAll, describe, test } from 'vitest';
import { FROZEN, KILLED, surviveOutage } from '../cluster/outage.js';
import { type Kafka, startKafka } from '../kafka/kafka.js';

describe('a Kafka outage of 10 s under load', () => {
  let kafka: Kafka;

  beforeAll(async () => {
    kafka = await startKafka();
  });

  afterAll(async () => {
    await kafka?.stop();
  });

  for (const outage of [KILLED, FROZEN]) {
    test(`the broker is ${outage.name}`, async () => {
      await surviveOutage(kafka, outage, 10_000);
    });
  }
});
