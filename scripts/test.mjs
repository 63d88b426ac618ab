/**
 * `npm test [-- project …] [-- vitest arguments]`: builds what is stale, then runs the groups of scripts/test-groups.mjs, or those of
 * their projects that are named. `npm run test:long`: the soaks, and what needs only Node.js on its newer versions.
 * `--node 24`: on that version, all that needs nothing else where no project is named. Prints the files that took longest.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, localBin, root } from './freshness.mjs';
import { nodeBinary } from './node-binary.mjs';
import { NEWER_NODES, NPM_TEST, ON_NEWER_NODES, PROJECTS, TEST_LONG } from './test-groups.mjs';

/** `npm test` on two cores may take so long, installing and building included. */
const MINUTES_MAX = 5;
const LONGEST_SHOWN = 10;

const beganMs = performance.now();
ensureBuilt();
const { isLong, version, names, args } = readArguments(process.argv.slice(2));
const projects = names.length > 0 ? names : (isLong ? TEST_LONG : NPM_TEST).flatMap((group) => group.projects);
const binary = version === null ? process.execPath : nodeBinary(version);
const { status, files } = runTests();
const failed = failures();
if (args.length === 0) showTimes();
if (failed.length > 0) say(`failed: ${failed.join(', ')}`);
// Not every project has one of the named files; that none has any is a mistake in the name.
else if (files.length === 0) say(`no test was run: none matches ${args.join(' ') || 'any project'}`);
const isGreenElsewhere = isGreenOnNewerNodes();
process.exit(failed.length === 0 && files.length > 0 && isGreenElsewhere ? 0 : 1);

function readArguments(all) {
  const at = all.indexOf('--node');
  const chosen = at === -1 ? null : (all[at + 1] ?? '');
  const rest = all.filter(
    (argument, place) => argument !== '--long' && (at === -1 || (place !== at && place !== at + 1)),
  );
  const named = rest.filter((argument) => PROJECTS.includes(argument));
  return {
    isLong: all.includes('--long'),
    version: chosen,
    names: named.length === 0 && chosen !== null ? ON_NEWER_NODES : named,
    args: rest.filter((argument) => !PROJECTS.includes(argument)),
  };
}

/** Runs what needs only Node.js on each newer version, whatever else is red, where `test:long` is asked for as a whole. */
function isGreenOnNewerNodes() {
  if (!isLong || args.length > 0 || names.length > 0) return true;
  const results = NEWER_NODES.map((newer) => {
    return spawnSync(process.execPath, [join(root, 'scripts/test.mjs'), '--node', newer], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, TEST_SIXTH: 'all' },
    });
  });
  return results.every((result) => result.status === 0);
}

function runTests() {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-test-'));
  const report = join(folder, 'report.json');
  const chosen = projects.flatMap((project) => ['--project', project]);
  const reporters = ['--reporter=default', `--reporter=${join(root, 'scripts/test-reporter.mjs')}`];
  const named = args.length > 0 ? ['--passWithNoTests', ...args] : [];
  const { status: code } = spawnSync(binary, [localBin('vitest', 'vitest'), 'run', ...chosen, ...reporters, ...named], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, TEST_REPORT_FILE: report, ...(isLong && { TEST_SIXTH: 'all' }) },
  });
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
  const isTooLong = !isLong && version === null && minutes > MINUTES_MAX;
  say(`${minutes.toFixed(1)} minutes${isTooLong ? `: more than the ${MINUTES_MAX} that npm test may take` : ''}`);
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
