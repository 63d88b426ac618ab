/**
 * Simulator and reality side by side: scenarios as `quotamesh sim run` plays them, and as `sim live` does on real node
 * processes. Writes docs/reference/accuracy-live.json, which docs/reference/accuracy.md shows; only the topics that were played change in it.
 *
 *   npm run accuracy:live                          on the embedded topic, 60 s of each scenario: 7 min
 *   npm run accuracy:live -- --kafka               and on Kafka: KAFKA_BOOTSTRAP, or a broker of its own: 14 min
 *   npm run accuracy:live -- --seconds 30 --only crash,dips --seed 2
 *   npm run accuracy:live -- --tokens              groups that share tokens (bench/live/tokens): prints a table, writes nothing
 *   npm run accuracy:live -- --tokens --only tokens/ten-walks      ten processes; two cores that do nothing else
 *
 * Exit code 1 when the admitted totals of a scenario are more than 5 % apart, or, without --tokens, the medians of its
 * convergence times more than one round (docs/decisions/0002).
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { LiveComparison, LiveComparisons } from '../sim/accuracy/live-section.js';
import type { Punctuality } from '../sim/live/live-traffic.js';
import type { RunResult } from '../sim/verdict/run-result.js';
import { COMMAND_FILE } from '../src/base/package/package-root.js';
import { finiteOrNull } from '../src/core/base/shown-rates.js';
import { Child } from '../src/tools/processes/child.js';
import { startKafka } from '../test/kafka/kafka.js';

const ROOT = new URL('../../', import.meta.url);
const FILE = new URL('docs/reference/accuracy-live.json', ROOT);
/** At most 1,800 requests/s, no faults that only a simulated world has, and a step every 4 s. */
const SCENARIOS = ['busy-node-changes', 'five-take-turns', 'dips', 'topic-wanders', 'leaves-and-joins', 'crash'];
const STEPS_FOLDER = new URL('bench/live/', ROOT);
const TOKEN_FIGURES = ['above the quota over any 5 s', 'worst second', 'used', 'records per second and node'];
const TOKEN_SCENARIOS = ['tokens/moving-demand', 'tokens/one-wants-all', 'tokens/eighty-twenty', 'tokens/killed'];
const ADMITTED_APART_MAX = 0.05;
/** One round: a sample every 20 ms, a report every 50 ms at most (src/config: sampleIntervalMs, reportGapMs). */
const ROUND_MS = 70;
/** A death is noticed within the heartbeat of a second, wherever in it the node died. */
const HEARTBEAT_MS = 1000;
const APART_MAX_MS: Readonly<Record<string, number>> = { crash: HEARTBEAT_MS };

/** A machine that answers less in time shows itself, not the nodes: the scenario is played again. */
const MISSED_MAX = 0.01;
const ATTEMPTS_MAX = 3;
/** Nodes that live have waited since before time 0 begin with it in the simulator: that step is another one. */
const FIRST_STEP = 1;

type LiveResult = RunResult & { readonly punctuality: Punctuality };

const { values } = parseArgs({
  options: {
    kafka: { type: 'boolean', default: false },
    tokens: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
});
if (values.tokens) process.exit(await printTokens());
const played = await onTopics(compareAll);
const before = existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as LiveComparisons) : { topics: {} };
const bounds = { admittedApart: ADMITTED_APART_MAX };
writeFileSync(FILE, `${JSON.stringify({ bounds, topics: { ...before.topics, ...played } }, null, 2)}\n`);
const apart = Object.values(played).flatMap((comparisons) => comparisons.filter(({ agrees }) => !agrees));
process.exit(apart.length === 0 ? 0 : 1);

/** What `play` finds on the embedded topic, and with --kafka on Kafka. */
async function onTopics<T>(play: (place: readonly string[]) => Promise<T>): Promise<Readonly<Record<string, T>>> {
  const embedded = await play(['--topic', 'embedded']);
  if (!values.kafka) return { embedded };
  const running = process.env.KAFKA_BOOTSTRAP;
  if (running !== undefined) return { embedded, kafka: await play(['--topic', 'kafka', '--brokers', running]) };
  const kafka = await startKafka();
  try {
    return { embedded, kafka: await play(['--topic', 'kafka', '--brokers', kafka.brokers.join(',')]) };
  } finally {
    await kafka.stop();
  }
}

/** Limits of such groups are not what is admitted, so no convergence is compared. Answers with the exit code. */
async function printTokens(): Promise<number> {
  const totals: number[] = [];
  const tables = await onTopics(async (place) => {
    const rows: string[] = [];
    for (const scenario of namesOf(TOKEN_SCENARIOS)) {
      const { simulated, live } = await bothWays(scenario, place);
      const apart = admittedOf(live) / admittedOf(simulated) - 1;
      totals.push(apart);
      const admitted = [admittedOf(simulated), admittedOf(live), percent(apart)];
      const figures = [simulated, live].map(tokenFigures);
      const pairs = (figures[0] as string[]).map((figure, at) => `${figure} / ${figures[1]?.[at]}`);
      rows.push(`| ${[simulated.scenario, place[1], ...admitted, ...pairs].join(' | ')} |`);
    }
    return rows;
  });
  const columns = ['scenario', 'topic', 'admitted, simulated', 'live', 'apart', ...TOKEN_FIGURES];
  const lines = [columns, columns.map(() => '---')].map((cells) => `| ${cells.join(' | ')} |`);
  process.stdout.write(`${[...lines, ...Object.values(tables).flat()].join('\n')}\n`);
  return totals.every((apart) => Math.abs(apart) <= ADMITTED_APART_MAX) ? 0 : 1;
}

