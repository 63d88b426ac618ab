/**
 * dist/src/index.d.ts and all it imports → dist/index.d.ts, one file of types for `import`; the same text as dist/index.d.cts for `require`,
 * with dist/index.cjs, which requires the one copy of the library: an error is an instance of the same class in both worlds. The same for
 * every subpath of the package, each by itself: files that several doors share would be modules of one world only.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { root } from './freshness.mjs';

const target = join(root, 'dist');

/** What package.json exports beside the library, by its place below dist and dist/bin. In a folder, because chunks have such names, too. */
export const SUBPATHS = {
  'subpaths/express': 'dist/src/doors/services/express.js',
  'subpaths/fastify': 'dist/src/doors/services/fastify.js',
  'subpaths/hono': 'dist/src/doors/services/hono.js',
  'subpaths/limiter': 'dist/src/limiter.js',
  'subpaths/koa': 'dist/src/doors/services/koa.js',
  'subpaths/nest': 'dist/src/doors/services/nest.js',
  'subpaths/opentelemetry': 'dist/src/doors/opentelemetry/attach-opentelemetry.js',
  'subpaths/stores/express-rate-limit': 'dist/src/doors/stores/express-rate-limit.js',
  'subpaths/stores/fastify-rate-limit': 'dist/src/doors/stores/fastify-rate-limit.js',
  'subpaths/stores/nestjs-throttler': 'dist/src/doors/stores/nestjs-throttler.js',
  'subpaths/stores/rate-limiter-flexible': 'dist/src/doors/stores/rate-limiter-flexible.js',
};

export async function makeDoors() {
  await makeDoor('index', 'dist/src/index.js');
  for (const [name, file] of Object.entries(SUBPATHS)) await makeDoor(name, file);
}

async function makeDoor(name, file) {
  const types = await rolldown({
    input: { [basename(name)]: join(root, file.replace(/\.js$/, '.d.ts')) },
    plugins: [dts({ dtsInput: true, sourcemap: false, tsconfig: false })],
    // Bare names: of Node, and of the frameworks that a subpath is for.
    external: /^[^./]/,
    logLevel: 'warn',
    checks: { pluginTimings: false },
  });
  const door = join(target, name);
  await types.write({ dir: dirname(door), format: 'esm' });
  await types.close();
  mkdirSync(dirname(door), { recursive: true });
  // Behind the member before it, where editors do not look, the printer puts the comment of a table's member.
  const text = readFileSync(`${door}.d.ts`, 'utf8');
  writeFileSync(`${door}.d.ts`, text.replace(/^(\s+)(\S.*;) (\/\*\*)/gm, '$1$2\n$1$3'));
  copyFileSync(`${door}.d.ts`, `${door}.d.cts`);
  const bundled = relative(dirname(door), join(target, 'bin', `${name}.js`));
  writeFileSync(`${door}.cjs`, `module.exports = require('${bundled.startsWith('.') ? bundled : `./${bundled}`}');\n`);
}
