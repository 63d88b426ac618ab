/**
 * dist/src/cli.js and all it imports → dist/bin: some 60 files instead of 900, which a process finds, reads and compiles in half the time
 * (docs/decisions/0045). The same code at the same places: what looks for files beside itself finds those beside dist/src.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './freshness.mjs';

const target = join(root, 'dist/bin');

/** lmdb brings binaries. Parts of kafkajs are taken by their path, and its public API must be the same copy. */
const STAYING = /^(node:|lmdb($|\/)|kafkajs($|\/))/;

export async function bundle() {
  const bundled = await rolldown({
    input: { quotamesh: join(root, 'dist/src/cli.js') },
    platform: 'node',
    external: STAYING,
    plugins: [OWN_PLACES],
    logLevel: 'warn',
  });
  const { output } = await bundled.write({ dir: target, format: 'esm', chunkFileNames: '[name].js' });
  await bundled.close();
  const modules = output.flatMap(({ moduleIds }) => moduleIds ?? []);
  writeFileSync(join(target, 'THIRD-PARTY-LICENSES.txt'), licensesOf(modules));
}

/** `import.meta.url` is that of the file as it was. */
const OWN_PLACES = {
  name: 'own-places',
  transform(code, id) {
    if (!id.startsWith(join(root, 'dist')) || !code.includes('import.meta.url')) return null;
    const place = relative(target, id).split('\\').join('/');
    return { code: code.replaceAll('import.meta.url', `new URL('${place}', import.meta.url).href`), map: null };
  },
};

/** What the licences of the packages inside ask for: their text goes along. */
function licensesOf(modules) {
  const folders = new Set(modules.map((id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0]).filter(Boolean));
  return [...folders]
    .sort()
    .map(licenseOf)
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  return `${name} ${version} (${license})\n${text}`;
}
