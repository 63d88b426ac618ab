import { describe, expect, test } from 'vitest';
import { type Entity, MARKER_NAME } from '../../../src/core/beside/kafka-quotas/entity.js';
import { isOfPattern, limitSpecs, type SpecsInput } from '../../../src/doors/kafka-quotas/limit-specs.js';
import { markersOf } from '../../../src/doors/kafka-quotas/quota-keeper.js';

const NO_QUOTA = Infinity;
const client = (clientId: string): Entity => ({ user: null, clientId });

function specs(input: Partial<SpecsInput>) {
  const quotaOf = (group: string) => {
    if (group === 'none') return null;
    return { publish: 100, dispatch: group.startsWith('both') ? 50 : NO_QUOTA };
  };
  return limitSpecs({ rules: [], seen: [], maxEntities: 10, quotaOf, ...input });
}

test('a rule without a pattern: one limit per quota of the group, seen or not', () => {
  const { limits } = specs({ rules: [{ user: 'alice', clientId: 'app', group: 'both' }] });
  const entity = { user: 'alice', clientId: 'app' };
  expect(limits).toEqual([
    { entity, name: 'producer_byte_rate', quota: 100, group: 'both' },
    { entity, name: 'consumer_byte_rate', quota: 50, group: 'both' },
  ]);
});

test('a pattern: whoever is seen, in a group by its name; the first rule decides, and one by name before it', () => {
  const rules = [
    { user: null, clientId: 'batch-*', group: 'batch' },
    { user: null, clientId: '{id}', group: 'client:{id}' },
    { user: null, clientId: 'app', group: 'own' },
  ];
  const seen = [client('batch-1'), client('batch-2'), client('app'), client('web'), { user: 'bob', clientId: 'web' }];
  expect(specs({ rules, seen }).limits.map(({ entity, group }) => [entity.clientId, group])).toEqual([
    ['app', 'own'],
    ['batch-1', 'batch'],
    ['batch-2', 'batch'],
    ['web', 'client:web'],
  ]);
});

test('a pattern does not take the default, and a default no names', () => {
  const rules = [
    { user: null, clientId: '<default>', group: 'rest' },
    { user: '{name}', clientId: '<default>', group: 'user:{name}' },
  ];
  const seen = [client('web'), { user: 'bob', clientId: 'web' }];
  expect(specs({ rules, seen }).limits.map(({ entity }) => entity)).toEqual([client('<default>')]);
});

test('no more than maxEntities, and how many were left out', () => {
  const rules = [{ user: null, clientId: '{id}', group: 'client:{id}' }];
  const seen = Array.from({ length: 30 }, (_, at) => client(`c${at}`));
  // Two brokers name each of them.
  const { limits, leftOut } = specs({ rules, seen: [...seen, ...seen] });
  expect([limits.length, leftOut]).toEqual([10, 20]);
});

test('an entity is of a pattern where no rule has its name', () => {
  const rules = [
    { user: null, clientId: 'batch-*', group: 'batch' },
    { user: null, clientId: 'batch-1', group: 'own' },
    { user: null, clientId: '<default>', group: 'rest' },
  ];
  const entities = [client('batch-1'), client('batch-2'), client('web'), client('<default>')];
  expect(entities.map((entity) => isOfPattern(rules, entity))).toEqual([false, true, false, false]);
});

describe('the quotas that make Kafka tell of clients', () => {
  const quotaOf = (group: string) => {
    const of = (publish: number, dispatch: number) => ({ publish, dispatch });
    return { written: of(1, NO_QUOTA), read: of(NO_QUOTA, 1), 'client:x': of(1, NO_QUOTA) }[group] ?? null;
  };
  const markers = (...rules: readonly Parameters<typeof markersOf>[0][number][]) =>
    markersOf(rules, quotaOf).map(({ entity: { user, clientId }, name }) => [user, clientId, name]);
  const rule = (user: string | null, clientId: string | null, group: string) => ({ user, clientId, group });

  test('are of the names that the rules keep, a pattern that nobody has met included', () => {
    expect(markers(rule(null, 'web-*', 'written'))).toEqual([[null, MARKER_NAME, 'producer_byte_rate']]);
    expect(markers(rule(null, 'app', 'read'))).toEqual([[null, MARKER_NAME, 'consumer_byte_rate']]);
    expect(markers(rule(null, '{id}', 'client:{id}'))).toEqual([[null, MARKER_NAME, 'producer_byte_rate']]);
    expect(markers(rule(null, '{id}', 'team-{id}')).map(([, , name]) => name)).toEqual([
      'producer_byte_rate',
      'consumer_byte_rate',
    ]);
    expect(markers(rule(null, 'app', 'nowhere'))).toEqual([]);
  });

  test('are of users or of pairs where all rules are', () => {
    const producer = 'producer_byte_rate';
    expect(markers(rule('{name}', null, 'written'))).toEqual([[MARKER_NAME, null, producer]]);
    expect(markers(rule('alice', 'app', 'written'))).toEqual([[MARKER_NAME, MARKER_NAME, producer]]);
    expect(markers(rule('alice', null, 'written'), rule(null, 'app', 'written'))).toEqual([
      [null, MARKER_NAME, producer],
    ]);
  });
});

test('what a group does not limit is told apart from a group that there is not', () => {
  const rules = [
    { user: null, clientId: 'app', group: 'one' },
    { user: null, clientId: 'web', group: 'both' },
    { user: null, clientId: 'lost', group: 'none' },
  ];
  expect(specs({ rules }).unlimited).toEqual(new Set(['client-id=app/consumer_byte_rate']));
});

test('a group that there is not is named; a key that is none is not', () => {
  const rules = [{ user: null, clientId: 'app', group: 'none' }];
  expect(specs({ rules })).toEqual({ limits: [], unlimited: new Set(), leftOut: 0, groupsMissing: ['none'] });
});