function tokenFigures({ verdict, durationMs, nodes }: RunResult): readonly string[] {
  const perSecond = (verdict.records * 1000) / durationMs / nodes.length;
  const { overAdmission, worstSecond, utilisation } = verdict;
  return [percent(overAdmission), worstSecond.toFixed(2), percent(utilisation), perSecond.toFixed(2)];
}

async function compareAll(place: readonly string[]): Promise<readonly LiveComparison[]> {
  const comparisons: LiveComparison[] = [];
  for (const scenario of namesOf(SCENARIOS)) {
    const { simulated, live } = await bothWays(scenario, place);
    const comparison = compare(simulated, live);
    comparisons.push(comparison);
    print(live.system, comparison);
  }
  return comparisons;
}

function namesOf(all: readonly string[]): readonly string[] {
  return values.only?.split(',') ?? all;
}

async function bothWays(
  scenario: string,
  place: readonly string[],
): Promise<{ readonly simulated: RunResult; readonly live: LiveResult }> {
  const options = [fileOf(scenario), '--seconds', values.seconds, '--seed', values.seed, '--json'];
  const simulated = await runOf<RunResult>(['sim', 'run', ...options]);
  return { simulated, live: await punctualRun(['sim', 'live', ...options, ...place]) };
}

/** The scenarios of bench/live are files, the others built in. */
function fileOf(scenario: string): string {
  const file = fileURLToPath(new URL(`${scenario}.yaml`, STEPS_FOLDER));
  return existsSync(file) ? file : scenario;
}

async function punctualRun(args: readonly string[]): Promise<LiveResult> {
  for (let attempt = 1; ; attempt++) {
    const live = await runOf<LiveResult>(args);
    if (live.punctuality.missedRatio <= MISSED_MAX || attempt === ATTEMPTS_MAX) return live;
    process.stdout.write(`${live.scenario}: this machine was too busy, once more\n`);
  }
}

/** Exit code 1 only says that an expectation was missed. */
async function runOf<Result extends RunResult>(args: readonly string[]): Promise<Result> {
  const child = new Child([COMMAND_FILE, ...args]);
  const { code } = await child.ended;
  process.stderr.write(child.stderr);
  if (code !== 0 && code !== 1) throw new Error(`quotamesh ${args.join(' ')} ended with ${code}:\n${child.logEnd()}`);
  return JSON.parse(child.stdout) as Result;
}

function compare(simulated: RunResult, live: LiveResult): LiveComparison {
  const [wanted, seen] = [admittedOf(simulated), admittedOf(live)];
  const apart = rounded(seen / wanted - 1, 4);
  const medianMs = [simulated, live].map(({ verdict }) => medianOf(verdict.convergenceMs.slice(FIRST_STEP)));
  const [simulatedMs, liveMs] = medianMs as [number | null, number | null];
  const apartMaxMs = APART_MAX_MS[simulated.scenario] ?? ROUND_MS;
  const agreeing = simulatedMs !== null && liveMs !== null && Math.abs(liveMs - simulatedMs) <= apartMaxMs;
  return {
    scenario: simulated.scenario,
    seconds: simulated.durationMs / 1000,
    nodes: simulated.nodes.length,
    seed: simulated.seed,
    admitted: { simulated: wanted, live: seen, apart },
    convergenceMs: {
      simulated: simulated.verdict.convergenceMs.slice(FIRST_STEP).map(wholeMs),
      live: live.verdict.convergenceMs.slice(FIRST_STEP).map(wholeMs),
      median: { simulated: wholeMs(simulatedMs), live: wholeMs(liveMs) },
      apartMaxMs,
      agrees: agreeing,
    },
    worstSecond: {
      simulated: rounded(simulated.verdict.worstSecond, 3),
      live: rounded(live.verdict.worstSecond, 3),
    },
    punctual: live.punctuality.missedRatio <= MISSED_MAX,
    agrees: Math.abs(apart) <= ADMITTED_APART_MAX && agreeing,
  };
}

function admittedOf({ series, sampleMs }: RunResult): number {
  const rates = Object.values(series[0]?.perNode ?? {}).flatMap(({ admitted }) => admitted);
  return Math.round(rates.reduce((sum, rate) => sum + (rate * sampleMs) / 1000, 0));
}

function print(system: string, { scenario, admitted, convergenceMs, worstSecond, agrees }: LiveComparison): void {
  const { median, simulated, live } = convergenceMs;
  const shown = (steps: readonly (number | null)[]) => steps.map((ms) => ms ?? 'never').join(', ');
  process.stdout.write(
    `${system}, ${scenario}: admitted ${admitted.simulated} simulated, ${admitted.live} live (${percent(admitted.apart)}); ` +
      `settled after ${median.simulated ?? 'never'} ms simulated, ${median.live ?? 'never'} ms live in the median (` +
      `${shown(simulated)} and ${shown(live)}); worst second ` +
      `${worstSecond.simulated} and ${worstSecond.live}${agrees ? '' : ': THEY DISAGREE'}\n`,
  );
}

/** Never settled is later than any time; null when that is the median, or there are no steps. */
function medianOf(steps: readonly (number | null)[]): number | null {
  const sorted = steps.map((ms) => ms ?? Infinity).sort((one, other) => one - other);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  const median = ((low ?? Infinity) + (high ?? Infinity)) / 2;
  return finiteOrNull(median);
}

function wholeMs(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}

function percent(part: number): string {
  return `${(100 * part).toFixed(2)} %`;
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
