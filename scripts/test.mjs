/**
 * `npm test [-- vitest arguments]`: builds what is stale, then the quick tests in parallel, then those with real processes one
 * file at a time. `npm run test:long`: the soaks.
 */
import { spawnSync } from 'node:child_process';
import { ensureBuilt, localBin, root } from './freshness.mjs';

ensureBuilt();
const args = process.argv.slice(2).filter((argument) => argument !== '--long');
const projects = process.argv.includes('--long') ? ['long'] : ['quick', 'real'];
let failed = false;
for (const project of projects) {
  const vitest = [
    localBin('vitest', 'vitest'),
    'run',
    '--project',
    project,
    ...(args.length > 0 ? ['--passWithNoTests'] : []),
    ...args,
  ];
  const { status } = spawnSync(process.execPath, vitest, { cwd: root, stdio: 'inherit' });
  if (status !== 0) failed = true;
}
process.exit(failed ? 1 : 0);
