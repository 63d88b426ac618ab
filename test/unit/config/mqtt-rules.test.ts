import { expect, test } from 'vitest';
import { examineConfig } from '../../../src/config/read/resolve-config.js';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';

function examine(rules: string) {
  const { raw, locate } = parseYaml(`cluster: demo\ngroups: { acme: {}, rest: {} }\nmqtt:\n  rules:\n${rules}`);
  return examineConfig(raw, { source: 'b.yaml', locate });
}

test('rules as they are written', () => {
  const { config, mistakes } = examine(
    '    - { username: "{tenant}", topic: "{tenant}/+/#", group: "{tenant}" }\n    - { topic: "{tenant}/#" }\n    - { clientId: "a-*", group: acme }\n    - group: rest\n',
  );
  expect(mistakes).toEqual([]);
  const none = { clientId: null, username: null, topic: null, tenant: null, namespace: null };
  expect(config?.mqtt.rules).toEqual([
    { ...none, username: '{tenant}', topic: '{tenant}/+/#', group: '{tenant}' },
    { ...none, topic: '{tenant}/#', group: null },
    { ...none, clientId: 'a-*', group: 'acme' },
    { ...none, group: 'rest' },
  ]);
});
