/**
 * Installs and builds what is missing or older than its source, so that every npm script works in a fresh clone.
 * Plain JavaScript without dependencies: it runs before there are any.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The sources of the build: everything whose change makes dist/ stale. */
const BUILD_INPUTS = [
  'src',
  'sim',
  'proto',
  'scripts/build.mjs',
  'scripts/schemas.mjs',
  'tsconfig.json',
  'tsconfig.build.json',
  'package-lock.json',
];

export function ensureInstalled() {
  requireNode();
  const stamp = join(root, 'node_modules', '.quotamesh-ci');
  // The same for every version of Node: no package brings a binary for one of them alone, and `npm test -- --node 24` runs on what is there.
  // The lock file repeats what package.json depends on.
  const wanted = fingerprint(['package-lock.json']);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  if (isInstalled()) {
    writeFileSync(stamp, wanted);
    return;
  }
  say('installing packages …');
  // Optional binaries come inside npm packages; install scripts would only compile what is there already. The lock file has the sums of all
  // packages, so that one in npm's cache need not be asked for again.
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  run('npm', ['ci', '--prefer-offline', '--ignore-scripts', '--include=dev', ...quiet]);
  writeFileSync(stamp, wanted);
}

/**
 * Whether somebody's own `npm ci` has brought what the lock file asks for. npm notes at its end, in a lock file of
 * node_modules, what it has put there; packages for other platforms are optional.
 */
function isInstalled() {
  const found = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(found)) return false;
  const [wanted, there] = [join(root, 'package-lock.json'), found].map((file) => {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  });
  return Object.entries(wanted).every(([path, { version, integrity, optional }]) => {
    if (path === '') return true;
    const has = there[path];
    return has === undefined ? optional === true : has.version === version && has.integrity === integrity;
  });
}

export function ensureBuilt() {
  ensureInstalled();
  const isThere = existsSync(BUILD_STAMP) && existsSync(join(root, 'schema'));
  if (isThere && readFileSync(BUILD_STAMP, 'utf8') === fingerprint(BUILD_INPUTS)) return;
  say('building dist/ …');
  run(process.execPath, [join(root, 'scripts/build.mjs')]);
}

/**
 * Empties dist/ and schema/, has them built, and notes from which sources. Those count that were there at the beginning, so that a
 * change during the build makes dist/ stale; a build that fails leaves no note.
 */
export async function build(steps) {
  const sources = fingerprint(BUILD_INPUTS);
  for (const made of ['dist', 'schema']) rmSync(join(root, made), { recursive: true, force: true });
  await steps();
  writeFileSync(BUILD_STAMP, sources);
}

const BUILD_STAMP = join(root, 'dist', '.built-from');

/** Runs a command with our standard streams; ends this process with its exit code when it fails. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (result.error) {
    process.stderr.write(`quotamesh: cannot run ${command}: ${result.error.message}\n`);
    process.exit(1);
  }
  if (result.status !== 0) process.exit(result.status ?? 1);
}

/** A locally installed program as [command, args]: its own JavaScript file, so that no shell is involved. */
export function localBin(packageName, bin) {
  const folder = join(root, 'node_modules', packageName);
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = typeof manifest.bin === 'string' ? manifest.bin : manifest.bin[bin];
  return join(folder, file);
}

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  process.stderr.write(`quotamesh needs Node.js 20.19 or newer, this is ${process.version}.\n`);
  process.exit(1);
}

/** Content, not times: a checkout or a copy changes every time stamp. */
function fingerprint(paths) {
  const hash = createHash('sha256');
  for (const path of paths) addToHash(hash, path);
  return hash.digest('hex');
}

function addToHash(hash, path) {
  const full = join(root, path);
  if (!existsSync(full)) return;
  if (statSync(full).isDirectory()) {
    for (const name of readdirSync(full).sort()) {
      if (name !== 'generated') addToHash(hash, join(path, name));
    }
    return;
  }
  hash.update(path).update(readFileSync(full));
}

function say(line) {
  process.stderr.write(`quotamesh: ${line}\n`);
}
