import { expect, test } from 'vitest';
import { roughnessOf, troubleOfConsumers } from '../../../src/doors/kafka-quotas/window-roughness.js';
import { KAFKA_QUOTA_METRICS } from '../../../src/doors/telemetry/kafka-quota-metrics.js';
import { APP } from '../../simulation/kafka-quotas/quota-scene.js';
import { httpScene } from '../http/http-scene.js';
import { KEEPER_STATUS, keeperStatusAfter } from './keeper-status-of.js';

test('tells who writes, what exporters say, and what every entity has', () => {
  expect(KEEPER_STATUS).toMatchObject({ keeper: 'a', writer: 'a', mayWrite: true, keepers: ['a'], foreignChanges: 0 });
  expect(KEEPER_STATUS.exporters.map(({ state }) => state)).toEqual(['fine', 'fine']);
  const [limit] = KEEPER_STATUS.limits;
  expect(limit).toMatchObject({
    entity: 'client-id app',
    quotaName: 'producer_byte_rate',
    group: 'app',
    state: 'kept',
  });
  expect(limit?.brokers.map(({ isSaturated }) => isSaturated)).toEqual([true, false]);
});

test('an exporter that is silent, and one that has been for too long; an entity that is left alone', () => {
  const away = (seconds: number) =>
    keeperStatusAfter(seconds, (scene) => scene.exportersAway.add(1)).exporters[1]?.state;
  expect(away(20)).toBe('unknown');
  const left = keeperStatusAfter(20, (scene) => scene.set(APP, 123));
  expect(left.limits[0]).toMatchObject({ state: 'left', inForce: 123 });
});

test('is answered by HTTP, described by its schema, and exported as metrics', async () => {
  const scene = await httpScene({}, undefined, () => KEEPER_STATUS);
  const answer = await scene.get('/v1/kafka-quotas');
  expect([answer.status, answer.body]).toEqual([200, KEEPER_STATUS]);
  const text = await scene.metrics.text();
  for (const [name, { type }] of Object.entries(KAFKA_QUOTA_METRICS)) expect(text).toContain(`# TYPE ${name} ${type}`);
  expect(text).toContain('quotamesh_kafka_writer 1\n');
  expect(text).toMatch(
    /quotamesh_kafka_in_force_bytes_per_second\{entity="client-id app",quota_name="producer_byte_rate"\} \d+/,
  );
  // What every broker has, and where clients wait: the busy one alone.
  const ofBroker = (name: string, broker: number) =>
    new RegExp(
      `${name}\\{entity="client-id app",quota_name="producer_byte_rate",exporter="broker-${broker}"\\} (\\d+)`,
    );
  const rates = [1, 2].map((broker) =>
    Number(ofBroker('quotamesh_kafka_broker_bytes_per_second', broker).exec(text)?.[1]),
  );
  expect(rates[0]).toBeGreaterThan(300_000);
  expect(rates[1]).toBeLessThan(200_000);
  const saturated = [1, 2].map((broker) => ofBroker('quotamesh_kafka_broker_saturated', broker).exec(text)?.[1]);
  expect(saturated).toEqual(['1', '0']);
  await scene.close();
});

test('a node without a keeper has no such route', async () => {
  const scene = await httpScene();
  expect((await scene.get('/v1/kafka-quotas')).status).toBe(404);
  await scene.close();
});

test('how rough rates are by the number of windows', () => {
  expect(roughnessOf(1, 1)).toBeNull();
  expect(troubleOfConsumers(1)).toContain('one record batch per fetch');
  expect(troubleOfConsumers(2)).toBeNull();
  expect(roughnessOf(2, 1)).toContain('2 × 1 s');
  expect(roughnessOf(11, 1)).toContain('up to 10 s of silence');
});
