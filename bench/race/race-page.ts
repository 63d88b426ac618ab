import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PACKAGE_ROOT } from '../../src/base/package/package-root.js';
import { pageOf } from './race-document.js';
import type { Results } from './results.js';

/** What the page is written from: docs/reference/race.json, which runs of parts of the race add to. */
const KEPT = new URL('docs/reference/race.json', PACKAGE_ROOT);

export function keptResults(): Results | null {
  return existsSync(KEPT) ? (JSON.parse(readFileSync(KEPT, 'utf8')) as Results) : null;
}

export function writePage(results: Results): void {
  writeFileSync(KEPT, `${JSON.stringify(results)}\n`);
  for (const [file, text] of pageOf(results)) writeFileSync(new URL(file, PACKAGE_ROOT), text);
}

/** The commit that is measured. Throws where files other than documents are changed, since rows name it. */
export function committed(): string {
  if (git('status', '--porcelain', '--', '.', ':!docs') !== '') {
    throw new Error('there are changes that are not committed: rows of the page name a commit');
  }
  return git('rev-parse', '--short', 'HEAD');
}

function git(...args: readonly string[]): string {
  const { status, stdout } = spawnSync('git', args, { cwd: fileURLToPath(PACKAGE_ROOT), encoding: 'utf8' });
  if (status !== 0) throw new Error('this is no git clone: rows of the page name a commit');
  return stdout.trim();
}
