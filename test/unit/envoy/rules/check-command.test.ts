import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runInProcess } from '../../cli/run-in-process.js';

const RULES = `
domain: messaging
descriptors:
  - key: message_type
    value: marketing
    descriptors:
      - key: to_number
        rate_limit: { unit: day, requests_per_unit: 5 }
  - key: to_number
    detailed_metric: true
    rate_limit: { unit: day, requests_per_unit: 100 }
  - key: ldap
    rate_limit: { unlimited: true }
  - key: ip
    value: 10.0.0.1
    rate_limit: { unit: second, requests_per_unit: 0 }
`;

const MARKETING = 'messaging/message_type:marketing/to_number@{v1}';
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quotamesh-rules-'));
  writeFileSync(join(folder, 'messaging.yaml'), RULES);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('shows what each rule becomes, by line, then notes and counts', async () => {
  const { code, stdout } = await runInProcess(['envoy', 'check', folder]);
  expect(code).toBe(0);
  expect(stdout.replaceAll(`${folder}/`, '').replaceAll(folder, 'rules').replace(/ +/g, ' ')).toBe(`\
line rule becomes limit name
messaging.yaml:7 messaging: message_type=marketing, to_number template 5/d, burst 5 ${MARKETING}
messaging.yaml:9 messaging: to_number template 100/d, burst 100 messaging/to_number@{v1}
messaging.yaml:12 messaging: ldap unlimited unlimited
messaging.yaml:14 messaging: ip=10.0.0.1 group 0/s messaging/ip:10.0.0.1

messaging.yaml:10:5: descriptors[1].detailed_metric changes no metric: series are per group and template, and \`quotamesh top\` shows the busiest values.

rules: valid; 1 domains, 4 rules: 1 groups, 2 templates, 1 unlimited
`);
});

test.each([
  [
    'messaging',
    'message_type=marketing,to_number=1',
    /finds line 7, .*; its bucket: messaging\/message_type:marketing\/to_number@1/,
  ],
  ['messaging', 'ldap=x', /finds line 12, messaging: ldap; nothing limits it/],
  ['messaging', 'message_type=marketing', /finds no rule with a limit/],
  ['other', 'ldap=x', /no rule has its domain/],
])('finds the rule of a descriptor: %s %s', async (domain, descriptor, said) => {
  const { code, stdout } = await runInProcess([
    'envoy',
    'check',
    folder,
    '--domain',
    domain,
    '--descriptor',
    descriptor,
  ]);
  expect(stdout).toMatch(said);
  expect(code).toBe(0);
});

test('the same as JSON', async () => {
  const asked = ['--domain', 'messaging', '--descriptor', 'to_number=1'];
  const { stdout } = await runInProcess(['envoy', 'check', folder, '--json', ...asked]);
  const said = JSON.parse(stdout);
  expect(said).toMatchObject({ valid: true, domains: ['messaging'], mistakes: [] });
  expect(said.rules[0]).toEqual({
    file: join(folder, 'messaging.yaml'),
    line: 7,
    rule: 'messaging: message_type=marketing, to_number',
    becomes: 'template',
    bucket: MARKETING,
    quota: '5/d',
    burst: 5,
    shadow: false,
    quotaMode: false,
    name: '',
    replaces: [],
  });
  expect(said.notes).toHaveLength(1);
  expect(said.found).toEqual({
    isKnownDomain: true,
    rule: 'messaging: to_number',
    line: 9,
    bucket: 'messaging/to_number@1',
  });
});

test('mistakes end with 78, what cannot be read too, a half command with 2', async () => {
  const wrong = mkdtempSync(join(tmpdir(), 'quotamesh-rules-'));
  try {
    const empty = await runInProcess(['envoy', 'check', wrong]);
    expect(empty.code).toBe(78);
    expect(empty.stderr).toMatch(/the folder has no file that ends in .yaml or .yml/);
    writeFileSync(join(wrong, 'a.yaml'), 'domain: d\ndescriptors:\n  - key: a\n    limit: 1\n');
    const mistaken = await runInProcess(['envoy', 'check', wrong]);
    expect(mistaken.code).toBe(78);
    expect(mistaken.stderr).toMatch(
      /1 mistake\(s\) in the rules of Envoy\n.*a\.yaml:4:5: descriptors\[0\]\.limit is no known key/,
    );
    const asJson = await runInProcess(['envoy', 'check', wrong, '--json']);
    expect(asJson.code).toBe(78);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ valid: false, mistakes: [{ line: 4, column: 5 }] });
  } finally {
    rmSync(wrong, { recursive: true, force: true });
  }
  expect((await runInProcess(['envoy', 'check', folder, '--domain', 'a'])).code).toBe(2);
  expect((await runInProcess(['envoy', 'check', folder, '--domain', 'a', '--descriptor', 'x'])).code).toBe(2);
});
