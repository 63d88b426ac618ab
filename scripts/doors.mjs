/**
 * dist/src/index.d.ts and all it imports → dist/index.d.ts, one file of types for `import`; the same text as dist/index.d.cts for `require`,
 * with dist/index.cjs, which requires the one copy of the library: an error is an instance of the same class in both worlds.
 */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { root } from './freshness.mjs';

const target = join(root, 'dist');

export async function makeDoors() {
  const types = await rolldown({
    input: { index: join(target, 'src/index.d.ts') },
    plugins: [dts({ dtsInput: true, sourcemap: false, tsconfig: false })],
    external: /^node:/,
    logLevel: 'warn',
  });
  await types.write({ dir: target, format: 'esm' });
  await types.close();
  copyFileSync(join(target, 'index.d.ts'), join(target, 'index.d.cts'));
  writeFileSync(join(target, 'index.cjs'), "module.exports = require('./bin/index.js');\n");
}
