import { expect, test } from 'vitest';
import { examineConfig } from '../../../src/config/read/resolve-config.js';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';

function rulesOf(section: 'mqtt' | 'attachments', rules: string) {
  const { raw, locate } = parseYaml(`cluster: demo\ngroups: { acme: {}, rest: {} }\n${section}:\n  rules:\n${rules}`);
  const { config, mistakes } = examineConfig(raw, { source: 'b.yaml', locate });
  expect(mistakes).toEqual([]);
  return config?.[section].rules;
}

test('rules of attachments as they are written, names of headers in small letters', () => {
  const rules = rulesOf(
    'attachments',
    '    - { client: "replicator-*", exempt: true }\n' +
      '    - { headers: { X-Tier: "{tier}" }, group: "tier-{tier}", andBroader: true }\n' +
      '    - { tenant: "trial-*", topic: "audit/#", group: acme }\n' +
      '    - { group: "{tenant}-{namespace}" }\n',
  );
  const none = { tenant: null, namespace: null, topic: null, client: null, headers: {}, group: null };
  const rule = { ...none, exempt: false, andBroader: false };
  expect(rules).toEqual([
    { ...rule, client: 'replicator-*', exempt: true },
    { ...rule, headers: { 'x-tier': '{tier}' }, group: 'tier-{tier}', andBroader: true },
    { ...rule, tenant: 'trial-*', topic: 'audit/#', group: 'acme' },
    { ...rule, group: '{tenant}-{namespace}' },
  ]);
});

test('rules of MQTT as they are written', () => {
  const rules = rulesOf(
    'mqtt',
    '    - { username: "{tenant}", topic: "{tenant}/+/#", group: "{tenant}" }\n    - { topic: "{tenant}/#" }\n    - { clientId: "a-*", group: acme }\n    - group: rest\n',
  );
  const none = { clientId: null, username: null, topic: null, tenant: null, namespace: null };
  expect(rules).toEqual([
    { ...none, username: '{tenant}', topic: '{tenant}/+/#', group: '{tenant}' },
    { ...none, topic: '{tenant}/#', group: null },
    { ...none, clientId: 'a-*', group: 'acme' },
    { ...none, group: 'rest' },
  ]);
});
