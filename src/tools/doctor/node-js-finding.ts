import { readFileSync } from 'node:fs';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { PACKAGE_ROOT } from '../../base/package/package-root.js';
import { type Finding, good, wrong } from './finding.js';

export function nodeJsFinding(found = process.versions.node, wanted = nodeJsWanted()): Finding {
  const isOld = isBelow(partsOf(found), partsOf(wanted));
  if (isOld) return wrong('Node.js', new QuotameshError('NODE_JS_OLD', { found, wanted }));
  return good('Node.js', `${found}; ${wanted} or newer is needed`);
}

/** Reads the Node.js version of package.json, without its sign. */
export function nodeJsWanted(): string {
  const { engines } = JSON.parse(readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8'));
  return String(engines.node).replace(/^>=\s*/, '');
}

function partsOf(version: string): readonly number[] {
  return version.split('.').map(Number);
}

function isBelow(found: readonly number[], wanted: readonly number[]): boolean {
  for (const [at, least] of wanted.entries()) {
    const part = found[at] ?? 0;
    if (part !== least) return part < least;
  }
  return false;
}
