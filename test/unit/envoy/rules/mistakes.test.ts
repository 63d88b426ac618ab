import { expect, test } from 'vitest';
import { TIME_UNITS } from '../../../../src/config/setting/quantity.js';
import { readRules } from './rules-of.js';

const LIMIT = 'rate_limit: { unit: second, requests_per_unit: 1 }';

test.each([
  [
    'no domain',
    `descriptors:\n  - key: a\n    ${LIMIT}`,
    [`a.yaml:1:1: the configuration has no domain. Write \`domain: …\` as in the filter of Envoy.`],
  ],
  [
    'no mapping',
    '- domain: a',
    [
      'a.yaml:1:1: the configuration must be a mapping with domain and descriptors, got a list. Write domain: and descriptors: at its beginning.',
    ],
  ],
  ['no YAML', 'domain: [', [expect.stringContaining('a.yaml:1:10: the configuration is not readable as YAML')]],
  [
    'an unknown key',
    'domain: a\ndescriptors:\n  - key: a\n    ratelimit: {}',
    ['a.yaml:4:5: descriptors[0].ratelimit is no known key. Did you mean "rate_limit"?'],
  ],
  [
    'a key of a newer version',
    'domain: a\ndescriptors:\n  - key: a\n    burst_factor: 2',
    [
      'a.yaml:4:5: descriptors[0].burst_factor is no known key. Remove it; a newer ratelimit may know it, this version of quotamesh does not.',
    ],
  ],
  [
    'a unit that cannot be',
    'domain: a\ndescriptors:\n  - key: a\n    rate_limit: { unit: days, requests_per_unit: 1 }',
    ['a.yaml:4:17: descriptors[0].rate_limit has unit "days". Did you mean "day"?'],
  ],
  [
    'metadata that is no mapping',
    'domain: a\ndescriptors:\n  - key: a\n    metadata: [b]',
    ['a.yaml:4:15: descriptors[0].metadata must be a mapping, got a list. Indent its keys below metadata.'],
  ],
  [
    'metadata without end',
    `domain: a\ndescriptors:\n  - key: a\n    metadata: { b: ${'['.repeat(30)}${']'.repeat(30)} }`,
    ['a.yaml:4:15: descriptors[0].metadata is too large. Say less in it.'],
  ],
  [
    'no unit',
    'domain: a\ndescriptors:\n  - key: a\n    rate_limit: { requests_per_unit: 1 }',
    [`a.yaml:4:17: descriptors[0].rate_limit has no unit. Write one of ${TIME_UNITS.join(', ')}.`],
  ],
  [
    'no count',
    'domain: a\ndescriptors:\n  - key: a\n    rate_limit: { unit: day }',
    ['a.yaml:4:17: descriptors[0].rate_limit has no requests_per_unit. Write it; 0 blocks.'],
  ],
  [
    'a count that cannot be',
    'domain: a\ndescriptors:\n  - key: a\n    rate_limit: { unit: day, requests_per_unit: 010 }',
    [expect.stringContaining('requests_per_unit must be a whole number from 0 to 4294967295, got "010"')],
  ],
  [
    'a unit beside unlimited',
    'domain: a\ndescriptors:\n  - key: a\n    rate_limit: { unit: day, unlimited: true }',
    ['a.yaml:4:17: descriptors[0].rate_limit has unit "day" beside unlimited. Remove one.'],
  ],
  [
    'no key',
    `domain: a\ndescriptors:\n  - value: a`,
    ['a.yaml:3:5: descriptors[0] has no key. Write `key: …`, as the action of Envoy names it.'],
  ],
  [
    'one twice',
    `domain: a\ndescriptors:\n  - key: a_b\n    ${LIMIT}\n  - { key: a, value: b }`,
    [
      'a.yaml:5:5: descriptors[1] is the second descriptor "a_b" of this level, after line 3. Remove or join one of the two.',
    ],
  ],
  [
    'a share without a wildcard',
    'domain: a\ndescriptors:\n  - { key: a, value: b, share_threshold: true }',
    [
      'a.yaml:3:5: descriptors[0] has share_threshold without a wildcard. Remove it: a value as it is written has one limit anyway.',
    ],
  ],
  [
    'a rule that replaces itself',
    'domain: a\ndescriptors:\n  - key: a\n    rate_limit: { unit: day, requests_per_unit: 1, name: x, replaces: [{ name: x }] }',
    ['a.yaml:4:17: descriptors[0].rate_limit replaces itself, "x". Correct or remove the name.'],
  ],
  [
    'a rule that replaces nobody',
    'domain: a\ndescriptors:\n  - key: a\n    rate_limit: { unit: day, requests_per_unit: 1, replaces: [{}] }',
    ['a.yaml:4:17: descriptors[0].rate_limit replaces a rule without a name. Correct or remove the name.'],
  ],
  [
    'a list of texts',
    'domain: a\ndescriptors: [a]',
    ['a.yaml:2:15: descriptors[0] must be a descriptor: a mapping with a key, got "a". Write `- key: …`.'],
  ],
  [
    'a switch in quotes',
    'domain: a\ndescriptors:\n  - { key: a, shadow_mode: "true" }',
    ['a.yaml:3:28: descriptors[0].shadow_mode must be true or false, got "true". Write true or false, without quotes.'],
  ],
  [
    'a key twice',
    'domain: a\ndomain: b\ndescriptors: []',
    ['a.yaml:2:1: domain is written twice, first in line 1. Keep one of the two.'],
  ],
])('%s is told by line, with a remedy', (_, text, mistakes) => {
  expect(readRules({ 'a.yaml': text }).mistakes).toEqual(mistakes);
});

