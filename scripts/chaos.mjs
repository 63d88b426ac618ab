/** `npm run chaos [-- --seed N --minutes M]`: compiles test/chaos and what it uses into dist-chaos/, then runs it. */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, localBin, root, run } from './freshness.mjs';

ensureBuilt();
const out = join(root, 'dist-chaos');
rmSync(out, { recursive: true, force: true });
run(process.execPath, [localBin('typescript', 'tsc'), '-p', join(root, 'tsconfig.chaos.json')]);
for (const copied of ['src/topic/codec/generated', 'test/kafka/pom.xml', 'src/doors/page', 'test/chaos/browser']) {
  cpSync(join(root, copied), join(out, copied), { recursive: true, filter: (file) => !file.endsWith('.ts') });
}
// What the build puts beside the page: uPlot.
cpSync(join(root, 'dist/src/doors/page/uplot'), join(out, 'src/doors/page/uplot'), { recursive: true });
// Imported instead of started as a process, so that signals and exit codes are those of the run.
process.argv.splice(1, 1, join(out, 'test/chaos/main.js'));
await import(join(out, 'test/chaos/main.js'));
