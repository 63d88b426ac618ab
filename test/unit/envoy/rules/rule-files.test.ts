import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { resolveConfig } from '../../../../src/config/read/resolve-config.js';
import { ConfigError } from '../../../../src/config/setting/config-error.js';
import { RuleFiles } from '../../../../src/doors/envoy/rules/rule-files.js';
import { startParts } from '../../../../src/node/loop/start-node.js';
import { describeKey } from '../../../../src/node/status/describe-key.js';
import { describeNode } from '../../../../src/node/status/describe-node.js';
import { explainGroup } from '../../../../src/node/status/explain-group.js';
import { explanationText } from '../../../../src/tools/cli/look/explanation-text.js';
import { type WholeNode, wholeNode } from '../../../whole-node.js';
import { entriesOf } from './rules-of.js';

const RULES = `
domain: shop
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: 5 }
  - key: user
    value: blocked
    rate_limit: { unit: second, requests_per_unit: 0 }
  - key: user
    value: watched
    shadow_mode: true
    rate_limit: { unit: day, requests_per_unit: 1 }
  - key: files
    value: files/*
    share_threshold: true
    rate_limit: { unit: hour, requests_per_unit: 3 }
`;

let folder = '';
let clusters = 0;
let cluster = '';
let files: RuleFiles;
let node: WholeNode;
let log: { level: string; message: string; facts: object | undefined }[] = [];
const telemetry = {
  log: (level: string, message: string, facts?: object) => {
    log.push({ level, message, facts });
  },
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'quotamesh-rules-'));
  cluster = `rules-${process.pid}-${clusters++}`;
  log = [];
  write(RULES);
  files = new RuleFiles(configWith({}), folder, telemetry);
  node = await wholeNode(files.book.config, telemetry);
  files.start(node.yaml);
  await startParts(node);
});

afterEach(async () => {
  files.close();
  await node.close();
  rmSync(folder, { recursive: true, force: true });
});

function write(text: string): void {
  writeFileSync(join(folder, 'shop.yaml'), text);
}

function configWith(settings: object) {
  const envoy = { listen: '127.0.0.1:0', rules: folder };
  return resolveConfig({ cluster, node: 'a', topic: 'memory', envoy, ...settings }, { source: 'node.yaml' });
}

/** Asks as a request of one descriptor does: true = granted, null = nothing limits it. */
function ask(descriptor: string): boolean | null {
  const entries = entriesOf(descriptor);
  const rule = files.book.find('shop', entries);
  return rule && node.gate.tryAcquire(rule.bucketOf('shop', entries), { messages: 1 }).granted;
}

const grants = (descriptor: string, times: number) => Array.from({ length: times }, () => ask(descriptor));

test('rules are in force: all of a unit at once, then no more; each value by itself', () => {
  expect(grants('user=alice', 6)).toEqual([true, true, true, true, true, false]);
  expect(grants('user=bob', 6)).toEqual([true, true, true, true, true, false]);
  expect(ask('user=blocked')).toBe(false);
  expect(grants('user=watched', 3)).toEqual([true, true, true]);
  expect(['a', 'b', 'c', 'd'].map((file) => ask(`files=files/${file}`))).toEqual([true, true, true, false]);
  expect(ask('host=x')).toBe(null);
});

test('other files change limits in place: what was spent stays spent', async () => {
  expect(grants('user=alice', 5)).toEqual([true, true, true, true, true]);
  write(RULES.replace('requests_per_unit: 5', 'requests_per_unit: 8').replace('value: blocked', 'value: gone'));
  await files.readNow();
  expect(files.book.status).toMatchObject({ domains: 1, rules: 4, taken: 1, refused: 0, refusedBecause: null });
  expect(ask('user=alice')).toBe(false);
  expect(grants('user=carol', 9)).toEqual([true, true, true, true, true, true, true, true, false]);
  expect(grants('user=blocked', 2)).toEqual([true, true]);
  expect(node.groups.numbers.has('shop/user:blocked')).toBe(false);
});

