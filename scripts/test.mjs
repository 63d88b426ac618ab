/**
 * `npm test [-- vitest arguments]`: builds what is stale, then runs the projects of vitest.config.ts in groups that may share a machine of
 * two cores. `npm run test:long`: the soaks.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ensureBuilt, localBin, root } from './freshness.mjs';

/**
 * Groups run one after the other: what measures real time to a per cent has the machine for itself, the others share it with as many files at
 * once as they leave it time for.
 */
const GROUPS = [
  // A tenth of it waits.
  { projects: ['quick'], workers: 3 },
  { projects: ['stories'], workers: 2 },
  { projects: ['outages'], workers: 1 },
  { projects: ['cluster', 'processes', 'kafka', 'redis'], workers: 3 },
  { projects: ['demo'], workers: 1 },
];
const LONG = [
  { projects: ['long-computing'], workers: 2 },
  { projects: ['long-waiting'], workers: 2 },
  { projects: ['long'], workers: 1 },
];

ensureBuilt();
const args = process.argv.slice(2).filter((argument) => argument !== '--long');
const named = args.length > 0 ? ['--passWithNoTests', ...args] : [];
const isLong = process.argv.includes('--long');
const results = mkdtempSync(join(tmpdir(), 'quotamesh-test-'));
const failed = [];
for (const group of isLong ? LONG : GROUPS) failed.push(...runGroup(group));
const broken = isLong ? failed : failedAlone(failed);
rmSync(results, { recursive: true, force: true });
if (broken.length > 0) process.stdout.write(`failed: ${broken.map(({ file }) => file).join(', ')}\n`);
process.exit(broken.length > 0 ? 1 : 0);

/**
 * Real time on a busy machine: what failed beside others may try once more with the machine to itself. What computes in virtual time has
 * no such excuse.
 */
function failedAlone(failures) {
  const broken = failures.filter(({ projects, file }) => file === null || projects.includes('quick'));
  for (const failure of failures.filter((each) => !broken.includes(each))) {
    process.stdout.write(`\nagain, alone: ${failure.file}\n`);
    broken.push(...runGroup({ projects: failure.projects, workers: 1, files: [failure.file] }));
  }
  return broken;
}

/** What failed: project and file; file null where vitest itself did. */
function runGroup({ projects, workers, files = named }) {
  const report = join(results, `${projects.join('-')}-${Math.floor(performance.now())}.json`);
  const chosen = projects.flatMap((project) => ['--project', project]);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const vitest = [localBin('vitest', 'vitest'), 'run', ...chosen, `--maxWorkers=${workers}`, ...reporters, ...files];
  const { status } = spawnSync(process.execPath, vitest, { cwd: root, stdio: 'inherit' });
  if (status === 0) return [];
  const failing = filesFailing(report);
  return failing.length > 0 ? failing.map((file) => ({ projects, file })) : [{ projects, file: null }];
}

function filesFailing(report) {
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    return testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative(root, name));
  } catch {
    return [];
  }
}
