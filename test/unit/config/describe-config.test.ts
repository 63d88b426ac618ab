import { describe, expect, test } from 'vitest';
import { describeConfig } from '../../../src/config/describe/describe-config.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';

const OPTIONS = { source: 'node.yaml', folder: '/etc/quotamesh', hostName: 'host' };

describe('the effective configuration', () => {
  test('read as a file gives the same configuration', () => {
    const raw = {
      cluster: 'demo',
      topic: {
        kind: 'kafka',
        brokers: ['a:1'],
        tls: { ca: '-----BEGIN CERTIFICATE-----\nPEM\n', servername: 'kafka' },
      },
      defaultGroup: 'orders',
      metrics: { perGroup: ['orders'] },
      defaults: { quota: { dispatch: { bytesPerSecond: '1.5MiB' } } },
      groups: {
        orders: { quota: { publish: { messagesPerSecond: 0 } }, weights: { constructor: 2 }, debtMs: '2s' },
        'public/default': {},
      },
    };
    const config = resolveConfig(raw, OPTIONS);
    const text = describeConfig(config);
    expect(text).toMatch(/^# effective configuration of node\.yaml\ncluster: demo\nnode: host-7070\n/);
    expect(resolveConfig(parseYaml(text).raw, OPTIONS)).toEqual(config);
  });

  test.each([
    ['a passphrase', 'sesame', { key: '***', passphrase: '***' }],
    ['no passphrase', null, { key: '***' }],
  ])('hides those of HTTPS, and shows none that there is not: %s', (_, passphrase, shown) => {
    const config = resolveConfig({ cluster: 'demo', groups: { orders: {} } }, OPTIONS);
    const tls = {
      cert: 'CERTIFICATE',
      key: 'PRIVATE-KEY',
      passphrase,
      clientCa: null,
      clientCertificates: 'required' as const,
    };
    const text = describeConfig({ ...config, http: { ...config.http, tls } });
    const { http } = parseYaml(text).raw as { http: { tls: object } };
    expect(http.tls).toEqual({ cert: 'CERTIFICATE', clientCertificates: 'required', ...shown });
  });
});
