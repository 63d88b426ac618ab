import { expect, test } from 'vitest';
import { examineConfig } from '../../../src/config/read/resolve-config.js';
import { formatMistake } from '../../../src/config/setting/config-error.js';
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

test.each<[string, string, RegExp]>([
  ['no list', '    a: 1\n', /^b.yaml:5:5: mqtt.rules must be a list of rules, got a mapping\. Begin each rule/],
  ['no mapping', '    - x\n', /^b.yaml:5:7: mqtt.rules\[0\] must be a mapping with the keys clientId, .*, got "x"/],
  [
    'a misspelled key',
    '    - { clientid: x, group: rest }\n',
    /^b.yaml:5:9: .*clientid is not a known key\. Did you mean "clientId"/,
  ],
  [
    'a number',
    '    - { topic: 7, group: rest }\n',
    /^b.yaml:5:16: mqtt.rules\[0\]\.topic must be levels separated by .* got 7/,
  ],
  ['# in the middle', '    - { topic: "a/#/b", group: rest }\n', /topic must be levels .*, got "a\/#\/b"/],
  ['half a capture', '    - { topic: "a/{b", group: rest }\n', /topic must be levels/],
  ['two captures side by side', '    - { clientId: "{a}{b}", group: rest }\n', /clientId must be a client id in which/],
  ['a capture twice', '    - { clientId: "{a}-{a}", group: rest }\n', /clientId must be a client id in which/],
  [
    'an unknown group',
    '    - { topic: "a/#", group: acne }\n',
    /^b.yaml:5:30: .*group must name a configured group, got "acne"\. Did you mean "acme"/,
  ],
  [
    'a group without its capture',
    '    - { topic: "{namespace}/#" }\n',
    /group needs \{tenant\}, which nothing in the rule says\. Capture \{tenant\}/,
  ],
  [
    'behind a rule for everything',
    '    - group: rest\n    - { topic: a, group: acme }\n',
    /^b.yaml:6:7: mqtt.rules\[1\] is never reached: rule 0 matches/,
  ],
])('%s', (_, rules, message) => {
  const { config, mistakes } = examine(rules);
  expect(config).toBe(null);
  expect(mistakes.map(formatMistake).join('\n')).toMatch(message);
  expect(mistakes.length).toBe(1);
});
