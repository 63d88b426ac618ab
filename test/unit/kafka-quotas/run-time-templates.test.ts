import { expect, test } from 'vitest';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { GroupTable } from '../../../src/groups/group-table.js';
import { KeyTemplates } from '../../../src/groups/keys/key-templates.js';
import { QuotaKeeper } from '../../../src/kafka-quotas/quota-keeper.js';
import { silentTelemetry } from '../../../src/ports/telemetry.js';
import { createMemoryLog } from '../../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../../src/topic/memory/memory-topic.js';
import { VirtualTime } from '../demo/virtual-time.js';

const dispatch = (bytesPerSecond: number) => ({ quota: { dispatch: { bytesPerSecond } } });

test('a keeper follows templates and single keys that are defined at run time', async () => {
  const time = new VirtualTime();
  try {
    const raw = {
      cluster: 'demo',
      node: 'a',
      topic: { kind: 'kafka', brokers: ['127.0.0.1:9092'] },
      keys: { 'client:{id}': dispatch(500) },
      kafkaQuotas: {
        exporters: ['http://127.0.0.1:1/metrics'],
        entities: [{ clientId: 'app', group: 'client:app' }],
      },
    };
    const config = resolveConfig(raw, { source: '(test)', env: {} });
    const { registry, keys } = config;
    const templates = new KeyTemplates({
      configured: keys.templates,
      registry,
      telemetry: silentTelemetry,
      use: () => undefined,
    });
    const admin = {
      describe: async () => [],
      alter: async () => [],
      windows: async () => [],
      close: async () => undefined,
    };
    const topic = new MemoryTopic(createMemoryLog({ partitions: 1 }));
    const parts = { config, topic, admin, groups: new GroupTable([]), templates, clock: () => performance.now() };
    const keeper = new QuotaKeeper({ ...parts, telemetry: silentTelemetry, adopts: false });
    await keeper.start();
    const quotas = async () => {
      await time.advance(3000);
      return keeper.status.limits.map(({ group, quota }) => [group, quota]);
    };
    expect(await quotas()).toEqual([['client:app', 500]]);
    templates.define('key-template', 'client:{id}', dispatch(900));
    templates.apply();
    expect(await quotas()).toEqual([['client:app', 900]]);
    templates.define('key', 'client:app', dispatch(700));
    templates.apply();
    expect(await quotas()).toEqual([['client:app', 700]]);
    await Promise.all([keeper.close(), time.advance(2000)]);
  } finally {
    time.end();
  }
});
