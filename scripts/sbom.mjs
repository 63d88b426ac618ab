/**
 * `npm run sbom`: what an install brings, as CycloneDX on standard output: the packages inside of the bundle, and the
 * one that is installed beside it. npm knows of the bundle nothing, so its own list is cut to those.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, root } from './freshness.mjs';

ensureBuilt();
const command = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
const text = execFileSync('npm', command, {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 ** 2,
  stdio: ['ignore', 'pipe', 'ignore'],
});
const all = JSON.parse(text);
const { dependencies, name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const inside = new Set([...bundled(), ...Object.entries(dependencies).map(([each, version]) => `${each}@${version}`)]);
const components = all.components.filter(({ 'bom-ref': reference }) => inside.has(reference));
const missing = [...inside].filter((reference) => !components.some((each) => each['bom-ref'] === reference));
if (missing.length > 0) throw new Error(`the lock file has no ${missing.join(', ')}`);
const known = new Set([all.metadata.component['bom-ref'], ...inside]);
const edges = all.dependencies
  .filter(({ ref }) => known.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => known.has(each)) }));
const component = { ...all.metadata.component, name };
const bill = {
  ...all,
  metadata: { ...all.metadata, component },
  components: components.map(shipped),
  dependencies: edges,
};
process.stdout.write(`${JSON.stringify(bill, null, 2)}\n`);

/** As the build has written them beside the bundle, with their licences. */
function bundled() {
  const licences = readFileSync(join(root, 'dist/bin/THIRD-PARTY-LICENSES.txt'), 'utf8');
  return [...licences.matchAll(/^(@?[\w./-]+) (\d+\.\d+\.\d+\S*) \([^)]*\)$/gm)].map(([, each, version]) => {
    return `${each}@${version}`;
  });
}

/** What stands in the lock file for development is shipped in the bundle. */
function shipped({ properties, ...component }) {
  return { ...component, scope: 'required' };
}
