import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { describeConfig } from '../../../src/config/describe/describe-config.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import type { ResolvedConfig } from '../../../src/config/resolved/resolved-config.js';
import { KINDS, kindOf, TOPIC_KIND } from '../../../src/config/schema/topic-kinds.js';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';

const [KEY, OTHER] = ['k'.repeat(32), 'o'.repeat(32)];
const FILES: Readonly<Record<string, string>> = { '/etc/q/key': `${KEY}\n`, '/etc/q/secret': 's3same\n' };
const OAUTH = { mechanism: 'oauthbearer', tokenEndpoint: 'https://id/token', clientId: 'node', clientSecret: 's3same' };

const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n';

const INLINE = { source: '(inline)', env: {}, hostName: 'h' };
const BACKEND = { metric: 'q', target: 2, spring: 1 };

function resolve(topic: object): ResolvedConfig {
  const readFile = (path: string) => FILES[path] ?? expect.unreachable(path);
  const options = { source: '(inline)', env: {}, folder: '/etc/q', hostName: 'h', readFile };
  return resolveConfig({ cluster: 'demo', topic, groups: { a: {} } }, options);
}

const kafka = (sasl: object) => resolve({ kind: 'kafka', brokers: ['a:1'], sasl }).topic;

describe('topic.sasl: oauthbearer', () => {
  test.each([
    ['an endpoint', OAUTH, OAUTH],
    ['an endpoint and a scope', { ...OAUTH, scope: 'kafka' }, { ...OAUTH, scope: 'kafka' }],
    ['a secret in a file', { ...OAUTH, clientSecret: { file: 'secret' } }, OAUTH],
    ['this machine without TLS', { ...OAUTH, tokenEndpoint: 'http://127.0.0.1:1/t' }, { mechanism: 'oauthbearer' }],
    ['a file', { mechanism: 'oauthbearer', tokenFile: 't' }, { mechanism: 'oauthbearer', tokenFile: '/etc/q/t' }],
  ])('%s', (_, sasl, expected) => {
    expect(kafka(sasl)).toMatchObject({ sasl: expected });
  });
});

describe('topic.hmac', () => {
  const kinds = TOPIC_KIND.choices.filter((kind) => KINDS[kind].sharedBy !== 'nobody');
  test.each(kinds)('goes with kind %s', (kind) => {
    const servers = Object.entries(kindOf(kind).settings).filter(
      ([, row]) => 'kind' in row && row.kind === 'addresses',
    );
    const store = Object.fromEntries(servers.map(([key]) => [key, ['a:1']]));
    const { topic } = resolve({ kind, ...store, hmac: { key: { file: 'key' }, nextKey: OTHER, verify: 'warn' } });
    expect(topic).toMatchObject({ hmac: { key: KEY, nextKey: OTHER, previousKey: null, verify: 'warn' } });
  });
});

describe('PEM', () => {
  const tls = (given: object) => () => resolve({ kind: 'kafka', brokers: ['a:1'], tls: given });

  test.each([
    ['a path in the place of its text', { ca: 'ca.pem' }, 'topic.tls.ca'],
    ['a file with something else', { ca: { file: 'secret' } }, 'topic.tls.ca'],
    ['a key, which is not shown', { cert: CERTIFICATE, key: 's3same' }, 'topic.tls.key'],
  ])('%s is no PEM', (_, given, path) => {
    expect(tls(given)).toThrow(`${path} is no PEM. Give the PEM text, or { file: PATH } with the path of a PEM file.`);
    expect(tls(given)).not.toThrow('s3same');
  });

  test('a text with a certificate is one', () => {
    expect(tls({ ca: `Authority of us\n${CERTIFICATE}` })).not.toThrow();
  });
});

test('the query of a backend may hold a token: its values are not shown', () => {
  const url = 'http://db/m?team=a&token=s3same';
  const backends = { db: { ...BACKEND, url } };
  const given = { cluster: 'demo', topic: 'memory', groups: { a: {} } };
  const config = resolveConfig({ ...given, backends }, INLINE);
  expect(config.backends[0]?.url).toBe(url);
  expect(parse(describeConfig(config)).backends.db.url).toBe('http://db/m?team=***&token=***');
  const wrong = () => resolveConfig({ ...given, backends: { db: { ...BACKEND, url: `ftp${url.slice(4)}` } } }, INLINE);
  expect(wrong).toThrow('got "ftp://db/m?team=***&token=***"');
});

test('the query of a token endpoint is not shown either', () => {
  const config = resolve({
    kind: 'kafka',
    brokers: ['a:1'],
    sasl: { ...OAUTH, tokenEndpoint: 'https://id/token?key=s3same' },
  });
  expect(parse(describeConfig(config)).topic.sasl.tokenEndpoint).toBe('https://id/token?key=***');
});

test.each([
  ['an address', { topic: { kind: 'redis', addresses: ['redis://u:s3same@a:6379'] } }, /got "redis:\/\/\*\*\*@a:6379"/],
  ['a topic', { topic: 'rediss://:s3s/a:me@a:6379' }, /got "rediss:\/\/\*\*\*@a:6379"/],
  ['a long one', { topic: `redis://u:${'s3same'.repeat(20)}@a:6379` }, /got "redis:\/\/\*\*\*@a:6379"/],
  [
    'a backend',
    { backends: { db: { ...BACKEND, url: 'http://u:s3same@db/m' } } },
    /backends.db.url must not hold cred/,
  ],
])('credentials in a URL are not shown: %s', (_, given, message) => {
  const made = () => resolveConfig({ cluster: 'demo', topic: 'memory', groups: { a: {} }, ...given }, INLINE);
  expect(made).toThrow(message);
  expect(made).not.toThrow(/s3s/);
});

test.each([
  ['a tag', 'password: !s3same'],
  ['a tag of a namespace', 'password: !a!s3same x'],
  ['a tag of a list', 'password: !s3same [a]'],
  ['an alias', 'password: *s3same'],
  ['an escape', 'password: "a\\qs3same"'],
  ['a block', 'password: |s3same\n      x'],
  ['a quote that ends early', 'password: "a"s3same'],
  ['a reserved character', 'password: @s3same'],
  ['a directive', 'x: y\n%s3same q\n---\na: b'],
  ['a bracket too many', 'password: s3same]}'],
  ['no blank behind the colon', '{ password:s3same }'],
  ['no blank, and no braces', 'password:s3same'],
  ['another key', 'pasword: s3same'],
])('what may be a secret is not quoted from YAML that is wrong: %s', (_, written) => {
  const below = written.startsWith('{') ? ` ${written}` : `\n      ${written}`;
  const text = `cluster: demo\ngroups: { a: {} }\ntopic:\n  kind: kafka\n  brokers: [a:1]\n  sasl:${below}\n`;
  const { raw, mistakes, readable } = parseYaml(text);
  const told = mistakes.map(({ problem, remedy }) => `${problem} ${remedy}`).join('\n');
  expect(told).not.toMatch(/s3s/);
  if (!readable) return;
  expect(() => resolveConfig(raw, INLINE)).toThrow(/mistake/);
  expect(() => resolveConfig(raw, INLINE)).not.toThrow(/s3s/);
});
