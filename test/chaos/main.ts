import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ChaosRun } from './chaos-run.js';
import { FAULT_KINDS, type FaultKind } from './fault-table.js';
import { renderChaosPage } from './page.js';
import { reportLines, windowsTable } from './report.js';
import { scheduleOf } from './schedule.js';
import { judge } from './verdict.js';

/**
 * `npm run chaos -- --seed N --minutes M`: see docs/contribute/chaos.md. Exit code 0 when every promise was kept, 1 when
 * not, 2 when it could not be played.
 */

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '30' },
    only: { type: 'string', default: '' },
    page: { type: 'string', default: 'chaos.html' },
    'keep-logs': { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
const seed = Number(values.seed);
const durationMs = Number(values.minutes) * 60_000;
if (!Number.isInteger(seed) || !(durationMs >= 30_000)) {
  say('usage: npm run chaos -- [--seed N] [--minutes M ≥ 0.5] [--only fault,fault] [--page FILE] [--keep-logs]');
  process.exit(2);
}

const named = values.only.split(',').filter((name) => name !== '');
const unknown = named.find((name) => !FAULT_KINDS.includes(name as FaultKind));
if (unknown !== undefined) {
  say(`there is no fault ${unknown}; there are ${FAULT_KINDS.join(', ')}`);
  process.exit(2);
}

const rounds = scheduleOf(seed, durationMs, named.length === 0 ? FAULT_KINDS : (named as FaultKind[]));
const run = await ChaosRun.prepare({ rounds, durationMs, say });
let isOver = false;

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    say(`${signal}: ending everything`);
    void end(signal === 'SIGINT' ? 130 : 143, false);
  });
}

try {
  say(`seed ${seed}, ${rounds.length} rounds in ${Number(values.minutes)} minutes`);
  const evidence = await run.play();
  const verdict = judge(evidence);
  for (const line of reportLines(evidence, verdict, seed)) say(line);
  const page = resolve(values.page);
  await writeFile(page, renderChaosPage(evidence, verdict, seed));
  say(`the page: ${page}`);
  const table = `${page.replace(/\.html$/, '')}.csv`;
  await writeFile(table, windowsTable(verdict));
  say(`every window of 5 s: ${table}`);
  const isBroken = verdict.broken.length > 0;
  await end(isBroken ? 1 : 0, isBroken || values['keep-logs']);
} catch (error) {
  // What is pulled from under its feet by a signal fails somewhere.
  if (!isOver) {
    say(`seed ${seed} could not be played: ${(error as Error).stack}`);
    await end(2, true);
  }
}

async function end(code: number, keepsLogs: boolean): Promise<void> {
  if (isOver) return;
  isOver = true;
  await run.leave(keepsLogs);
  if (keepsLogs) say(`logs of the nodes: ${run.folder}`);
  process.exit(code);
}
