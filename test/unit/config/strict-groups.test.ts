import { expect, test } from 'vitest';
import { examineGroup } from '../../../src/config/read/group-definition.js';
import { examineConfig } from '../../../src/config/read/resolve-config.js';
import { slotsQuotaOf, strictQuotaOf } from '../../../src/config/resolved/strict-quota.js';

const QUOTA = { publish: { messagesPerSecond: 100 } };

function mistakesOf(group: object, others: object = {}) {
  const raw = {
    cluster: 'strict',
    topic: 'embedded',
    groups: { orders: { promise: 'strict', quota: QUOTA, ...group } },
  };
  return examineConfig({ ...raw, ...others }, { source: '(test)', env: {} }).mistakes;
}

test.each([
  [
    { quota: { publish: { messagesPerSecond: 1, bytesPerSecond: 1 } } },
    'quota.publish.bytesPerSecond',
    'messages alone',
  ],
  [{ burst: { bytes: 5000 } }, 'burst.bytes', 'messages alone'],
  [{ burst: { start: 'empty' } }, 'burst.start', 'begins empty'],
  [{ burst: 20_000_000, quota: { publish: { messagesPerSecond: 1e6 } } }, 'burst', 'at most 10000000'],
  [{ limiter: 'window' }, 'limiter', 'one bucket'],
  [{ mode: 'shadow' }, 'mode', 'refuses nothing'],
  [{ shadow: { quota: QUOTA } }, 'shadow.quota.publish.messagesPerSecond', 'kept by reports'],
  [{ perClient: { publish: { messagesPerSecond: 1 } } }, 'perClient.publish.messagesPerSecond', 'levels below'],
  [{ topics: 'even' }, 'topics', 'levels below'],
  [{ isolation: { policy: 'open' } }, 'isolation.policy', 'nothing to spend'],
  [{ strategy: 'equal' }, 'strategy', 'the log alone'],
  [{ weights: { a: 2 } }, 'weights', 'the log alone'],
  [{ debtMs: 1000 }, 'debtMs', 'no debt'],
  [{ quota: {} }, 'promise', 'a quota in messages'],
  [{ quota: { publish: { messagesPerSecond: '2.5/week' } } }, 'quota.publish.messagesPerSecond', '2.50 is none'],
])('%j cannot be strict', (group, at, why) => {
  const [mistake, ...others] = mistakesOf(group);
  expect(mistake?.path).toBe(`groups.orders.${at}`);
  expect(mistake?.problem).toContain(why);
  expect(mistake?.remedy).not.toBe('');
  expect(others).toEqual([]);
});

test.each([
  [{ topic: { kind: 'redis', addresses: ['127.0.0.1:1'] } }, 'failover loses'],
  [{ topic: { kind: 'none', nodeCount: 2 } }, 'share nothing'],
  [{ limits: { publish: { messagesPerSecond: 10 } } }, 'limits.publish'],
  [{ attachments: { scopes: { acme: 'orders' } } }, 'attachments name the group'],
  [{ keys: { 'key:{id}': { promise: 'strict', quota: QUOTA } } }, 'cannot be kept for keys'],
  [{ groups: { orders: { quota: QUOTA, waitMs: 10 } } }, 'nothing to a relaxed group without concurrency'],
])('%j cannot stand beside a strict group', (others, why) => {
  const [mistake, ...further] = mistakesOf({}, others);
  expect(mistake?.problem).toContain(why);
  expect(further).toEqual([]);
});

test('settings that a strict bucket keeps are taken', () => {
  expect(mistakesOf({ burst: '2s', waitMs: 0, maxRequest: { messages: 5 }, isolation: { policy: 'closed' } })).toEqual(
    [],
  );
  expect(mistakesOf({ enabled: false })).toEqual([]);
});

test.each([
  [{ topic: { kind: 'redis', addresses: ['127.0.0.1:1'] } }, 'failover loses'],
  [{ topic: { kind: 'none', nodeCount: 2 } }, 'share nothing'],
  [{ attachments: { scopes: { acme: 'reports' } } }, 'attachments name the group'],
  [{ attachments: { rules: [{ tenant: 'acme', group: 'reports' }] } }, 'attachments name the group'],
  [{ mqtt: { rules: [{ topic: 'a/#', group: 'reports' }] } }, 'mqtt.rules name the group'],
  [{ groups: { reports: { concurrency: 20, mode: 'shadow' } } }, 'mode: shadow'],
  [{ groups: { reports: { concurrency: 0 } } }, 'between 1 and 1M'],
  [{ groups: { reports: { concurrency: 2.5 } } }, '2.5'],
  [{ keys: { 'key:{id}': { concurrency: 0 } } }, 'between 1 and 1M'],
  [{ keys: { 'key:{id}': { concurrency: 4, mode: 'shadow' } } }, 'mode: shadow'],
  [
    { keys: { 'key:{id}': { concurrency: 4 } }, mqtt: { rules: [{ topic: 'a/#', group: 'key:{clientId}' }] } },
    'mqtt.rules name',
  ],
])('%j cannot stand beside concurrency', (others, why) => {
  const raw = { cluster: 'slots', topic: 'embedded', groups: { reports: { concurrency: 20 } }, ...others };
  const [mistake, ...further] = examineConfig(raw, { source: '(test)', env: {} }).mistakes;
  expect(mistake?.problem).toContain(why);
  expect(mistake?.remedy).not.toBe('');
  expect(further).toEqual([]);
});

test.each([{}, { promise: 'strict', quota: QUOTA }, { quota: QUOTA, waitMs: 100 }])(
  'concurrency stands beside %j, and is a bucket into which nothing flows',
  (beside) => {
    const { config, mistakes } = examineGroup('reports', { ...beside, concurrency: 20 }, '(test)');
    expect(mistakes).toEqual([]);
    expect(slotsQuotaOf(config!)).toEqual({ amount: 0, perMs: 1, depth: 20, slots: true });
    const disabled = examineGroup('reports', { concurrency: 20, enabled: false }, '(test)');
    expect(slotsQuotaOf(disabled.config!)).toBe(null);
  },
);

test.each([
  ['100/s', 60_480_000, 30],
  ['5/min', 50_400, 5],
  ['5/week', 5, 5],
  ['0.7', 423_360, 10],
])(
  '%s is a whole number of messages a week, and has the depth of a relaxed bucket',
  (messagesPerSecond, amount, depth) => {
    const { config } = examineGroup(
      'orders',
      { promise: 'strict', quota: { publish: { messagesPerSecond } } },
      '(test)',
    );
    expect(strictQuotaOf(config!, 'publish')).toEqual({ amount, perMs: 604_800_000, depth });
  },
);
