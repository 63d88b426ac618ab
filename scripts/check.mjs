/** `npm run check`: types, lint, generated documents, the package as its users resolve it, tests. */
import { ensureBuilt, localBin, root, run } from './freshness.mjs';

ensureBuilt();
run(process.execPath, [localBin('typescript', 'tsc'), '-p', 'tsconfig.json']);
run(process.execPath, [localBin('@biomejs/biome', 'biome'), 'check', '.']);
run(process.execPath, ['scripts/docs.mjs', '--check']);
run(process.execPath, ['scripts/check-package.mjs']);
run(process.execPath, ['scripts/test.mjs'], { cwd: root });
