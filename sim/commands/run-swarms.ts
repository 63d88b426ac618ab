import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { EXIT_UNEXPECTED } from '../../src/base/errors/error-row.js';
import { ProgressBar } from '../../src/tools/terminal/progress-bar.js';
import { defaultSettings } from '../scenario/world-settings.js';
import { playSeed } from '../swarm/play-seed.js';
import { playSeeds } from '../swarm/play-seeds.js';
import type { SwarmVerdict } from '../swarm/run-swarm.js';
import type { SwarmOptions } from './sim-command.js';
import { SwarmSummary } from './swarm-summary.js';

/** Milliseconds between lines without a terminal. */
const LINE_EVERY_MS = 30_000;

export async function runSwarms(options: SwarmOptions): Promise<void> {
  const { seed, json = false } = options;
  const count = seed === undefined ? (options.seeds ?? 100) : 1;
  const first = seed ?? options.from ?? randomInt(0x7fffffff);
  const summary = new SwarmSummary(first, count);
  const print = (verdict: SwarmVerdict) => {
    summary.add(verdict);
    if (verdict.problems.length > 0) process.stderr.write(`${brokenLines(verdict).join('\n')}\n`);
    if (json) process.stdout.write(`${JSON.stringify(verdict)}\n`);
  };
  if (count === 1) print(await playSeed(first, defaultSettings()));
  else await playMany(first, count, options.workers ?? availableParallelism(), summary, print);
  if (!json) process.stdout.write(`${summary.lines().join('\n')}\n`);
  if (summary.broken.length > 0) process.exitCode = EXIT_UNEXPECTED;
}

/** Plays seeds; an interruption ends after those under way, with a summary. */
async function playMany(
  first: number,
  count: number,
  workers: number,
  summary: SwarmSummary,
  print: (verdict: SwarmVerdict) => void,
): Promise<void> {
  const bar = new ProgressBar();
  let isInterrupted = false;
  const interrupt = () => {
    isInterrupted = true;
  };
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  let saidMs = Date.now();
  const onVerdict = (verdict: SwarmVerdict): boolean => {
    if (verdict.problems.length > 0) bar.clear();
    print(verdict);
    bar.show(summary.played / count, summary.progress());
    if (!process.stderr.isTTY && Date.now() - saidMs > LINE_EVERY_MS) {
      saidMs = Date.now();
      process.stderr.write(`${summary.progress()}\n`);
    }
    return !isInterrupted;
  };
  await playSeeds({ first, count, workers: Math.min(workers, count), settings: defaultSettings(), onVerdict });
  bar.clear();
  process.off('SIGINT', interrupt);
  process.off('SIGTERM', interrupt);
}

function brokenLines({ seed, plan, problems }: SwarmVerdict): readonly string[] {
  return [
    `seed ${seed} broke a promise:`,
    ...problems.map((problem) => `  ${problem}`),
    ...plan.map((line) => `    ${line}`),
    `  replay: quotamesh sim swarm --seed ${seed}`,
  ];
}
