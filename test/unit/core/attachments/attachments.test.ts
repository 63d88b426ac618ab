import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Attachment,
  type AttachmentRule,
  pathsOf,
  type Scope,
  scopeKindOf,
} from '../../../../src/core/beside/attachments/attachment.js';
import { Attachments } from '../../../../src/core/beside/attachments/attachments.js';

const NOTHING = { group: null, sameAs: null, exempt: false, andBroader: false };

function to(group: string, more: Partial<Attachment> = {}): Attachment {
  return { ...NOTHING, group, ...more };
}

function rule(given: Partial<AttachmentRule>): AttachmentRule {
  const asked = { tenant: null, namespace: null, topic: null, client: null, headers: {} };
  return { ...asked, group: null, exempt: false, andBroader: false, ...given };
}

const SCOPES: Readonly<Record<string, Attachment>> = {
  acme: to('gold'),
  'acme/orders': to('orders'),
  'acme/both': to('orders', { andBroader: true }),
  'acme/both/audit': { ...NOTHING, exempt: true },
  'acme/both/deep': to('deep', { andBroader: true }),
  'acme/copy': { ...NOTHING, sameAs: 'acme/orders' },
  'acme/free': { ...NOTHING, exempt: true },
  'acme/free/paid': to('deep', { andBroader: true }),
  'acme/gone': to('deleted'),
  'acme/lost': { ...NOTHING, sameAs: 'nobody' },
  'acme/a': { ...NOTHING, sameAs: 'acme/b' },
  'acme/b': { ...NOTHING, sameAs: 'acme/a' },
};
const RULES = [
  rule({ client: 'replicator-*', exempt: true }),
  rule({ headers: { 'x-tier': '{tier}' }, group: 'tier-{tier}', andBroader: true }),
  rule({ tenant: 'trial-{who}', topic: 'audit/#', group: 'trials' }),
];
const GROUPS = new Set(['gold', 'orders', 'deep', 'trials', 'tier-free']);
const attachments = new Attachments({ scopes: SCOPES, rules: RULES }, (group) => GROUPS.has(group));

