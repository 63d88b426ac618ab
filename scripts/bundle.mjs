/**
 * The library, the command and what they start by its path, each with all that it imports → dist/bin: some 90 files instead of 900, which a
 * process finds, reads and compiles in half the time, and the only code that is published (docs/decisions/0045 and 0045). The same code at
 * the same places: what looks for files beside itself finds those beside dist/src.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { rolldown } from 'rolldown';
import { SUBPATHS } from './doors.mjs';
import { root } from './freshness.mjs';

const target = join(root, 'dist/bin');

/** Threads and processes are files of dist/bin, too, by the file that starts them under another name. */
const STARTED = {
  'load-thread': 'dist/src/config/files/load-thread.js',
  'rules-thread': 'dist/src/doors/envoy/rules/rules-thread.js',
  'demo-traffic': 'dist/src/tools/demo/processes/traffic-main.js',
  load: 'dist/src/tools/load/load-main.js',
  'swarm-thread': 'dist/sim/swarm/swarm-thread.js',
  'strict-member': 'dist/sim/strict/live/strict-member.js',
};
const DOORS = { quotamesh: 'dist/src/cli.js', index: 'dist/src/index.js' };

/**
 * lmdb brings binaries, and not everybody installs it. Parts of kafkajs are taken by their path, and its public API must be the same copy.
 * Frameworks and their stores are the user's.
 */
const STAYING = /^(node:|lmdb($|\/)|kafkajs($|\/)|hono($|\/)|@nestjs\/|rate-limiter-flexible($|\/))/;

export async function bundle() {
  const bundled = await rolldown({
    input: Object.fromEntries(
      Object.entries({ ...DOORS, ...STARTED, ...SUBPATHS }).map(([name, file]) => [name, join(root, file)]),
    ),
    platform: 'node',
    external: STAYING,
    plugins: [OWN_PLACES, SELF_CONTAINED, UNUSED],
    logLevel: 'warn',
    checks: { pluginTimings: false },
  });
  const { output } = await bundled.write({
    dir: target,
    format: 'esm',
    chunkFileNames: '[name].js',
    // A fifth of all bytes; who reads the code reads the source.
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  await bundled.close();
  const modules = output.flatMap(({ moduleIds }) => moduleIds ?? []);
  writeFileSync(join(target, 'THIRD-PARTY-LICENSES.txt'), licensesOf(modules));
}

/** `import.meta.url` is that of the file as it was, but for what is started: that is the bundled one. */
const OWN_PLACES = {
  name: 'own-places',
  transform(code, id) {
    if (!id.startsWith(join(root, 'dist')) || !code.includes('import.meta.url')) return null;
    // It is as good from any place in the package.
    if (id.endsWith('/package/require-from-here.js')) return null;
    const place = relative(target, id).split('\\').join('/');
    const started = code.replace(/new URL\('([^']+\.js)', import\.meta\.url\)/g, (_, file) => {
      return `new URL('./${nameOfStarted(join(dirname(id), file))}.js', import.meta.url_here)`;
    });
    const moved = started.replace(/import\.meta\.url(?!_here)/g, `new URL('${place}', import.meta.url).href`);
    return { code: moved.replaceAll('import.meta.url_here', 'import.meta.url'), map: null };
  },
};

/** Writes in what the bundle of a service must not look for beside itself: this version, and the place of its own file. */
const SELF_CONTAINED = {
  name: 'self-contained',
  load(id) {
    if (id !== join(root, 'dist/src/base/package/version.js')) return null;
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    return `export const VERSION = ${JSON.stringify(version)};`;
  },
  renderChunk(code) {
    return code.replace('createRequire(import.meta.url)', `createRequire(${OWN_FILE})`);
  },
};
/** Leaves out what fastify loads only where a server brings no compilers (src/doors/http/server/http-server.ts): a third of its code. */
const UNUSED = {
  name: 'unused',
  load: (id) =>
    /node_modules\/@fastify\/(ajv-compiler|fast-json-stringify-compiler)\/index\.js$/.test(id)
      ? 'module.exports = undefined;'
      : null,
};

/** `import.meta` is empty in CommonJS, into which a bundler may put this code; `node -e` has a global `__filename`: `[eval]`. */
const OWN_FILE = 'typeof __filename === "string" && !__filename.startsWith("[") ? __filename : import.meta.url';

function nameOfStarted(file) {
  const name = Object.keys(STARTED).find((each) => join(root, STARTED[each]) === file);
  if (name === undefined) throw new Error(`scripts/bundle.mjs does not know ${file}, which is started by its path`);
  return name;
}

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
