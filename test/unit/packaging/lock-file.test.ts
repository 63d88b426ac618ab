import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';

interface Entry {
  readonly engines?: { readonly node?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const entries: Record<string, Entry> = JSON.parse(
  readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8'),
).packages;
const { satisfies } = createRequire(import.meta.url)('semver');
/** The floor, and of the newer lines the first long-term release and a late one. */
const STATED_VERSIONS = ['20.19.0', '20.20.0', '22.13.0', '22.20.0', '24.11.0', '24.20.0'];

test('every dependency in the lock file has an entry, the binaries of other platforms too: npm ci refuses it otherwise', () => {
  const missing = Object.entries(entries).flatMap(([place, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => !isFound(place, name)),
  );
  expect(missing).toEqual([]);
  expect(Object.keys(entries).length).toBeGreaterThan(100);
});

test('no package of the lock file warns on a stated version of Node', () => {
  const warnings = Object.entries(entries).flatMap(([place, { engines }]) =>
    STATED_VERSIONS.filter((version) => engines?.node !== undefined && !satisfies(version, engines.node)).map(
      (version) => `${place} wants ${engines?.node}, not ${version}`,
    ),
  );
  expect(warnings).toEqual([]);
});

/** As Node looks for it: in the folder of the package, then in those above it. */
function isFound(place: string, name: string): boolean {
  const folders = place.split('/node_modules/');
  return (
    folders.some((_, depth) => {
      const above = folders.slice(0, folders.length - depth).join('/node_modules/');
      return `${above === '' ? '' : `${above}/`}node_modules/${name}` in entries;
    }) || `node_modules/${name}` in entries
  );
}
