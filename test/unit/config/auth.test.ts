import { describe, expect, test } from 'vitest';
import { describeConfig } from '../../../src/config/describe/describe-config.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import type { ConfigError } from '../../../src/config/setting/config-error.js';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';
import { settingDifferences } from '../../../src/groups/yaml/setting-differences.js';

const HASH = `sha256:${'0a'.repeat(32)}`;
const HASH_2 = `sha256:${'0b'.repeat(32)}`;
const FILES: Readonly<Record<string, string>> = {
  '/etc/tokens.yaml': `- { name: ofFile, roles: [viewer], hash: ${HASH_2} }\n`,
  '/etc/broken.yaml': `- { name: a, roles: [viewer], hash: x }\n\n- { name: b, roles: [vewer], hash: ${HASH} }\n`,
  '/etc/text.yaml': 'hello\n',
  '/etc/open.yaml': '- { name: a\n',
  '/etc/node.pem': 'no certificate\n',
  '/etc/node.key': 'no key\n',
};

function resolve(yaml: string, env: Readonly<Record<string, string>> = {}) {
  const { raw, locate } = parseYaml(`cluster: demo\ngroups: { orders: {} }\n${yaml}`);
  const readFile = (path: string) => {
    const text = FILES[path];
    if (text === undefined) throw new Error('there is no such file');
    return text;
  };
  return resolveConfig(raw, { source: 'node.yaml', env, locate, readFile, folder: '/etc', hostName: 'host' });
}

function reportOf(yaml: string, env: Readonly<Record<string, string>> = {}): readonly string[] {
  try {
    resolve(yaml, env);
    return [];
  } catch (error) {
    return (error as ConfigError).report.split('\n');
  }
}

describe('tokens', () => {
  test('come from the YAML, a file and the environment', () => {
    const inline = `auth:\n  tokens: [{ name: a, roles: [operator, traffic], tenants: [acme], hash: "${HASH}" }]\n`;
    const { auth, files } = resolve(`${inline}  tokensFile: tokens.yaml\n`);
    const ofFile = { name: 'ofFile', roles: ['viewer'], tenants: null, hash: HASH_2.slice(7) };
    expect(auth?.tokens).toEqual([
      { name: 'a', roles: ['operator', 'traffic'], tenants: ['acme'], hash: HASH.slice(7) },
      ofFile,
    ]);
    expect(files).toEqual(['/etc/tokens.yaml']);
    const given = JSON.stringify([{ name: 'env', roles: ['admin'], hash: HASH }]);
    expect(resolve('', { QUOTAMESH_AUTH_TOKENS: given }).auth?.tokens).toMatchObject([
      { name: 'env', roles: ['admin'] },
    ]);
    expect(resolve('', { QUOTAMESH_AUTH_TOKENS_FILE: '/etc/tokens.yaml' }).auth?.tokens).toEqual([ofFile]);
  });

  test('are described without their hashes, and without them the description can be read again', () => {
    const config = resolve(`auth: { tokens: [{ name: a, roles: [admin], hash: "${HASH}" }] }\n`);
    const described = describeConfig(config);
    expect(described).toContain('hash: "***"');
    expect(described).not.toContain(HASH.slice(7, 20));
    const again = parseYaml(described.replace('"***"', `"${HASH}"`)).raw;
    expect(resolveConfig(again, { source: 'node.yaml', hostName: 'host' })).toEqual(config);
  });

  test('the token of a command is no setting', () => expect(reportOf('', { QUOTAMESH_TOKEN: 'qm_x' })).toEqual([]));
});

describe('listeners that others reach', () => {
  test.each([
    ['http: { host: 0.0.0.0 }', /^node.yaml:3:15: http.host is 0.0.0.0, which other machines reach.*insecure: true/],
    ['http: { host: "::" }', /http.host is ::, which other machines reach/],
    ['http: { host: node-1.example }', /http.host is node-1.example/],
    ['mqtt: { host: 10.0.0.7 }', /^node.yaml:3:15: mqtt.host is 10.0.0.7, which other machines reach/],
  ])('%s is refused', (yaml, expected) => {
    expect(reportOf(yaml)).toEqual([expect.stringMatching(expected)]);
    expect(reportOf(`${yaml}\ninsecure: true\n`)).toEqual([]);
    expect(reportOf(`${yaml}\nauth: { tokens: [{ name: a, roles: [admin], hash: "${HASH}" }] }\n`)).toEqual([]);
  });
  test('a variable that opens one is named', () => {
    expect(reportOf('', { QUOTAMESH_HTTP_HOST: '0.0.0.0' })[0]).toMatch(/^QUOTAMESH_HTTP_HOST: http.host is 0.0.0.0/);
  });
});

