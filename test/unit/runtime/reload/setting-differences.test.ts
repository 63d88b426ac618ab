import { describe, expect, test } from 'vitest';
import { resolveConfig } from '../../../../src/config/read/resolve-config.js';
import type { ResolvedConfig } from '../../../../src/config/resolved/resolved-config.js';
import { settingDifferences } from '../../../../src/node/groups/yaml/yaml-groups.js';

const CONFIG = resolveConfig({ cluster: 'c', topic: 'memory', groups: {} }, { source: '(test)' });
const TLS = { cert: 'one', key: 'one', passphrase: null, clientCa: 'one', clientCertificates: 'optional' } as const;

describe.each(['http', 'mqtt'] as const)('TLS of %s', (listener) => {
  const secured = (tls: object | null): ResolvedConfig => ({ ...CONFIG, [listener]: { ...CONFIG[listener], tls } });

  test('a certificate is renewed without a restart', () => {
    expect(settingDifferences(secured(TLS), secured({ ...TLS, cert: 'two', key: 'two', clientCa: 'two' }))).toEqual([]);
  });

  test('whether there is TLS, and who is asked for a certificate, is not', () => {
    expect(settingDifferences(secured(TLS), secured(null))).toEqual([`${listener}.tls`]);
    expect(settingDifferences(secured(TLS), secured({ ...TLS, clientCa: null }))).toEqual([`${listener}.tls.clientCa`]);
    const required = secured({ ...TLS, clientCertificates: 'required' });
    expect(settingDifferences(secured(TLS), required)).toEqual([`${listener}.tls.clientCertificates`]);
  });
});
