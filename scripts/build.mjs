/** proto → generated code → dist/src → schema/, dist/bin, dist/index.*. `--proto-only` stops after the first step. */
import { chmodSync, cpSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, ensureInstalled, localBin, root, run } from './freshness.mjs';
import { GENERATED, makeProtos } from './protos.mjs';

ensureInstalled();
makeProtos();
if (!process.argv.includes('--proto-only')) await build(fromSources);

async function fromSources() {
  run(process.execPath, [localBin('typescript', 'tsc'), '-p', join(root, 'tsconfig.build.json')]);
  // tsc neither emits nor copies a .js that stands beside its .d.ts, nor YAML.
  for (const folder of GENERATED) cpSync(join(root, folder), join(root, 'dist', folder), { recursive: true });
  cpSync(join(root, 'sim/scenarios'), join(root, 'dist/sim/scenarios'), { recursive: true });
  // Nor what the pages are made of, uPlot among it: whoever installs the package installs no uPlot.
  for (const part of [
    'sim/page/browser',
    'sim/page/run.css',
    'src/doors/page/browser',
    'src/doors/page/live',
    'src/doors/page/page.css',
  ]) {
    const isBuilt = (file) => !file.endsWith('.ts') && !file.endsWith('.md');
    cpSync(join(root, part), join(root, 'dist', part), { recursive: true, filter: isBuilt });
  }
  for (const part of ['dist/uPlot.iife.min.js', 'dist/uPlot.min.css', 'LICENSE', 'package.json']) {
    cpSync(join(root, 'node_modules/uplot', part), join(root, 'dist/src/doors/page/uplot', basename(part)));
  }
  // Not at the top: a fresh clone has nothing installed then.
  const [{ bundle }, { makeDoors }] = [await import('./bundle.mjs'), await import('./doors.mjs')];
  const { writeSchemas } = await import('./schemas.mjs');
  await Promise.all([bundle(), makeDoors(), writeSchemas()]);
  chmodSync(join(root, 'dist/bin/quotamesh.js'), 0o755);
}
