import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { QuotaKeeperScene } from './quota-keeper-scene.js';

test('an exporter that hangs for longer than a writer’s permission lasts does not keep the keeper from writing', async () => {
  const hanging = createServer(() => undefined).listen(0, '127.0.0.1');
  onTestFinished(() => {
    hanging.closeAllConnections();
    hanging.close();
  });
  await once(hanging, 'listening');
  const exporter = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}/metrics`;
  const scene = new QuotaKeeperScene({
    groups: { app: { quota: { publish: { bytesPerSecond: 1000 } } } },
    kafkaQuotas: { exporters: [exporter], timeoutMs: 5000, entities: [{ clientId: 'app', group: 'app' }] },
  });
  onTestFinished(() => scene.close());
  await scene.keeper.start();
  await scene.pass(30_000);
  expect(scene.keeper.status).toMatchObject({ mayWrite: true, exporters: [{ state: 'unknown' }] });
  expect(scene.sent.map(({ entity: [part] }) => part?.name)).toContain('app');
});
