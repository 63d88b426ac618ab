/** Packs what npm would publish; publint and attw judge its doors: every file that package.json names, and types under every moduleResolution. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SUBPATHS } from './doors.mjs';
import { ensureBuilt, localBin, run } from './freshness.mjs';

ensureBuilt();
const folder = mkdtempSync(join(tmpdir(), 'quotamesh-package-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
run('npm', ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', folder]);
const tarball = join(folder, readdirSync(folder)[0]);
run(process.execPath, [localBin('publint', 'publint'), 'run', '--strict', tarball]);
// The schemas have no types, and need none. The oldest resolution knows no subpaths, of nobody's.
judgeTypes('.');
judgeTypes(...Object.keys(SUBPATHS).map((name) => name.replace('subpaths/', '')), '--profile', 'node16');

function judgeTypes(...entrypoints) {
  const attw = localBin('@arethetypeswrong/cli', 'attw');
  run(process.execPath, [attw, tarball, '--format', 'table-flipped', '--entrypoints', ...entrypoints]);
}
