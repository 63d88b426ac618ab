import { expect, test } from 'vitest';
import { examineGroup } from '../../../src/config/read/group-definition.js';
import { examineConfig } from '../../../src/config/read/resolve-config.js';
import { budgetQuotaOf } from '../../../src/config/resolved/strict-quota.js';
import { leastDefinition } from '../../../src/node/groups/least-definition.js';

const MILLION = { messages: 1_000_000 };

function mistakesOf(group: object, others: object = {}) {
  const raw = { cluster: 'budgets', topic: 'embedded', groups: { plan: group }, ...others };
  return examineConfig(raw, { source: '(test)', env: {} }).mistakes;
}

test.each([
  [{ messages: 10, bytes: 10 }, 'budget', 'names more than one unit: messages, bytes'],
  [{ per: 'week' }, 'budget', 'names no unit'],
  [{ timezone: 'Europe/Paris' }, 'budget', 'names no unit'],
  [{ messages: -1 }, 'budget.messages', '-1'],
  [{ messages: 1.5 }, 'budget.messages', '1.5'],
  [{ bytes: 2 ** 53, per: 'year' }, 'budget.bytes', '9007199254740992'],
  [{ ...MILLION, per: 'fortnight' }, 'budget.per', 'fortnight'],
  [{ ...MILLION, timezone: 'Europe/Atlantis' }, 'budget.timezone', 'a zone that does not exist: Europe/Atlantis'],
  [{ ...MILLION, tokens: 5, cents: 5 }, 'budget', 'names more than one unit: messages, tokens, cents'],
  [{ tokens: 1.5 }, 'budget.tokens', '1.5'],
  [{ cents: 0.0000001 }, 'budget.cents', '1e-7'],
  [{ cents: 20.1234567 }, 'budget.cents', 'whole millionths of a cent'],
  [{ cents: 1e10 }, 'budget.cents', '10000000000'],
  [{ euros: 20 }, 'budget.euros', 'euros'],
  [{ ...MILLION, carry: 1.5 }, 'budget.carry', '1.5'],
  [{ ...MILLION, per: 'total', carry: 0.1 }, 'budget', 'a total, which never ends'],
  [{ carry: 0.1 }, 'budget', 'names no unit'],
  [{ warnAt: ['50%'] }, 'budget', 'names no unit'],
  [{ ...MILLION, warnAt: [] }, 'budget.warnAt', 'a list of ratios between 0.01 and 1'],
  [{ ...MILLION, warnAt: [0.8, '120%'] }, 'budget.warnAt[1]', '120%'],
  [{ ...MILLION, warnAt: ['often'] }, 'budget.warnAt[0]', 'often'],
])('%j is no budget', (budget, at, why) => {
  const [mistake, ...others] = mistakesOf({ budget });
  expect(mistake?.path).toBe(`groups.plan.${at}`);
  expect(JSON.stringify(mistake)).toContain(why);
  expect(mistake?.remedy).not.toBe('');
  expect(others).toEqual([]);
});

test.each([
  [{ topic: { kind: 'redis', addresses: ['127.0.0.1:1'] } }, 'failover loses'],
  [{ topic: { kind: 'none', nodeCount: 2 } }, 'share nothing'],
  [{ attachments: { scopes: { acme: 'plan' } } }, 'attachments name the group'],
  [{ keys: { 'key:{id}': { budget: MILLION, mode: 'shadow' } } }, 'cannot stand beside mode: shadow'],
  [{ keys: { 'key:{id}': { budget: { ...MILLION, carry: '10%' } } } }, 'the log forgets keys at rest'],
  [{ keys: { 'key:{id}': { budget: { ...MILLION, warnAt: ['50%'] } } } }, 'which keys do not tell'],
  [{ groups: { plan: { mode: 'shadow', budget: MILLION } } }, 'cannot stand beside mode: shadow'],
])('%j cannot stand beside a budget', (others, why) => {
  const [mistake, ...further] = mistakesOf({ budget: MILLION }, others);
  expect(mistake?.problem).toContain(why);
  expect(further).toEqual([]);
});

test.each([
  ['bytes', 4096, 4096],
  ['tokens', '5M', 5_000_000],
  ['cents', 1999.99, 1_999_990_000],
] as const)(
  'a budget of %s %s that is read, described and read again is the same, with all that it has',
  (unit, amount, depth) => {
    const written = { [unit]: amount, per: 'week', timezone: 'Asia/Tokyo', carry: '20%', warnAt: [1, '7%', 1] };
    const { config } = examineGroup('plan', { budget: written }, '(test)');
    const again = config && examineGroup('plan', leastDefinition(config), '(test)').config;
    expect(again?.budget).toEqual(config?.budget);
    expect(again?.budget).toMatchObject({ unit, per: 'week', timezone: 'Asia/Tokyo', carry: 0.2, warnAt: [0.07, 1] });
    expect(again && budgetQuotaOf(again)).toMatchObject({ depth });
  },
);

test('a budget stands beside any promise, a wait, and at run time', () => {
  const rate = { quota: { publish: { messagesPerSecond: 100 } } };
  expect(mistakesOf({ budget: MILLION, waitMs: 10, ...rate })).toEqual([]);
  expect(mistakesOf({ budget: MILLION, promise: 'strict', ...rate })).toEqual([]);
  expect(mistakesOf({ budget: { ...MILLION, carry: '5%', warnAt: '50%,90%' }, promise: 'strict', ...rate })).toEqual(
    [],
  );
  const { config } = examineGroup(
    'plan',
    { budget: { bytes: '5GiB', per: 'year', timezone: 'Asia/Tokyo', carry: '10%' } },
    '(test)',
  );
  expect(config?.budget).toEqual({
    unit: 'bytes',
    amount: 5 * 2 ** 30,
    per: 'year',
    timezone: 'Asia/Tokyo',
    carry: 0.1,
    warnAt: [0.8, 1],
  });
  expect(config && budgetQuotaOf(config)).toEqual({ amount: 0, perMs: 1, depth: 5 * 2 ** 30, budget: true });
  expect(examineGroup('plan', { enabled: false, budget: MILLION }, '(test)').config?.budget).toBeNull();
  expect(examineGroup('plan', { budget: { ...MILLION, timezone: 'X' } }, '(test)').mistakes).toHaveLength(1);
});
