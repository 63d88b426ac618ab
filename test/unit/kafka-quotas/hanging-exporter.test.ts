import { expect, onTestFinished, test, vi } from 'vitest';
import { EXPORTERS, QuotaKeeperScene } from './quota-keeper-scene.js';

/** Node's own fetch sets timers that virtual time does not have. */
const hanging: typeof fetch = (_, init) =>
  new Promise((_resolve, reject) => {
    init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
  });

test('an exporter that hangs for longer than a writer’s permission lasts does not keep the keeper from writing', async () => {
  vi.stubGlobal('fetch', hanging);
  onTestFinished(() => {
    vi.unstubAllGlobals();
  });
  const settings = {
    groups: { app: { quota: { publish: { bytesPerSecond: 1000 } } } },
    kafkaQuotas: { exporters: EXPORTERS, entities: [{ clientId: 'app', group: 'app' }] },
  };
  const scene = new QuotaKeeperScene(settings, {}, { kafkaQuotas: { timeoutMs: 5000 } });
  onTestFinished(() => scene.close());
  await scene.keeper.start();
  await scene.pass(30_000);
  expect(scene.keeper.status).toMatchObject({ mayWrite: true, exporters: [{ state: 'unknown' }] });
  expect(scene.sent.map(({ entity: [part] }) => part?.name)).toContain('app');
});
