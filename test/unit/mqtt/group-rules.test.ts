import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { MqttRule } from '../../../src/config/mqtt-rules.js';
import { resolveConfig } from '../../../src/config/resolve-config.js';
import { GroupRules } from '../../../src/mqtt/group-rules.js';
import { matchesFilter } from '../../../src/mqtt/topic-filter.js';

const GROUPS = ['acme/orders', 'acme/bulk', 'acme', 'sensors', 'rest'];

function groupOf(rules: readonly Partial<MqttRule>[], [clientId, username, topic]: readonly string[]): string | null {
  const all = {
    clientId: null,
    username: null,
    topic: null,
    tenant: null,
    namespace: null,
    group: '{tenant}/{namespace}',
  };
  const complete = rules.map((rule) => ({ ...all, ...rule }));
  const place = new GroupRules(complete, GROUPS, null).placeOf({ clientId: clientId!, username: username! }, topic!);
  return place?.group ?? null;
}

describe('rules say which group a message belongs to', () => {
  test.each<[string, readonly Partial<MqttRule>[], readonly string[], string | null]>([
    ['levels of the topic', [{ topic: '{tenant}/{namespace}/#' }], ['c', '', 'acme/orders/7'], 'acme/orders'],
    ['# is also the level above', [{ topic: '{tenant}/{namespace}/#' }], ['c', '', 'acme/orders'], 'acme/orders'],
    ['without # the whole topic', [{ topic: '{tenant}/{namespace}' }], ['c', '', 'acme/orders/7'], null],
    ['+ is any level', [{ topic: '+/{tenant}/{namespace}' }], ['c', '', 'eu/acme/bulk'], 'acme/bulk'],
    ['a literal level', [{ topic: 'eu/#', group: 'rest' }], ['c', '', 'us/acme'], null],
    ['an empty level is no tenant', [{ topic: '{tenant}/#', group: '{tenant}' }], ['c', '', '/orders'], null],
    ['a username', [{ username: '{tenant}', namespace: 'bulk' }], ['c', 'acme', 't'], 'acme/bulk'],
    ['no username', [{ username: '*', group: 'rest' }], ['c', '', 't'], null],
    ['a client id', [{ clientId: 'sensor-*', group: 'sensors' }], ['sensor-12', '', 't'], 'sensors'],
    ['the whole client id', [{ clientId: 'sensor-*', group: 'sensors' }], ['my-sensor-12', '', 't'], null],
    ['dots are dots', [{ clientId: 'a.b', group: 'rest' }], ['axb', '', 't'], null],
    ['parts of a client id', [{ clientId: '{tenant}:{namespace}:*' }], ['acme:orders:9', '', 't'], 'acme/orders'],
    ['a capture has no /', [{ clientId: '{tenant}-*', group: '{tenant}' }], ['ac/me-1', '', 't'], null],
    [
      'the same tenant',
      [{ username: '{tenant}', topic: '{tenant}/{namespace}/#' }],
      ['c', 'acme', 'acme/bulk/1'],
      'acme/bulk',
    ],
    ['another tenant', [{ username: '{tenant}', topic: '{tenant}/{namespace}/#' }], ['c', 'evil', 'acme/bulk/1'], null],
    ['the first that matches', [{ topic: 'x/#', group: 'rest' }, { group: 'sensors' }], ['c', '', 'x/1'], 'rest'],
    [
      'not configured: the next rule',
      [{ topic: '{tenant}/{namespace}/#' }, { group: 'rest' }],
      ['c', '', 'no/such/1'],
      'rest',
    ],
    ['a very long client id', [{ clientId: '*', group: 'rest' }], ['x'.repeat(257), '', 't'], null],
    ['names of objects are no captures', [{ group: '{constructor}' }], ['c', '', 't'], null],
  ])('%s', (_, rules, message, group) => {
    expect(groupOf(rules, message)).toBe(group);
  });

  test('tells tenant and namespace, and falls back to the default group', () => {
    const rule: MqttRule = {
      ...{ clientId: null, username: null, topic: '{tenant}/{namespace}/#', tenant: null, namespace: null },
      group: '{tenant}',
    };
    const rules = new GroupRules([rule], GROUPS, 'rest');
    const nobody = { clientId: 'c', username: '' };
    expect(rules.placeOf(nobody, 'acme/b/1')).toEqual({ tenant: 'acme', namespace: 'b', group: 'acme' });
    expect(rules.placeOf(nobody, 'x')).toEqual({ tenant: undefined, namespace: undefined, group: 'rest' });
  });
});

// MQTT 3.1.1, 4.7.1 and 4.7.2: the examples of the text.
describe('filters of subscriptions', () => {
  test.each([
    ['sport/tennis/player1/#', 'sport/tennis/player1', true],
    ['sport/tennis/player1/#', 'sport/tennis/player1/score/wimbledon', true],
    ['sport/#', 'sport', true],
    ['#', 'a/b', true],
    ['sport/tennis/+', 'sport/tennis/player1', true],
    ['sport/tennis/+', 'sport/tennis/player1/ranking', false],
    ['sport/+', 'sport', false],
    ['sport/+', 'sport/', true],
    ['+/+', '/finance', true],
    ['/+', '/finance', true],
    ['+', '/finance', false],
    ['#', '$SYS/x', false],
    ['+/monitor/Clients', '$SYS/monitor/Clients', false],
    ['$SYS/#', '$SYS/monitor/Clients', true],
  ])('%s and %s: %s', (filter, topic, matches) => {
    expect(matchesFilter(filter, topic)).toBe(matches);
  });
});

test('the first broker of docs/mqtt.md is a whole configuration, and its sensor has a group', () => {
  const page = readFileSync(new URL('../../../docs/mqtt.md', import.meta.url), 'utf8');
  const written = /```yaml\n(cluster:.*?)```/s.exec(page)?.[1] as string;
  const { mqtt, groups } = resolveConfig(parse(written), { source: 'docs/mqtt.md' });
  const names = groups.map(({ name }) => name);
  const [, clientId] = /clientId: '([^']+)'/.exec(page) as RegExpExecArray;
  const place = new GroupRules(mqtt.rules, names, null).placeOf(
    { clientId: clientId as string, username: '' },
    'any/topic',
  );
  expect(place?.group).toBe('sensors');
});
