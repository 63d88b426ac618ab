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
let tests = 0;
for (const group of isLong ? LONG : GROUPS) failed.push(...runGroup(group));
rmSync(results, { recursive: true, force: true });
if (failed.length > 0) process.stdout.write(`failed: ${failed.join(', ')}\n`);
// One group has none of the named files; that no group has any is a mistake in the name.
if (tests === 0) process.stdout.write(`no test was run: none matches ${args.join(' ') || 'any project'}\n`);
process.exit(failed.length > 0 || tests === 0 ? 1 : 0);

/** The files that failed, once: there is no second run. Or the projects, where vitest itself failed, or they have run no test. */
function runGroup({ projects, workers }) {
  const report = join(results, `${projects.join('-')}-${Math.floor(performance.now())}.json`);
  const chosen = projects.flatMap((project) => ['--project', project]);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const vitest = [localBin('vitest', 'vitest'), 'run', ...chosen, `--maxWorkers=${workers}`, ...reporters, ...named];
  const { status } = spawnSync(process.execPath, vitest, { cwd: root, stdio: 'inherit' });
  const { numPassedTests = 0, numFailedTests = 0, testResults = [] } = reported(report);
  const run = numPassedTests + numFailedTests;
  tests += run;
  const isEmpty = run === 0 && named.length === 0;
  if (status === 0 && !isEmpty) return [];
  const failing = testResults.filter((file) => file.status === 'failed').map(({ name }) => relative(root, name));
  return failing.length > 0 ? failing : projects;
}

function reported(report) {
  try {
    return JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return {};
  }
}
