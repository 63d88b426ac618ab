import { expect, onTestFinished, test, vi } from 'vitest';
import { MARKER_NAME } from '../../../src/core/beside/kafka-quotas/entity.js';
import { EXPORTERS, QuotaKeeperScene } from './quota-keeper-scene.js';

const limited = (bytesPerSecond: number) => ({ quota: { dispatch: { bytesPerSecond } } });

async function started(...settings: ConstructorParameters<typeof QuotaKeeperScene>): Promise<QuotaKeeperScene> {
  const scene = new QuotaKeeperScene(...settings);
  onTestFinished(() => scene.close());
  await scene.keeper.start();
  return scene;
}

async function quotas(scene: QuotaKeeperScene) {
  await scene.pass(3000);
  return scene.keeper.status.limits.map(({ group, quota }) => [group, quota]);
}

test('of a Kafka without any quota a pattern alone gets clients to be told of, and limits nobody by it', async () => {
  const scene = await started({
    groups: { web: { quota: { publish: { bytesPerSecond: 1000 } } } },
    kafkaQuotas: { exporters: EXPORTERS, entities: [{ clientId: 'web-*', group: 'web' }] },
  });
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

test('a keeper follows templates and single keys that are defined at run time', async () => {
  const scene = await started({
    keys: { 'client:{id}': limited(500) },
    kafkaQuotas: { exporters: EXPORTERS, entities: [{ clientId: 'app', group: 'client:app' }] },
  });
  expect(await quotas(scene)).toEqual([['client:app', 500]]);
  scene.templates.define('key-template', 'client:{id}', limited(900));
  scene.templates.apply();
  expect(await quotas(scene)).toEqual([['client:app', 900]]);
  scene.templates.define('key', 'client:app', limited(700));
  scene.templates.apply();
  expect(await quotas(scene)).toEqual([['client:app', 700]]);
});

test('a group with mode: shadow has no quota in Kafka, and gives it back when it becomes one', async () => {
  const dispatch = limited(500);
  const scene = await started({
    groups: {
      shadow: { ...dispatch, mode: 'shadow' },
      planned: { ...dispatch, shadow: limited(5) },
    },
    keys: { 'client:{id}': dispatch },
    kafkaQuotas: {
      exporters: EXPORTERS,
      entities: [
        { clientId: 'shadow', group: 'shadow' },
        { clientId: 'planned', group: 'planned' },
        { clientId: 'app', group: 'client:app' },
      ],
    },
  });
  // A plan changes nothing in Kafka.
  expect(await quotas(scene)).toEqual([
    ['planned', 500],
    ['client:app', 500],
  ]);
  scene.templates.define('key-template', 'client:{id}', { ...dispatch, mode: 'shadow' });
  scene.templates.apply();
  expect(await quotas(scene)).toEqual([['planned', 500]]);
  const lines = scene.lines.filter(({ message }) => message.includes('mode: shadow'));
  expect(lines).toMatchObject([{ facts: { groups: ['shadow'] } }]);
});

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
  const scene = await started(settings, {}, { kafkaQuotas: { timeoutMs: 5000 } });
  await scene.pass(30_000);
  expect(scene.keeper.status).toMatchObject({ mayWrite: true, exporters: [{ state: 'unknown' }] });
  expect(scene.sent.map(({ entity: [part] }) => part?.name)).toContain('app');
});
