/**
 * `npm test [-- vitest arguments]`: builds what is stale, then runs the projects of vitest.config.ts in groups that may share a machine of
 * two cores. `npm run test:long`: the soaks.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ensureBuilt, localBin, root } from './freshness.mjs';

/**
 * Groups of one line run at the same time. What measures real time keeps the cores; what only computes takes what is left of them (the
 * lowest priority), and is shown when it has ended.
 */
const LINES = [
  [
    { projects: ['stories'], workers: 1 },
    { projects: ['quick'], workers: 2, behind: true },
  ],
  [{ projects: ['cluster', 'processes', 'kafka'], workers: 3 }],
  [{ projects: ['demo'], workers: 1 }],
];
const LONG = [[{ projects: ['long'], workers: 1 }]];

ensureBuilt();
const args = process.argv.slice(2).filter((argument) => argument !== '--long');
const named = args.length > 0 ? ['--passWithNoTests', ...args] : [];
const isLong = process.argv.includes('--long');
const results = mkdtempSync(join(tmpdir(), 'quotamesh-test-'));
const failed = [];
for (const line of isLong ? LONG : LINES) failed.push(...(await Promise.all(line.map(runGroup))).flat());
const broken = isLong ? failed : await failedAlone(failed);
rmSync(results, { recursive: true, force: true });
if (broken.length > 0) process.stdout.write(`failed: ${broken.map(({ file }) => file).join(', ')}\n`);
process.exit(broken.length > 0 ? 1 : 0);

/**
 * Real time on a busy machine: what failed beside others may try once more with the machine to itself. What computes in virtual time has
 * no such excuse.
 */
async function failedAlone(failures) {
  const broken = failures.filter(({ projects, file }) => file === null || projects.includes('quick'));
  for (const failure of failures.filter((each) => !broken.includes(each))) {
    process.stdout.write(`\nagain, alone: ${failure.file}\n`);
    broken.push(...(await runGroup({ projects: failure.projects, workers: 1, files: [failure.file] })));
  }
  return broken;
}

/** Resolves with what failed: project and file; file null where vitest itself did. */
async function runGroup({ projects, workers, behind = false, files = named }) {
  const report = join(results, `${projects.join('-')}-${Math.floor(performance.now())}.json`);
  const chosen = projects.flatMap((project) => ['--project', project]);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const vitest = [localBin('vitest', 'vitest'), 'run', ...chosen, `--maxWorkers=${workers}`, ...reporters, ...files];
  const status = await runVitest(vitest, behind);
  if (status === 0) return [];
  const failing = filesFailing(report);
  return failing.length > 0 ? failing.map((file) => ({ projects, file })) : [{ projects, file: null }];
}

function runVitest(vitest, behind) {
  const stdio = behind ? ['ignore', 'pipe', 'pipe'] : 'inherit';
  const child = spawn(process.execPath, vitest, { cwd: root, stdio });
  const printed = [];
  if (behind) {
    setPriority(child.pid, constants.priority.PRIORITY_LOW);
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => printed.push(chunk));
  }
  return new Promise((resolve) => {
    child.once('close', (code) => {
      process.stdout.write(Buffer.concat(printed));
      resolve(code ?? 1);
    });
  });
}

function filesFailing(report) {
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    return testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative(root, name));
  } catch {
    return [];
  }
}
