import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../../../src/base/package/package-root.js';
import { runInProcess } from '../../cli/run-in-process.js';

/** Plays docs/guide/envoy-rules.md: its files, its command with what it prints, its configurations. */
const PAGE = readFileSync(join(fileURLToPath(PACKAGE_ROOT), 'docs/guide/envoy-rules.md'), 'utf8');
const blocks = [...PAGE.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, language = '', text = '']) => ({
  language,
  text,
}));
const inLanguage = (language: string) => blocks.filter((block) => block.language === language).map(({ text }) => text);

const [rules = '', files = ''] = inLanguage('yaml');
const [command = ''] = inLanguage('sh');
const [printed = ''] = inLanguage('text');
const before = process.cwd();
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quotamesh-guide-'));
  mkdirSync(join(folder, 'rules'));
  writeFileSync(join(folder, 'rules/messaging.yaml'), rules);
  writeFileSync(join(folder, 'node.yaml'), files);
  process.chdir(folder);
});

afterAll(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
});

test('the command prints what the page shows', async () => {
  const [, , ...args] = command.trim().split(' ');
  const { code, stdout } = await runInProcess(args);
  expect(stdout).toBe(printed);
  expect(code).toBe(0);
});

test('the configuration with files is valid, rules included', async () => {
  const { code, stdout } = await runInProcess(['check', 'node.yaml']);
  expect(stdout).toMatch(/valid; cluster demo, 1 group, 2 patterns of keys/);
  expect(code).toBe(0);
});

test('the configuration beside a Redis is valid, with the rules of the other page', async () => {
  const page = readFileSync(join(fileURLToPath(PACKAGE_ROOT), 'docs/guide/instead-of-ratelimit.md'), 'utf8');
  const [, written = ''] = /```yaml\n([\s\S]*?) {3}```/.exec(page) ?? [];
  writeFileSync(join(folder, 'redis.yaml'), written);
  const { code, stdout } = await runInProcess(['check', 'redis.yaml']);
  expect(stdout).toMatch(/valid; cluster gateways, 1 group, 2 patterns of keys/);
  expect(code).toBe(0);
  const [check = ''] = /quotamesh (envoy check rules)/.exec(page)?.slice(1) ?? [];
  expect((await runInProcess(check.split(' '))).code).toBe(0);
});
