import { createPrivateKey } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { describeConfig } from '../../../src/config/describe/describe-config.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import type { ResolvedConfig } from '../../../src/config/resolved/resolved-config.js';
import { valueBelow } from '../../../src/config/setting/setting-value.js';
import { Scrubber, SECRET_SETTINGS } from '../../../src/doors/telemetry/scrubber.js';
import { hideSecretsOf } from '../../../src/tools/cli/run/hide-secrets.js';
import { describeError } from '../../../src/tools/terminal/exit.js';
import { makeAuthority } from '../access/certificates.js';

const KAFKA = { kind: 'kafka', brokers: ['a:1'] };
const PLAIN = { mechanism: 'plain', username: 'u', password: 'sasl-password' };
const OAUTH = { mechanism: 'oauthbearer', tokenEndpoint: 'https://id/t', clientId: 'c', clientSecret: 'sasl-secret' };
const HMAC = { key: 'k'.repeat(32), nextKey: 'n'.repeat(32), previousKey: 'p'.repeat(32) };
const REDIS = {
  kind: 'redis',
  addresses: ['a:1'],
  password: 'redis-password',
  sentinel: { master: 'm', password: 'redis-password-of-sentinels' },
};
const PASSPHRASE = 'opens the key';

let folder: string;
let tls: { readonly cert: string; readonly key: string; readonly passphrase: string };
let configs: readonly ResolvedConfig[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quotamesh-secrets-'));
  const { cert, key: open } = await makeAuthority(folder, 'node');
  const form = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: PASSPHRASE } as const;
  tls = { cert, key: createPrivateKey(open).export(form) as string, passphrase: PASSPHRASE };
  const topics = [
    { ...KAFKA, sasl: PLAIN, tls, hmac: HMAC },
    { ...KAFKA, sasl: OAUTH },
    { ...REDIS, tls, hmac: HMAC },
  ];
  const envoy = { listen: '127.0.0.1:0', tls, xds: { url: 'https://eg:18001', tls } };
  configs = topics.map((topic) =>
    resolveConfig({ cluster: 'c', http: { tls }, mqtt: { tls }, envoy, topic, groups: { a: {} } }, OPTIONS),
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const OPTIONS = { source: '(inline)', env: {}, folder: '/', hostName: 'h' };

describe('what the settings table marks as secret', () => {
  it('stands in one of the configurations here', () => {
    const given = SECRET_SETTINGS.filter((path) =>
      configs.some((config) => typeof secretOf(config, path) === 'string'),
    );
    expect(given).toEqual(SECRET_SETTINGS);
    expect(SECRET_SETTINGS).toContain('http.tls.passphrase');
  });

  it('is in no log line, and masked where the configuration is shown', () => {
    for (const config of configs) {
      const [scrubber, shown] = [new Scrubber(config), parse(describeConfig(config))];
      for (const path of SECRET_SETTINGS) {
        const secret = secretOf(config, path);
        if (typeof secret !== 'string') continue;
        const line = JSON.stringify({ reason: `cannot use ${secret} as ${path}` });
        expect(scrubber.clean(line)).toBe(`{"reason":"cannot use *** as ${path}"}`);
        expect(valueBelow(shown, path.split('.')), path).toBe('***');
      }
    }
  });

  it('is in no error that a command ends with', () => {
    for (const config of configs) {
      hideSecretsOf(config);
      for (const path of SECRET_SETTINGS) {
        const secret = secretOf(config, path);
        if (typeof secret !== 'string') continue;
        const [plain, quoted] = [secret, JSON.stringify(secret)].map((text) => describeError(new Error(text)));
        expect(plain).toMatch(/^Error: \*\*\*\n/);
        expect(quoted).toMatch(/^Error: "\*\*\*"\n/);
      }
    }
  });

  it('is hidden too where the configuration was read again', () => {
    const [before, after] = [resolveConfig(raw({}), OPTIONS), resolveConfig(raw({ http: { tls } }), OPTIONS)];
    const scrubber = new Scrubber(before);
    scrubber.take(after);
    expect(scrubber.clean(JSON.stringify(tls.key))).toBe('"***"');
  });
});

function raw(others: object) {
  return { cluster: 'c', topic: 'memory', groups: { a: {} }, ...others };
}

function secretOf(config: ResolvedConfig, path: string): unknown {
  return valueBelow(config, path.split('.'));
}