describe('which groups limit a scope', () => {
  test.each<[string, Scope, readonly string[] | 'exempt']>([
    ['a tenant', { tenant: 'acme' }, ['gold']],
    ['a namespace without an attachment has its tenant’s', { tenant: 'acme', namespace: 'other' }, ['gold']],
    ['the most specific alone', { tenant: 'acme', namespace: 'orders', topic: 't' }, ['orders']],
    ['several at once', { tenant: 'acme', namespace: 'both' }, ['orders', 'gold']],
    ['three at once', { tenant: 'acme', namespace: 'both', topic: 'deep' }, ['deep', 'orders', 'gold']],
    ['an exempt topic', { tenant: 'acme', namespace: 'both', topic: 'audit' }, 'exempt'],
    ['exempt behind a group ends the search', { tenant: 'acme', namespace: 'free', topic: 'paid' }, ['deep']],
    ['the same as another', { tenant: 'acme', namespace: 'copy' }, ['orders']],
    ['what leads nowhere says nothing', { tenant: 'acme', namespace: 'lost' }, ['gold']],
    [
      'a group that is not there is asked all the same, and says so',
      { tenant: 'acme', namespace: 'gone' },
      ['deleted'],
    ],
    ['nor does a circle', { tenant: 'acme', namespace: 'a' }, ['gold']],
    ['nobody', { tenant: 'nobody', namespace: 'orders' }, []],
    ['a slash does not make a namespace of a tenant', { tenant: 'acme/orders' }, []],
    ['a rule by client', { tenant: 'acme', client: 'replicator-eu' }, 'exempt'],
    ['a rule by header', { tenant: 'acme', headers: { 'x-tier': 'free' } }, ['tier-free', 'gold']],
    ['whose group is not there: the next', { tenant: 'acme', headers: { 'x-tier': 'none' } }, ['gold']],
    ['a rule by tenant and topic', { tenant: 'trial-7', topic: 'audit/x' }, ['trials']],
    ['that asks for all it names', { tenant: 'trial-7', topic: 'other' }, []],
    ['nothing known', {}, []],
    ['names of objects', { tenant: '__proto__', namespace: 'constructor' }, []],
  ])('%s', (_, scope, expected) => {
    const { groups, exempt } = attachments.resolve(scope);
    expect(exempt ? 'exempt' : groups).toEqual(expected);
  });

  test('what was attached at run time replaces YAML, scope by scope', () => {
    const changing = new Attachments({ scopes: SCOPES, rules: [] }, (group) => GROUPS.has(group));
    changing.define('acme', to('deep'));
    expect(changing.resolve({ tenant: 'acme' }).groups).toEqual(['deep']);
    expect(changing.resolve({ tenant: 'acme', namespace: 'orders' }).groups).toEqual(['orders']);
    changing.define('acme', null);
    expect(changing.resolve({ tenant: 'acme' }).because[0]).toMatchObject({ origin: 'yaml', group: 'gold' });
  });

  test('a group may be named after any of what is known of a scope, and of nothing else', () => {
    const rules = [rule({ client: 'by-{who}', group: '{tenant}-{namespace}-{who}' })];
    const named = new Attachments({ scopes: {}, rules }, () => true);
    const scope = { tenant: 'acme', namespace: 'orders', client: 'by-me' };
    expect(named.resolve(scope).groups).toEqual(['acme-orders-me']);
    for (const unknown of ['tenant', 'namespace', 'client'] as const) {
      expect(named.resolve({ ...scope, [unknown]: undefined }).groups).toEqual([]);
      expect(named.resolve({ ...scope, [unknown]: '' }).groups).toEqual([]);
    }
  });

  test('why: each scope or rule that counts, in the order in which it counts', () => {
    const reasons = (scope: Scope) =>
      attachments.resolve(scope).because.map(({ level, at, via }) => [level, at, ...via]);
    expect(reasons({ tenant: 'acme', namespace: 'both', topic: 'deep', headers: { 'x-tier': 'free' } })).toEqual([
      ['rule', 'rule 1'],
      ['topic', 'acme/both/deep'],
      ['namespace', 'acme/both'],
      ['tenant', 'acme'],
    ]);
    expect(reasons({ tenant: 'acme', namespace: 'copy' })).toEqual([['namespace', 'acme/copy', 'acme/orders']]);
  });

  test('all scopes stand in the order of their paths, each once, whichever way they came', () => {
    const changing = new Attachments({ scopes: SCOPES, rules: [] }, (group) => GROUPS.has(group));
    changing.define('zebra', to('gold'));
    changing.define('acme/orders', to('deep'));
    changing.define('aardvark', to('gold'));
    expect(changing.size).toBe(3);
    expect(changing.list().map(({ path }) => path)).toEqual([...Object.keys(SCOPES), 'zebra', 'aardvark'].sort());
    const cameAtRunTime = changing.list().filter(({ origin }) => origin === 'run-time');
    expect(cameAtRunTime.map(({ path }) => path)).toEqual(['aardvark', 'acme/orders', 'zebra']);
    expect(['acme', 'acme/orders', 'zebra'].map((path) => changing.isConfigured(path))).toEqual([true, true, false]);
  });

  test('without what was attached to a group at run time, what was attached to others stays, and so does YAML', () => {
    const changing = new Attachments({ scopes: SCOPES, rules: RULES }, (group) => GROUPS.has(group));
    changing.define('acme/orders', to('deep'));
    changing.define('acme/more', { ...NOTHING, sameAs: 'acme/orders' });
    changing.define('late', to('gold'));
    const groupsOf = (from: Attachments) => {
      return ['orders', 'more', 'free/paid'].map((path) => {
        const [namespace = '', topic = ''] = path.split('/');
        return from.resolve({ tenant: 'acme', namespace, topic }).groups;
      });
    };
    expect(groupsOf(changing)).toEqual([['deep'], ['deep'], ['deep']]);
    const without = changing.withoutRunTime('deep');
    expect(groupsOf(without)).toEqual([['orders'], ['gold'], ['deep']]);
    expect(without.resolve({ tenant: 'late' }).groups).toEqual(['gold']);
    expect(without.resolve({ tenant: 'trial-7', topic: 'audit/x' }).groups).toEqual(['trials']);
    expect(changing.size).toBe(3);
  });

  test.each([
    ['acme', 'tenant'],
    ['acme/orders', 'namespace'],
    ['acme/orders/a', 'topic'],
    ['acme/orders/a/b', 'topic'],
  ])('%s is a %s', (path, level) => {
    expect(scopeKindOf(path)).toBe(level);
  });

  test.each<[Scope, readonly string[]]>([
    [{ tenant: 'acme', namespace: 'orders', topic: 'a/b' }, ['acme/orders/a/b', 'acme/orders', 'acme']],
    [{ tenant: 'acme', namespace: 'orders', topic: '' }, ['acme/orders', 'acme']],
    [{ tenant: 'acme', namespace: '', topic: 'a' }, ['acme']],
    [{ tenant: 'acme', namespace: 'a/b', topic: 'c' }, ['acme']],
    [{ tenant: '', namespace: 'orders' }, []],
    [{ namespace: 'orders', topic: 'a' }, []],
  ])('%o lies at %o', (scope, paths) => {
    expect(pathsOf(scope)).toEqual(paths);
  });

  test('who would be left without a group, and what leads nowhere', () => {
    expect(attachments.of('orders').map(({ path }) => path)).toEqual(['acme/orders', 'acme/both', 'acme/copy']);
    expect(attachments.dangling).toEqual(['acme/gone', 'acme/lost', 'acme/a', 'acme/b']);
  });

  test('any chains: an end within as many steps as there are scopes, and no group twice', () => {
    const path = fc.constantFrom('t', 'u', 't/n', 't/m', 't/n/x');
    const attachment = fc.record({
      group: fc.constantFrom('gold', 'orders', 'deep'),
      sameAs: fc.option(path, { nil: null }),
      andBroader: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.dictionary(path, attachment), (written) => {
        const scopes = Object.fromEntries(
          Object.entries(written).map(([at, { group, sameAs, andBroader }]) => {
            return [at, { group: sameAs === null ? group : null, sameAs, exempt: false, andBroader }];
          }),
        );
        const random = new Attachments({ scopes, rules: [] }, () => true);
        const { groups } = random.resolve({ tenant: 't', namespace: 'n', topic: 'x' });
        expect(new Set(groups).size).toBe(groups.length);
        for (const { attachment: one, path: from } of random.list()) {
          expect(random.follow(one, from).via.length).toBeLessThanOrEqual(random.list().length + 1);
        }
      }),
    );
  });
});
