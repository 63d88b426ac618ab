import { expect, onTestFinished, test } from 'vitest';
import { MARKER_NAME } from '../../../src/core/beside/kafka-quotas/entity.js';
import { EXPORTERS, QuotaKeeperScene } from './quota-keeper-scene.js';

test('of a Kafka without any quota a pattern alone gets clients to be told of, and limits nobody by it', async () => {
  const scene = new QuotaKeeperScene({
    groups: { web: { quota: { publish: { bytesPerSecond: 1000 } } } },
    kafkaQuotas: { exporters: EXPORTERS, entities: [{ clientId: 'web-*', group: 'web' }] },
  });
  onTestFinished(() => scene.close());
  await scene.keeper.start();
  await scene.pass(10_000);
  expect(scene.sent[0]).toEqual({
    entity: [{ type: 'client-id', name: MARKER_NAME }],
    changes: [{ key: 'producer_byte_rate', value: 1e15 }],
  });
});

test('consumers with quotas at brokers of one window are told of, once, and producers are not', async () => {
  const admin = { windows: async () => [{ broker: 'kafka-1:9092', windows: 1, windowSeconds: 1 }] };
  const of = (direction: 'publish' | 'dispatch') => ({
    groups: { web: { quota: { [direction]: { bytesPerSecond: 1000 } } } },
    kafkaQuotas: { exporters: EXPORTERS, entities: [{ clientId: 'web', group: 'web' }] },
  });
  for (const [direction, times] of [
    ['publish', 0],
    ['dispatch', 1],
  ] as const) {
    const scene = new QuotaKeeperScene(of(direction), admin);
    await scene.keeper.start();
    await scene.pass(5000);
    const told = scene.lines.filter(({ message }) => message === 'quota.window.num is 1, and consumers have quotas');
    await scene.close();
    expect(told).toHaveLength(times);
  }
});
