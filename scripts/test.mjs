/**
 * `npm test [-- vitest arguments]`: builds what is stale, then runs the projects of vitest.config.ts in the groups that may share a
 * machine of two cores. `npm run test:long`: the soaks.
 */
import { spawnSync } from 'node:child_process';
import { ensureBuilt, localBin, root } from './freshness.mjs';

/** Projects that run together, and how many files at once. */
const GROUPS = [
  { projects: ['quick', 'adapters'], workers: 2 },
  { projects: ['cluster'], workers: 1 },
  { projects: ['demo'], workers: 1 },
];
const LONG = [{ projects: ['long'], workers: 1 }];

ensureBuilt();
const args = process.argv.slice(2).filter((argument) => argument !== '--long');
const named = args.length > 0 ? ['--passWithNoTests', ...args] : [];
let failed = false;
for (const { projects, workers } of process.argv.includes('--long') ? LONG : GROUPS) {
  const chosen = projects.flatMap((project) => ['--project', project]);
  const vitest = [localBin('vitest', 'vitest'), 'run', ...chosen, `--maxWorkers=${workers}`, ...named];
  const { status } = spawnSync(process.execPath, vitest, { cwd: root, stdio: 'inherit' });
  if (status !== 0) failed = true;
}
process.exit(failed ? 1 : 0);
