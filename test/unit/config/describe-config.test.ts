import { describe, expect, test } from 'vitest';
import { describeConfig } from '../../../src/config/describe/describe-config.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';

const OPTIONS = { source: 'node.yaml', folder: '/etc/quotamesh', hostName: 'host' };

describe('the effective configuration', () => {
  test('read as a file gives the same configuration', () => {
    const raw = {
      cluster: 'demo',
      topic: { kind: 'kafka', brokers: ['a:1'], tls: { ca: 'PEM\nPEM\n', servername: 'kafka' } },
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

  test('hides secrets', () => {
    const sasl = { mechanism: 'plain', username: 'user-1', password: 'hunter2' };
    const tls = { cert: 'CERTIFICATE', key: 'PRIVATE-KEY', passphrase: 'sesame' };
    const topic = { kind: 'kafka', brokers: ['a:1'], sasl, tls };
    const text = describeConfig(resolveConfig({ cluster: 'demo', topic, groups: { orders: {} } }, OPTIONS));
    expect(text).toContain('user-1');
    expect(text).toContain('CERTIFICATE');
    for (const secret of ['hunter2', 'PRIVATE-KEY', 'sesame']) expect(text).not.toContain(secret);
    expect(text.match(/"?\*\*\*"?/g)).toHaveLength(3);
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
