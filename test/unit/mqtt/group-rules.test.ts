import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import type { MqttRule } from '../../../src/config/schema/mqtt-rules.js';
import type { Scope } from '../../../src/core/beside/attachments/attachment.js';
import { Attachments } from '../../../src/core/beside/attachments/attachments.js';
import { GroupRules, matchesFilter } from '../../../src/doors/mqtt/group-rules.js';
import type { Where } from '../../../src/node/api/decision.js';

const GROUPS = ['acme/orders', 'acme/bulk', 'acme', 'sensors', 'rest'];

const NOTHING = { group: null, sameAs: null, exempt: false, andBroader: false };
const attachments = new Attachments({ scopes: {}, rules: [] }, (name) => GROUPS.includes(name));
attachments.define('labs', { ...NOTHING, group: 'sensors' });
attachments.define('labs/copies', { ...NOTHING, exempt: true });
attachments.define('labs/gone', { ...NOTHING, group: 'deleted' });

function inForce(defaultGroup: string | null) {
  const isGroup = (name: string) => GROUPS.includes(name);
  return { defaultGroup, isGroup, resolve: (scope: Scope) => attachments.resolve(scope) };
}

const ANYTHING: MqttRule = { clientId: null, username: null, topic: null, tenant: null, namespace: null, group: null };

function whereOf(rules: readonly Partial<MqttRule>[], [clientId, username, topic]: readonly string[]): Where | null {
  const complete = rules.map((rule) => ({ ...ANYTHING, ...rule }));
  return new GroupRules(complete, inForce(null)).whereOf({ clientId: clientId, username: username }, topic);
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
    expect(whereOf(rules, message)).toBe(group);
  });

  test('falls back to the default group', () => {
    const rules = new GroupRules(
      [{ ...ANYTHING, topic: '{tenant}/{namespace}/#', group: '{tenant}' }],
      inForce('rest'),
    );
    const nobody = { clientId: 'c', username: '' };
    expect(rules.whereOf(nobody, 'acme/b/1')).toBe('acme');
    expect(rules.whereOf(nobody, 'x')).toBe('rest');
  });

  const own = [{ topic: '{tenant}/{namespace}/#' }, { topic: '{tenant}/#' }, { group: 'rest' }];
  test.each<[string, string, Where]>([
    ['a group of that name goes before attachments', 'acme/orders/7', 'acme/orders'],
    ['else the scope, by what its tenant is attached to', 'labs/x/7', { tenant: 'labs', namespace: 'x' }],
    ['a tenant alone', 'labs', { tenant: 'labs' }],
    ['exempt', 'labs/copies/7', { tenant: 'labs', namespace: 'copies' }],
    ['attached to a group that is gone: the next rule', 'labs/gone/7', { tenant: 'labs' }],
    ['attached to nothing: the next rule', 'nobody/x/7', 'rest'],
  ])('without a group: %s', (_, topic, where) => {
    expect(whereOf(own, ['c', '', topic])).toEqual(where);
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

test('the first broker of docs/guide/mqtt.md is a whole configuration, and its sensor has a group', () => {
  const page = readFileSync(new URL('../../../docs/guide/mqtt.md', import.meta.url), 'utf8');
  const written = /```yaml\n(cluster:.*?)```/s.exec(page)?.[1] as string;
  const { mqtt, groups } = resolveConfig(parse(written), { source: 'docs/guide/mqtt.md' });
  const names = groups.map(({ name }) => name);
  const configured = { ...inForce(null), isGroup: (name: string) => names.includes(name) };
  const [, clientId] = /clientId: '([^']+)'/.exec(page) as RegExpExecArray;
  const sensor = { clientId: clientId, username: '' };
  expect(new GroupRules(mqtt.rules, configured).whereOf(sensor, 'any/topic')).toBe('sensors');
});
