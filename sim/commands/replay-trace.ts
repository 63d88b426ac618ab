import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { didYouMean } from '../../src/base/input/nearest-name.js';
import { SECONDS_OF } from '../../src/config/setting/quantity.js';
import type { WrittenRate } from '../../src/config/setting/written-rate.js';
import type { Rates } from '../../src/core/base/vocabulary.js';
import { usage } from '../../src/tools/terminal/print.js';
import { renderPage } from '../page/render-page.js';
import { measureTrace } from '../replay/measure-trace.js';
import { playTrace } from '../replay/play-trace.js';
import { readTrace } from '../replay/read-trace.js';
import { type ReplayedSystem, replayedSystemNamed, replayedSystems } from '../replay/replayed-system.js';
import { KEYS_MAX, type TraceFound, type TraceOptions } from '../replay/trace.js';
import { OWN_SYSTEMS, shortName } from '../systems.js';
import type { ArrivalOptions } from './arrival-options.js';
import { foundText } from './found-text.js';
import type { ReplayCommandOptions } from './replay-command.js';
import { isRegularFile, openFile, writeHtml } from './replay-files.js';
import { durationFlag, wholeNumber, wrongFlag } from './replay-flags.js';
import { type QuotaTold, type ReplayedGroup, replayedGroup } from './replay-group.js';
import { replayProgress } from './replay-progress.js';
import { pageKeys, traceFacts, traceNote, traceTable } from './trace-tables.js';

export async function replayTrace(input: Readable, file: string, options: ReplayCommandOptions): Promise<void> {
  const trace = traceOptions(options);
  const name = file === '-' ? 'standard input' : file;
  const group = await replayedGroup(options);
  const systems = systemsOf(options, group);
  const seed = wholeNumber('--seed', options.seed, 0, 2 ** 32 - 1);
  const top = wholeNumber('--top', options.top, 0, KEYS_MAX);
  const { rows, quota, told: quotaTold, note: quotaNote } = await withQuota(input, file, trace, group, options);
  const isShown = options.progress ?? (process.stderr.isTTY && options.json !== true);
  const progress = isShown ? replayProgress(rows, file, systems.length) : null;
  const { speed } = trace;
  let found: TraceFound | null = null;
  const onBegun = (begun: TraceFound) => {
    found = begun;
  };
  const runs = await playTrace(readTrace(rows, name, trace, onBegun), {
    name: basename(name),
    systems,
    nodes: trace.nodes,
    seed,
    quota,
    quotaPerMs: [windowMsOf(quotaTold[0], speed), windowMsOf(quotaTold[1], speed)],
    speed,
    retries: trace.retryAfter === undefined ? 0 : wholeNumber('--retries', options.retries, 0, RETRIES_MAX),
    isPerKey: trace.per !== undefined,
    settings: group.settings,
    maxRequest: group.maxRequestAt([quota[0] * speed, quota[1] * speed]),
    onProgress: (count, playedMs) => progress?.played(count, playedMs * speed),
  }).finally(() => progress?.end());
  const begun = found as unknown as TraceFound;
  const note = [...quotaNote, ...foundText(begun, trace)].join(' ');
  const told = { quota, quotaTold, speed, found: begun, per: trace.per ?? null, top, note };
  if (options.html !== undefined) {
    const clock = begun.isDated ? { begunMs: begun.begunMs, speed } : null;
    writeHtml(options.html, renderPage(runs, traceNote(runs, told), clock, { keys: pageKeys(runs, told) }));
  }
  process.stdout.write(options.json ? `${JSON.stringify(traceFacts(runs, told))}\n` : traceTable(runs, told));
}

interface PlayedRows {
  readonly rows: Readable;
  readonly quota: Rates;
  readonly told: QuotaTold;
  readonly note: readonly string[];
}

/** Sets a missing quota to the file's mean, read twice: all bursts exceed it. */
async function withQuota(
  input: Readable,
  file: string,
  trace: TraceOptions,
  { name, quota, quotaTold: told }: ReplayedGroup,
  { config }: ReplayCommandOptions,
): Promise<PlayedRows> {
  if (config !== undefined) return { rows: input, quota, told, note: [`Group ${name} of ${config}.`] };
  if (quota.some((rate) => rate !== Infinity)) return { rows: input, quota, told, note: [] };
  if (!isRegularFile(file)) {
    const what = file === '-' ? 'standard input' : `${file} is no regular file and`;
    throw usage(`${what} cannot be read twice to find a quota: name it with --quota or --quota-bytes`);
  }
  const { messagesPerSecond, arrivals } = await measureTrace(readTrace(input, file, trace), trace.speed);
  // Three digits, as somebody would type.
  const mean = Number((messagesPerSecond || 1).toPrecision(3));
  const note = [`No quota given: ${mean} messages/s is what ${arrivals} rows ask for on the mean.`];
  return { rows: openFile(file), quota: [mean, Infinity], told: [{ amount: mean, per: 'second' }, null], note };
}

/** Returns the quota's window by the nodes' clock: minutes, hours and days are the file's, seconds the nodes'. */
function windowMsOf(told: WrittenRate | null, speed: number): number {
  if (told === null || told.per === 'second') return 1000;
  return (SECONDS_OF[told.per] * 1000) / speed;
}

export function traceOptions(options: ArrivalOptions & Pick<ReplayCommandOptions, 'retryAfter'>): TraceOptions {
  const { time, timeFormat, messages, bytes, by, per, retryAfter, delimiter } = options;
  if (time === undefined) {
    throw usage('a CSV needs --time COLUMN, the column of the time (a recording begins with "qmrec001", unpacked)');
  }
  if (delimiter !== undefined && delimiter.length !== 1) throw wrongFlag('--delimiter', 'one character', delimiter);
  const speed = Number(options.speed);
  if (!(speed >= 1e-6 && speed <= 1e9)) throw wrongFlag('--speed', 'a factor from 0.000001 to 1e9', options.speed);
  const nodes = wholeNumber('--nodes', options.nodes, 1, 500);
  return { time, timeFormat, messages, bytes, by, per, retryAfter, delimiter, speed, nodes };
}

/** Lists systems: a configured group's strategy, or all of ours. */
function systemsOf(
  { system: names, roundTrip, config, set = [] }: ReplayCommandOptions,
  { strategy }: ReplayedGroup,
): readonly ReplayedSystem[] {
  const systems = replayedSystems(durationFlag('--round-trip', roundTrip, ROUND_TRIP_MS_MAX));
  const isChosen = config !== undefined || set.some((text) => text.startsWith('strategy='));
  if (names === undefined && !isChosen) return OWN_SYSTEMS;
  return (names ?? [strategy]).map((name) => {
    const system = replayedSystemNamed(name, systems);
    if (system !== undefined) return system;
    const known = systems.map((one) => shortName(one.name));
    throw wrongFlag('--system', `one of ${known.join(', ')}`, name, didYouMean(name, known));
  });
}

/** Most retries of each refusal of millions of rows. */
const RETRIES_MAX = 100;

/** Most milliseconds to a store; further ones answer nobody in time. */
const ROUND_TRIP_MS_MAX = 60_000;
