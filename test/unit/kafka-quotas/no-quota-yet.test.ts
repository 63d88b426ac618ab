import { expect, onTestFinished, test } from 'vitest';
import { MARKER_NAME } from '../../../src/core/kafka-quotas/entity.js';
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
