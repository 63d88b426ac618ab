import { expect, test } from 'vitest';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import type { LimitRecord } from '../../../src/core/beside/kafka-quotas/keeper-record.js';
import { encodeKeeperRecord } from '../../../src/doors/kafka-quotas/keeper-record-codec.js';
import type { QuotaAdmin } from '../../../src/doors/kafka-quotas/quota-keeper.js';
import { releaseQuotas } from '../../../src/doors/kafka-quotas/release-quotas.js';
import { createMemoryLog } from '../../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../../src/topic/memory/memory-topic.js';

const CLUSTER = 'released';
const LIMIT: LimitRecord = {
  kind: 'limit',
  term: 1,
  id: 'a',
  life: '1',
  entity: { user: null, clientId: 'app' },
  name: 'producer_byte_rate',
  value: 400_000,
  earlier: [],
  formerTerms: [],
  original: 123_456,
};

test('Kafka does not answer: named, and the next release puts back what this one did not', async () => {
  const config = resolveConfig({ cluster: CLUSTER, topic: 'memory', groups: {} }, { source: '(test)' });
  const soon = { ...config, kafkaQuotas: { ...config.kafkaQuotas, aliveMs: 10 } };
  const log = createMemoryLog({ partitions: 1 });
  const keeper = new MemoryTopic(log);
  const nobody = () => {};
  const listener = { onRecords: nobody, onCaughtUp: nobody, onLost: nobody, onRecovered: nobody, onFailed: nobody };
  await keeper.open({ ...listener, onEpoch: nobody });
  const key = 'limit/client-id=app/producer_byte_rate';
  await keeper.append([{ partition: 0, key, value: encodeKeeperRecord(CLUSTER, LIMIT) }]);
  let value: number | null = 400_000;
  let isAway = true;
  const admin: QuotaAdmin = {
    describe: async () => [
      {
        entity: [{ type: 'client-id', name: 'app' }],
        values: value === null ? [] : [{ key: 'producer_byte_rate', value }],
      },
    ],
    alter: async (changes) => {
      if (isAway) throw new Error('broker b did not answer within 3000 ms');
      value = changes[0]?.changes[0]?.value ?? null;
      return [];
    },
    windows: async () => [],
    close: async () => {},
  };
  const lines: string[] = [];
  const release = () => {
    const topic = new MemoryTopic(log);
    return releaseQuotas({ config: soon, topic, admin, tell: (line) => void lines.push(line) });
  };
  await expect(release()).rejects.toMatchObject({
    code: 'KAFKA_QUOTAS_REFUSED',
    message: expect.stringContaining('broker b did not answer within 3000 ms'),
  });
  isAway = false;
  await release();
  expect(value).toBe(123_456);
  expect(lines).toEqual(['client-id app: producer_byte_rate 400000 → 123456, as it was before']);
  await release();
  expect(lines.at(-1)).toBe('nothing to put back: quotamesh has written no quota');
});
