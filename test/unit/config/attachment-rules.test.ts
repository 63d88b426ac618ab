import { expect, test } from 'vitest';
import { examineConfig } from '../../../src/config/read/resolve-config.js';
import { formatMistake } from '../../../src/config/setting/config-error.js';
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

test.each<[string, string, RegExp]>([
  ['no list', '    a: 1\n', /^b.yaml:5:5: attachments.rules must be a list of rules, got a mapping/],
  ['neither group nor exempt', '    - { client: a }\n', /^b.yaml:5:7: .*says neither what group nor exempt: true/],
  ['exempt: false is no group', '    - { client: a, exempt: false }\n', /says neither what group nor exempt: true/],
  ['both', '    - { client: a, group: acme, exempt: true }\n', /^b.yaml:5:7: .*only one of the two can hold/],
  [
    'a capture that nothing says',
    '    - { client: a, group: "{b}" }\n',
    /group needs \{b\}, which nothing in the rule/,
  ],
  ['an unknown group', '    - { client: a, group: acne }\n', /got "acne"\. Did you mean "acme"/],
  ['# in the middle', '    - { topic: "a/#/b", group: acme }\n', /topic must be levels .*, got "a\/#\/b"/],
  [
    'a pattern of a header',
    '    - { headers: { a: "{x}{y}" }, group: acme }\n',
    /headers.a must be a mapping of header/,
  ],
  ['a misspelled key', '    - { tennant: a, group: acme }\n', /tennant is not a known key\. Did you mean "tenant"/],
  ['behind a rule for everything', '    - group: rest\n    - { client: a, group: acme }\n', /is never reached: rule 0/],
])('%s', (_, rules, message) => {
  const { config, mistakes } = examine(rules);
  expect(config).toBe(null);
  expect(mistakes.map(formatMistake).join('\n')).toMatch(message);
  expect(mistakes.length).toBe(1);
});
