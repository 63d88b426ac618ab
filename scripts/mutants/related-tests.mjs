/** Finds the test files that reach a module through static imports; near and quick ones come first. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { root } from '../freshness.mjs';

const IMPORT = /(?:^|\n)\s*(?:import|export)\s+(?!type\b)(?:[^'";]*?\sfrom\s+)?'(\.[^']+)'/g;

/** Behind the tests of the module's own folder: what computes little, then what plays many rounds, then the node around the core. */
const NEAREST_FIRST = ['test/unit/core/', 'test/property/', 'test/simulation/', 'test/unit/'];

/** @returns {(tests: { file: string, ms: number }[], module: string) => string[]} */
export function relatedTests() {
  const imports = new Map();
  const reached = new Map();

  function importsOf(file) {
    if (!imports.has(file)) {
      const text = existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '';
      const targets = [...text.matchAll(IMPORT)].map(([, target]) => {
        return relative(root, resolve(root, dirname(file), target)).replace(/\.js$/, '.ts');
      });
      imports.set(file, targets);
    }
    return imports.get(file);
  }

  function reachedFrom(file) {
    if (!reached.has(file)) {
      const seen = new Set();
      const open = [file];
      while (open.length > 0) {
        const next = open.pop();
        if (seen.has(next)) continue;
        seen.add(next);
        open.push(...importsOf(next));
      }
      reached.set(file, seen);
    }
    return reached.get(file);
  }

  return (tests, module) => {
    const near = dirname(module).replace(/^src\//, 'test/unit/');
    const distance = ({ file }) => [near, ...NEAREST_FIRST, ''].findIndex((folder) => file.startsWith(folder));
    return tests
      .filter(({ file }) => reachedFrom(file).has(module))
      .sort((one, other) => distance(one) - distance(other) || one.ms - other.ms);
  };
}
