/**
 * `npm test [-- vitest arguments]`: builds what is stale, then runs the groups of scripts/test-groups.mjs. `npm run test:long`: the soaks.
 * Prints the files that took longest.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, localBin, root } from './freshness.mjs';
import { NPM_TEST, TEST_LONG } from './test-groups.mjs';

/** Of `npm test` on two cores, with installing and building. */
const MINUTES_MAX = 5;
const LONGEST_SHOWN = 10;

const beganMs = performance.now();
ensureBuilt();
const args = process.argv.slice(2).filter((argument) => argument !== '--long');
const isLong = process.argv.includes('--long');
const projects = (isLong ? TEST_LONG : NPM_TEST).flatMap((group) => group.projects);
const { status, files } = runTests();
const failed = failures();
if (args.length === 0) showTimes();
if (failed.length > 0) say(`failed: ${failed.join(', ')}`);
// Not every project has one of the named files; that none has any is a mistake in the name.
else if (files.length === 0) say(`no test was run: none matches ${args.join(' ') || 'any project'}`);
process.exit(failed.length > 0 || files.length === 0 ? 1 : 0);

function runTests() {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-test-'));
  const report = join(folder, 'report.json');
  const chosen = projects.flatMap((project) => ['--project', project]);
  const reporters = ['--reporter=default', `--reporter=${join(root, 'scripts/test-reporter.mjs')}`];
  const named = args.length > 0 ? ['--passWithNoTests', ...args] : [];
  const { status: code } = spawnSync(
    process.execPath,
    [localBin('vitest', 'vitest'), 'run', ...chosen, ...reporters, ...named],
    { cwd: root, stdio: 'inherit', env: { ...process.env, TEST_REPORT_FILE: report } },
  );
  const reported = readReport(report);
  rmSync(folder, { recursive: true, force: true });
  return { status: code, files: reported };
}

function readReport(report) {
  try {
    return JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return [];
  }
}

/** The files that failed, once: there is no second run. Or the projects that have run no test; or vitest itself. */
function failures() {
  const failing = files.filter((file) => file.failed).map(({ file }) => file);
  const hasRun = new Set(files.filter(({ run }) => run > 0).map(({ project }) => project));
  const silent = args.length > 0 ? [] : projects.filter((project) => !hasRun.has(project));
  if (failing.length > 0 || silent.length > 0) return [...failing, ...silent];
  return status === 0 ? [] : ['vitest'];
}

function showTimes() {
  const longest = [...files].sort((one, other) => other.durationMs - one.durationMs).slice(0, LONGEST_SHOWN);
  for (const { durationMs, project, file } of longest)
    say(`${(durationMs / 1000).toFixed(1).padStart(7)} s  ${project}  ${file}`);
  const minutes = (performance.now() - beganMs) / 60_000;
  const isTooLong = !isLong && minutes > MINUTES_MAX;
  say(`${minutes.toFixed(1)} minutes${isTooLong ? `: more than the ${MINUTES_MAX} that npm test may take` : ''}`);
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