test.each([
  [
    'an overlap of wildcards',
    `- { key: a, value: "x*", ${LIMIT} }\n- { key: a, value: "xa*y", ${LIMIT} }`,
    'a.yaml:4:3: descriptors[1] shares values with "x*", which stands before it and has them.',
  ],
  [
    'a metric that there is not',
    `- { key: a, detailed_metric: true }`,
    expect.stringContaining('a.yaml:3:13: descriptors[0].detailed_metric changes no metric'),
  ],
  [
    'a key in the wrong place',
    `- { key: a, unit: day }`,
    'a.yaml:3:13: descriptors[0].unit means nothing here, as with ratelimit: it belongs below rate_limit.',
  ],
  [
    'a name that no rule has',
    `- { key: a, rate_limit: { unit: day, requests_per_unit: 1, replaces: [{ name: b }] } }`,
    'a.yaml:3:3: descriptors[0] replaces "b", and no rule of the domain has that name.',
  ],
  [
    'a wildcard in a key',
    `- { key: "a*", ${LIMIT} }`,
    'a.yaml:3:3: descriptors[0] has a * in its key, which stands for itself: only values have wildcards.',
  ],
])('%s is a note, and the file is valid', (_, descriptors, note) => {
  const { mistakes, notes } = readRules({ 'a.yaml': `domain: d\ndescriptors:\n${descriptors}` });
  expect(mistakes).toEqual([]);
  expect(notes).toEqual([note]);
});

test('files of one domain add up, and a descriptor of both is named with both files', () => {
  const file = (key: string) => `domain: d\ndescriptors:\n  - key: ${key}\n    ${LIMIT}`;
  const { rules, mistakes } = readRules({ 'a.yaml': file('x'), 'b.yaml': file('y') });
  expect(mistakes).toEqual([]);
  expect(rules.all.map(({ bucket }) => bucket)).toEqual(['d/x@{v1}', 'd/y@{v1}']);
  expect(readRules({ 'a.yaml': file('x'), 'b.yaml': file('x') }).mistakes).toEqual([
    'b.yaml:3:5: descriptors[0] is the second descriptor "x" of this level, after line 3 of a.yaml. Remove or join one of the two.',
  ]);
});

test('values are texts as ratelimit reads them, anchors and merges too', () => {
  const { rules, mistakes } = readRules({
    'a.yaml': `
domain: 1.0
descriptors:
  - { key: version, value: 1.10, rate_limit: &slow { unit: MINUTE, requests_per_unit: 1_000 } }
  - { key: flag, value: yes, rate_limit: *slow }
  - { key: empty, value: null, rate_limit: { <<: *slow, unit: hour } }
  - { key: "null", value: "~", rate_limit: *slow }`,
  });
  expect(mistakes).toEqual([]);
  expect(rules.all.map(({ bucket, rate }) => `${bucket} ${rate?.requestsPerUnit}/${rate?.unit}`)).toEqual([
    '1.0/version:1.10 1000/minute',
    '1.0/flag:yes 1000/minute',
    '1.0/empty@{v1} 1000/hour',
    '1.0/null:~7E 1000/minute',
  ]);
});

test('what nests without end is refused, not followed', () => {
  const deep = Array.from({ length: 25 }, (_, at) => `${'  '.repeat(at)}descriptors:\n${'  '.repeat(at)}- key: k${at}`);
  const indented = deep.map((text) => text.replaceAll('\n', '\n')).join('\n');
  const { mistakes } = readRules({ 'a.yaml': `domain: d\n${indented}` });
  expect(mistakes.join('\n')).toMatch(/is more than 20 levels deep|nests too deeply/);
  const circle = readRules({ 'a.yaml': 'domain: d\ndescriptors: &a\n  - key: k\n    descriptors: *a' });
  expect(circle.mistakes.join('\n')).toMatch(/more than 20 levels deep/);
});
