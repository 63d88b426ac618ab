import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../../scripts/freshness.mjs', import.meta.url));
const WANTED = {
  '': { name: 'quotamesh' },
  'node_modules/here': { version: '1.0.0', integrity: 'sha512-a' },
  'node_modules/for-developers': { version: '2.0.0', integrity: 'sha512-b', dev: true },
  'node_modules/elsewhere': { version: '3.0.0', integrity: 'sha512-c', optional: true },
};
const { '': _, 'node_modules/elsewhere': __, ...INSTALLED } = WANTED;
const { 'node_modules/for-developers': ___, ...FOR_USERS } = INSTALLED;

test.each([
  ['by npm ci, but what is for another platform', INSTALLED, false],
  ['never', null, true],
  ['without what developers need', FOR_USERS, true],
  ['in another version', { ...INSTALLED, 'node_modules/here': { version: '1.0.1', integrity: 'sha512-a' } }, true],
  ['with other content', { ...INSTALLED, 'node_modules/here': { version: '1.0.0', integrity: 'sha512-z' } }, true],
])('packages that were installed %s', (_how, packages, isInstalledAnew) => {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-installed-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['scripts', 'bin', 'node_modules']) mkdirSync(join(folder, name));
  copyFileSync(SCRIPT, join(folder, 'scripts/freshness.mjs'));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: WANTED }));
  if (packages !== null) {
    writeFileSync(join(folder, 'node_modules/.package-lock.json'), JSON.stringify({ packages }));
  }
  writeFileSync(join(folder, 'bin/npm'), `#!/bin/sh\necho "$@" >> "${folder}/asked"\n`);
  chmodSync(join(folder, 'bin/npm'), 0o755);
  const env = { ...process.env, PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}` };
  const program = `const { ensureInstalled } = await import('./scripts/freshness.mjs'); ensureInstalled(); ensureInstalled();`;
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { cwd: folder, env });
  expect(status).toBe(0);
  expect(existsSync(join(folder, 'asked'))).toBe(isInstalledAnew);
});
