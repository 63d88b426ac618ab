import { describe, expect, test } from 'vitest';
import { describeConfig } from '../../../src/config/describe/describe-config.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import type { ConfigError } from '../../../src/config/setting/config-error.js';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';
import { settingDifferences } from '../../../src/node/groups/yaml/yaml-groups.js';

const HASH = `sha256:${'0a'.repeat(32)}`;
const HASH_2 = `sha256:${'0b'.repeat(32)}`;
const FILES: Readonly<Record<string, string>> = {
  '/etc/tokens.yaml': `- { name: ofFile, roles: [viewer], hash: ${HASH_2} }\n`,
  '/etc/node.pem': '-----BEGIN CERTIFICATE-----\n',
  '/etc/node.key': '-----BEGIN PRIVATE KEY-----\n',
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
    expect(resolve(inline).auth?.tokens).toEqual([
      { name: 'a', roles: ['operator', 'traffic'], tenants: ['acme'], hash: HASH.slice(7) },
    ]);
    const { auth, files } = resolve('auth: { tokens: { file: tokens.yaml } }\n');
    const ofFile = { name: 'ofFile', roles: ['viewer'], tenants: null, hash: HASH_2.slice(7) };
    expect(auth?.tokens).toEqual([ofFile]);
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

test('a mistake in a certificate is told as OpenSSL tells it', () => {
  expect(reportOf('http: { tls: { cert: { file: node.pem }, key: { file: node.key } } }\n')).toEqual([
    expect.stringMatching(/http.tls cannot be used: .*PEM/),
  ]);
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