test('a mistake changes nothing, and is told once, by line; mended rules are taken', async () => {
  write(RULES.replace('unit: day', 'unit: daily'));
  await files.readNow();
  await files.readNow();
  const told = log.filter(({ level }) => level === 'error');
  const because = `${join(folder, 'shop.yaml')}:5:17: descriptors[0].rate_limit has unit "daily". Write one of `;
  expect(told).toMatchObject([
    { message: 'rules of Envoy refused, those in force stay', facts: { reason: expect.stringContaining(because) } },
  ]);
  expect(files.book.status).toMatchObject({ taken: 0, refused: 2, refusedBecause: expect.stringContaining(because) });
  expect(describeNode(node).degraded).toEqual([expect.stringMatching(/^rules of Envoy refused.*has unit "daily"/)]);
  expect(grants('user=alice', 6).at(-1)).toBe(false);
  write(RULES);
  await files.readNow();
  expect(describeNode(node).degraded).toEqual([]);
  expect(files.book.status).toMatchObject({ taken: 1, refused: 2, refusedBecause: null });
});

test('a group and a key tell the rule that they were made of, by file and line, domain and descriptor', () => {
  const file = join(folder, 'shop.yaml');
  const ruleOf = (group: string) => explainGroup(node, node.gate.groupToExplain(group)).rule;
  expect(ruleOf('shop/user:blocked')).toEqual({ place: `${file}:6`, domain: 'shop', descriptor: 'user=blocked' });
  const shared = { place: `${file}:13`, domain: 'shop', descriptor: 'files=files/*' };
  expect(ruleOf('shop/files:files~2F~2A')).toEqual(shared);
  const perValue = { place: `${file}:4`, domain: 'shop', descriptor: 'user' };
  ask('user=alice');
  expect(describeKey(node, 'shop/user@alice')?.rule).toEqual(perValue);
  grants('user=alice', 9);
  expect(ruleOf('shop/user@alice')).toEqual(perValue);
  const text = explanationText(explainGroup(node, node.gate.groupToExplain('shop/user@alice')));
  expect(text).toMatch(new RegExp(`rule +${file}:4, shop: user\\n`));
});

test('files that are gone change nothing', async () => {
  rmSync(join(folder, 'shop.yaml'));
  await files.readNow();
  expect(files.book.status.refusedBecause).toMatch(/the folder has no file that ends in .yaml or .yml/);
  expect(ask('user=blocked')).toBe(false);
});

test('the configuration may change beside them, and keeps them', async () => {
  node.yaml.take(files.book.rebased(configWith({ groups: { orders: {} } })));
  expect(node.groups.numbers.has('orders')).toBe(true);
  expect(ask('user=blocked')).toBe(false);
  write(RULES.replace('value: blocked', 'value: other'));
  await files.readNow();
  expect(node.groups.numbers.has('orders')).toBe(true);
});

test('files above 4 KiB are read beside the event loop, with the same result', async () => {
  const many = Array.from({ length: 200 }, (_, at) => {
    return `  - { key: k${at}, rate_limit: { unit: day, requests_per_unit: ${at} } }`;
  });
  write(`${RULES}${many.join('\n')}\n`);
  await files.readNow();
  expect(files.book.status).toMatchObject({ rules: 204, taken: 1, refusedBecause: null });
  expect(grants('k2=x', 3)).toEqual([true, true, false]);
  write(`${RULES}${many.join('\n')}\n  - { key: k1 }\n`);
  await files.readNow();
  expect(files.book.status.refusedBecause).toMatch(/is the second descriptor "k1" of this level/);
});

test.each([
  [
    'a group of that name',
    { groups: { 'shop/user:blocked': {} } },
    /becomes "shop\/user:blocked", which node.yaml has, too/,
  ],
  [
    'a pattern of that name',
    { keys: { 'shop/user@{v1}': {} } },
    /becomes "shop\/user@\{v1\}", which node.yaml has, too/,
  ],
  ['no topic', { topic: { kind: 'none', nodeCount: 1 } }, /which need a topic: with kind none nobody shares them/],
])('%s and a rule do not go together', (_, settings, said) => {
  expect(() => new RuleFiles(configWith(settings), folder, telemetry)).toThrow(ConfigError);
  expect(() => new RuleFiles(configWith(settings), folder, telemetry)).toThrow(said);
});

test('rules without a listener are a mistake of the configuration', () => {
  const raw = { cluster, node: 'a', topic: 'memory', envoy: { rules: folder } };
  expect(() => resolveConfig(raw, { source: 'node.yaml' })).toThrow(/envoy\.rules needs envoy\.listen/);
});
