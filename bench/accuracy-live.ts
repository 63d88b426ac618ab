/**
 * Simulator and reality side by side: scenarios as `quotamesh sim run` plays them, and as `sim live` does on real node
 * processes. Writes docs/reference/accuracy-live.json, which docs/reference/accuracy.md shows; only the topics that were played change in it.
 *
 *   npm run accuracy:live                          on the embedded topic, 60 s of each scenario: 7 min
 *   npm run accuracy:live -- --kafka               and on Kafka: KAFKA_BOOTSTRAP, or a broker of its own: 14 min
 *   npm run accuracy:live -- --seconds 30 --only crash,dips --seed 2
 *
 * Exit code 1 when the admitted totals of a scenario are more than 5 % apart, or the medians of its convergence times
 * more than one round (docs/decisions/0024).
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { LiveComparison, LiveComparisons } from '../sim/accuracy/live-section.js';
import type { RunResult } from '../sim/verdict/run-result.js';
import { finiteOrNull } from '../src/core/base/shown-rates.js';
import type { Punctuality } from '../src/live/live-traffic.js';
import { COMMAND_FILE } from '../src/package/package-root.js';
import { Child } from '../src/processes/child.js';
import { startKafka } from '../test/kafka/kafka.js';

const ROOT = new URL('../../', import.meta.url);
const FILE = new URL('docs/reference/accuracy-live.json', ROOT);
/** At most 1,800 requests/s, no faults that only a simulated world has, and a step every 4 s. */
const SCENARIOS = ['busy-node-changes', 'five-take-turns', 'dips', 'topic-wanders', 'leaves-and-joins', 'crash'];
const STEPS_FOLDER = new URL('bench/live/', ROOT);
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
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: SCENARIOS.join(',') },
  },
});
const played = { embedded: await compareAll(['--topic', 'embedded']), ...(values.kafka ? await onKafka() : {}) };
const before = existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as LiveComparisons) : { topics: {} };
const bounds = { admittedApart: ADMITTED_APART_MAX };
writeFileSync(FILE, `${JSON.stringify({ bounds, topics: { ...before.topics, ...played } }, null, 2)}\n`);
const apart = Object.values(played).flatMap((comparisons) => comparisons.filter(({ agrees }) => !agrees));
process.exit(apart.length === 0 ? 0 : 1);

async function onKafka(): Promise<{ readonly kafka: readonly LiveComparison[] }> {
  const running = process.env.KAFKA_BOOTSTRAP;
  if (running !== undefined) return { kafka: await compareAll(['--topic', 'kafka', '--brokers', running]) };
  const kafka = await startKafka();
  try {
    return { kafka: await compareAll(['--topic', 'kafka', '--brokers', kafka.brokers.join(',')]) };
  } finally {
    await kafka.stop();
  }
}

async function compareAll(place: readonly string[]): Promise<readonly LiveComparison[]> {
  const comparisons: LiveComparison[] = [];
  for (const scenario of values.only.split(',')) {
    const options = [fileOf(scenario), '--seconds', values.seconds, '--seed', values.seed, '--json'];
    const simulated = await runOf<RunResult>(['sim', 'run', ...options]);
    const live = await punctualRun(['sim', 'live', ...options, ...place]);
    const comparison = compare(simulated, live);
    comparisons.push(comparison);
    print(live.system, comparison);
  }
  return comparisons;
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
  const percent = `${(100 * admitted.apart).toFixed(2)} %`;
  process.stdout.write(
    `${system}, ${scenario}: admitted ${admitted.simulated} simulated, ${admitted.live} live (${percent}); ` +
      `settled after ${median.simulated ?? 'never'} ms simulated, ${median.live ?? 'never'} ms live in the median (` +
      `${shown(simulated)} and ${shown(live)}); worst second ` +
      `${worstSecond.simulated} and ${worstSecond.live}${agrees ? '' : ': THEY DISAGREE'}\n`,
  );
}

/** Never settled is later than any time; null when that is the median, or there are no steps. */
function medianOf(steps: readonly (number | null)[]): number | null {
  const sorted = steps.map((ms) => ms ?? Number.POSITIVE_INFINITY).sort((one, other) => one - other);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  const median = ((low ?? Number.POSITIVE_INFINITY) + (high ?? Number.POSITIVE_INFINITY)) / 2;
  return finiteOrNull(median);
}

function wholeMs(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
