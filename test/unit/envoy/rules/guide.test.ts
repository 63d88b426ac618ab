import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { PACKAGE_ROOT } from '../../../../src/base/package/package-root.js';
import { resolveConfig } from '../../../../src/config/read/resolve-config.js';
import { makeAuthority, makeCertificate } from '../../access/certificates.js';
import { runInProcess } from '../../cli/run-in-process.js';

/** Plays docs/guide/envoy-rules.md: its files, its command with what it prints, its configurations. */
const PAGE = readFileSync(join(fileURLToPath(PACKAGE_ROOT), 'docs/guide/envoy-rules.md'), 'utf8');
const blocks = [...PAGE.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, language = '', text = '']) => ({
  language,
  text,
}));
const inLanguage = (language: string) => blocks.filter((block) => block.language === language).map(({ text }) => text);

const [rules = '', files = '', xds = ''] = inLanguage('yaml');
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

test('the configuration with xDS is valid, with certificates in its files', async () => {
  mkdirSync(join(folder, 'certs'));
  const authority = await makeAuthority(folder, 'ca');
  const own = await makeCertificate(folder, authority, { name: 'tls', alternative: 'DNS:envoy-ratelimit' });
  writeFileSync(join(folder, 'certs/ca.crt'), authority.cert);
  writeFileSync(join(folder, 'certs/tls.crt'), own.cert);
  writeFileSync(join(folder, 'certs/tls.key'), own.key);
  const { envoy } = resolveConfig({ cluster: 'demo', topic: 'memory', ...parse(xds) }, { source: 'node.yaml', folder });
  expect(envoy.xds).toMatchObject({ url: 'https://envoy-gateway:18001', node: 'envoy-ratelimit' });
  expect(envoy.xds?.tls).toMatchObject({ ca: authority.cert.trim(), cert: own.cert.trim(), key: own.key.trim() });
  expect(envoy.tls).toMatchObject({ clientCertificates: 'required' });
});
