/** `npm run check`: types with those of Node 20 and of Node 24, lint, generated documents, the package as its users resolve it, tests. */
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, localBin, root, run } from './freshness.mjs';

ensureBuilt();
run(process.execPath, [localBin('typescript', 'tsc'), '-p', 'tsconfig.json']);
checkTypesOfNewerNode();
run(process.execPath, [localBin('@biomejs/biome', 'biome'), 'check', '.']);
run(process.execPath, ['scripts/docs.mjs', '--check']);
run(process.execPath, ['scripts/check-package.mjs']);
run(process.execPath, ['scripts/test.mjs'], { cwd: root });

/** Where types are looked for first, those of Node 24 are called `node`: so every package finds them, too. */
function checkTypesOfNewerNode() {
  const types = join(root, 'node_modules/.cache/types-of-node-24');
  mkdirSync(types, { recursive: true });
  if (!existsSync(join(types, 'node'))) symlinkSync('../../@types/node-24', join(types, 'node'), 'dir');
  run(process.execPath, [localBin('typescript', 'tsc'), '-p', 'tsconfig.json', '--typeRoots', types]);
}
