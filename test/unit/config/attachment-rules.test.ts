import { expect, test } from 'vitest';
import { examineConfig } from '../../../src/config/read/resolve-config.js';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';

function examine(rules: string) {
  const { raw, locate } = parseYaml(`cluster: demo\ngroups: { acme: {}, rest: {} }\nattachments:\n  rules:\n${rules}`);
  return examineConfig(raw, { source: 'b.yaml', locate });
}

test('rules as they are written, names of headers in small letters', () => {
  const { config, mistakes } = examine(
    '    - { client: "replicator-*", exempt: true }\n' +
      '    - { headers: { X-Tier: "{tier}" }, group: "tier-{tier}", andBroader: true }\n' +
      '    - { tenant: "trial-*", topic: "audit/#", group: acme }\n' +
      '    - { group: "{tenant}-{namespace}" }\n',
  );
  expect(mistakes).toEqual([]);
  const none = { tenant: null, namespace: null, topic: null, client: null, headers: {}, group: null };
  const rule = { ...none, exempt: false, andBroader: false };
  expect(config?.attachments.rules).toEqual([
    { ...rule, client: 'replicator-*', exempt: true },
    { ...rule, headers: { 'x-tier': '{tier}' }, group: 'tier-{tier}', andBroader: true },
    { ...rule, tenant: 'trial-*', topic: 'audit/#', group: 'acme' },
    { ...rule, group: '{tenant}-{namespace}' },
  ]);
});