describe('a mistake', () => {
  const one = (entry: string) => `auth:\n  tokens:\n    - ${entry}\n`;
  const rule = (entry: string) => `auth:\n  certificates:\n    - ${entry}\n`;
  test.each([
    ['an empty section', 'auth: {}\n', /:3:7: auth has neither tokens nor certificates: nobody could ask/],
    ['a switch', 'auth: true\n', /:3:7: auth must be a mapping with the keys tokens, tokensFile/],
    ['a text', 'auth: { tokens: qm_secret }\n', /auth.tokens must be a list .*got a mapping|got a text/],
    ['no name', one(`{ roles: [admin], hash: "${HASH}" }`), /:5:7: auth.tokens\[0\].name is missing/],
    [
      'a bad name',
      one(`{ name: a b, roles: [admin], hash: "${HASH}" }`),
      /auth.tokens\[0\].name must be a name of .*got "a b"/,
    ],
    ['no hash', one('{ name: a, roles: [admin] }'), /auth.tokens\[0\].hash is missing\. Add it: sha256: and 64/],
    [
      'a token as hash',
      one('{ name: a, roles: [admin], hash: qm_SECRET }'),
      /got another text \(not shown\)\. That is a token/,
    ],
    [
      'a token as name',
      one(`{ name: qm_SECRET, roles: [admin], hash: "${HASH}" }`),
      /name must be .*got another text \(not shown\)\. That is a token/,
    ],
    ['no role', one(`{ name: a, roles: [], hash: "${HASH}" }`), /auth.tokens\[0\].roles must be a list of admin/],
    [
      'a wrong role',
      one(`{ name: a, roles: [admn], hash: "${HASH}" }`),
      /roles\[0\] must be .*got "admn"\. Did you mean "admin"/,
    ],
    ['a role as text', one(`{ name: a, roles: admin, hash: "${HASH}" }`), /roles must be a list of admin.*got "admin"/],
    [
      'an unknown key',
      one(`{ name: a, rolls: [admin], roles: [admin], hash: "${HASH}" }`),
      /rolls is not a known key\. Did you mean "roles"/,
    ],
    [
      'tenants of a viewer',
      one(`{ name: a, roles: [viewer], tenants: [acme], hash: "${HASH}" }`),
      /tenants limits changes, and viewer cannot/,
    ],
    [
      'no tenant',
      one(`{ name: a, roles: [operator], tenants: [], hash: "${HASH}" }`),
      /tenants must be a list of tenants, got an empty/,
    ],
    [
      'a tenant with a slash',
      one(`{ name: a, roles: [operator], tenants: [a/b], hash: "${HASH}" }`),
      /tenants\[0\] must be a list of tenants/,
    ],
    [
      'a hash twice',
      `${one(`{ name: a, roles: [admin], hash: "${HASH}" }`)}    - { name: b, roles: [admin], hash: "${HASH}" }\n`,
      /two tokens with the same hash: a and b/,
    ],
    [
      'a name twice',
      `${one(`{ name: a, roles: [admin], hash: "${HASH}" }`)}    - { name: a, roles: [admin], hash: "${HASH_2}" }\n`,
      /two tokens with the same name: a/,
    ],
    ['no file', 'auth: { tokensFile: gone.yaml }\n', /auth.tokensFile cannot be read: there is no such file/],
    ['a file of text', 'auth: { tokensFile: text.yaml }\n', /auth.tokensFile must hold a list of tokens/],
    ['an open bracket', 'auth: { tokensFile: open.yaml }\n', /auth.tokensFile is no good YAML: line \d/],
    ['a rule without TLS', rule('{ match: "CN=a", roles: [viewer] }'), /auth.certificates need http.tls.clientCa/],
    ['a key without certificate', 'http: { tls: { key: x } }\n', /http.tls.key needs http.tls.cert/],
    ['a certificate without key', 'http: { tls: { certFile: node.pem } }\n', /http.tls.cert needs http.tls.key/],
    [
      'a wrong certificate',
      'http: { tls: { certFile: node.pem, keyFile: node.key } }\n',
      /http.tls cannot be used: .*PEM/,
    ],
    [
      'a missing certificate',
      'http: { tls: { certFile: gone.pem, keyFile: node.key } }\n',
      /http.tls.certFile cannot be read/,
    ],
    [
      'required without authority',
      'http: { tls: { clientCertificates: required } }\n',
      /clientCertificates needs http.tls.clientCa/,
    ],
    ['another choice', 'http: { tls: { clientCertificates: yes } }\n', /must be one of optional, required/],
    [
      'a socket and TLS',
      `http: { socket: /run/q.sock, tls: { cert: a, key: b } }\n`,
      /http.tls does not apply to http.socket/,
    ],
    ['insecure as text', 'insecure: maybe\n', /insecure must be true or false/],
  ])('%s', (_, yaml, expected) => {
    const report = reportOf(yaml);
    expect(report[0]).toMatch(expected);
    expect(report).toHaveLength(1);
    expect(report.join()).not.toContain('SECRET');
  });

  test('in the file of tokens has its line', () => {
    expect(reportOf('auth: { tokensFile: broken.yaml }\n')).toEqual([
      expect.stringMatching(/^\/etc\/broken.yaml:1:37: \[0\].hash must be sha256/),
      expect.stringMatching(/^\/etc\/broken.yaml:3:22: \[1\].roles\[0\] must be .*got "vewer"\. Did you mean "viewer"/),
    ]);
  });

  test('a rule of certificates needs a name that certificates have', () => {
    expect(reportOf(rule('{ match: broker, roles: [viewer] }')).join('\n')).toMatch(
      /match must be a name of the certificate/,
    );
  });
});

describe('what a reload takes', () => {
  const withTokens = (hash: string) => resolve(`auth: { tokens: [{ name: a, roles: [admin], hash: "${hash}" }] }\n`);

  test('tokens are hot; the end of auth is not', () => {
    expect(settingDifferences(withTokens(HASH), withTokens(HASH_2))).toEqual([]);
    expect(settingDifferences(resolve(''), withTokens(HASH))).toEqual([]);
    expect(settingDifferences(withTokens(HASH), resolve(''))).toEqual(['auth']);
    expect(settingDifferences(resolve(''), resolve('insecure: true\n'))).toEqual(['insecure']);
  });
});
