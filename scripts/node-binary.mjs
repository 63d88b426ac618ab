/**
 * The binary of another version of Node.js, from npm's package of it for this platform, under node_modules/.cache: fetched by the first run
 * that asks for it, and by no `npm ci`.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './freshness.mjs';

/** @param major as in `24` */
export function nodeBinary(major) {
  if (!/^\d+$/.test(major)) {
    process.stderr.write(`--node takes a major version like 24, not ${major}\n`);
    process.exit(2);
  }
  const system = { win32: 'win' }[process.platform] ?? process.platform;
  const name = `node-${system}-${process.arch}`;
  const folder = join(root, 'node_modules/.cache', `quotamesh-node-${major}`);
  const binary = join(folder, 'node_modules', name, 'bin', system === 'win' ? 'node.exe' : 'node');
  if (!existsSync(binary)) {
    mkdirSync(folder, { recursive: true });
    const quiet = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
    run('npm', ['install', '--prefix', folder, ...quiet, `${name}@${major}`], { cwd: folder });
  }
  return binary;
}
