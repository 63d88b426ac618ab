import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
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

const program = new Command('npm run chaos --')
  .description('Breaks a real Kafka and five nodes by a schedule, and holds what was admitted against the documents.')
  .option('--seed <n>', 'the schedule', wholeNumber, 1)
  .option('--minutes <m>', 'how long, at least 0.5', atLeastHalf, 30)
  .option(
    '--only <faults>',
    `some kinds of fault alone, with commas between them: ${FAULT_KINDS.join(', ')}`,
    faultKinds,
  )
  .option('--page <file>', 'where the page goes; the table goes beside it', 'chaos.html')
  .option('--record <file>', 'record the topic meanwhile, and replay it at the end')
  .option('--keep-logs', 'keep the logs of the nodes of a run in which nothing broke', false)
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse();
const options = program.opts<{
  seed: number;
  minutes: number;
  only?: FaultKind[];
  page: string;
  record?: string;
  keepLogs: boolean;
}>();
const say = (line: string) => process.stdout.write(`${line}\n`);
const { seed, minutes } = options;
const durationMs = minutes * 60_000;

const rounds = scheduleOf(seed, durationMs, options.only ?? FAULT_KINDS);
const recording = options.record === undefined ? null : resolve(options.record);
const run = await ChaosRun.prepare({ rounds, durationMs, recording, say });
let isOver = false;

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    say(`${signal}: ending everything`);
    void end(signal === 'SIGINT' ? 130 : 143, false);
  });
}

try {
  say(`seed ${seed}, ${rounds.length} rounds in ${minutes} minutes`);
  const evidence = await run.play();
  const verdict = judge(evidence);
  for (const line of reportLines(evidence, verdict, seed)) say(line);
  const page = resolve(options.page);
  await writeFile(page, renderChaosPage(evidence, verdict, seed));
  say(`the page: ${page}`);
  const table = `${page.replace(/\.html$/, '')}.csv`;
  await writeFile(table, windowsTable(verdict));
  say(`every window of 5 s: ${table}`);
  if (recording !== null) say(`the recording, ${recording}:\n${await run.replay()}`);
  const isBroken = verdict.broken.length > 0;
  await end(isBroken ? 1 : 0, isBroken || options.keepLogs);
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

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('A seed is a whole number, e.g. 7.');
  return Number(text);
}

function atLeastHalf(text: string): number {
  const wanted = Number(text);
  if (!(wanted >= 0.5)) throw new InvalidArgumentError('A run takes half a minute at least.');
  return wanted;
}

function faultKinds(text: string): FaultKind[] {
  const named = text.split(',').filter((name) => name !== '');
  const unknown = named.find((name) => !FAULT_KINDS.includes(name as FaultKind));
  if (unknown !== undefined || named.length === 0)
    throw new InvalidArgumentError(`There is no fault "${unknown ?? text}".`);
  return named as FaultKind[];
}
