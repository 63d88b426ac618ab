import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { renderPage } from '../../../sim/page/render-page.js';
import { measureTrace } from '../../../sim/replay/measure-trace.js';
import { playTrace } from '../../../sim/replay/play-trace.js';
import { readTrace } from '../../../sim/replay/read-trace.js';
import type { TraceOptions } from '../../../sim/replay/trace.js';
import { SYSTEM_NAMES, SYSTEMS, type System, systemNamed } from '../../../sim/systems.js';
import { resolveConfig } from '../../config/read/resolve-config.js';
import { parseQuantity, type QuantityKind } from '../../config/setting/quantity.js';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import { didYouMean } from '../../input/nearest-name.js';
import { VERSION } from '../../package/version.js';
import type { ReplayCommandOptions } from './replay-command.js';
import { openFile, writeHtml } from './replay-files.js';
import { traceNote, traceTable } from './replay-tables.js';

export async function replayTrace(input: Readable, file: string, options: ReplayCommandOptions): Promise<void> {
  const trace = traceOptions(options);
  const name = file === '-' ? 'standard input' : file;
  const systems = systemsOf(options.system);
  const seed = wholeNumber('--seed', options.seed, 0, 2 ** 32 - 1);
  const given = quotaOf(options);
  const { rows, quota, note } =
    given === null ? await meanQuota(input, file, trace) : { rows: input, quota: given, note: '' };
  const runs = await playTrace(readTrace(rows, name, trace), {
    name: basename(name),
    systems,
    nodes: trace.nodes,
    seed,
    quota,
    settings: settingsFor(),
    onProgress: progress(systems.length),
  });
  clearProgress();
  if (options.html !== undefined) writeHtml(options.html, renderPage(runs, traceNote(runs, trace.speed, note)));
  process.stdout.write(
    options.json ? `${JSON.stringify({ quota: quota.map(finite), runs })}\n` : traceTable(runs, quota, note),
  );
}

/** Without --quota: the mean of the whole file, so that every burst is above it. Reads the file twice. */
async function meanQuota(input: Readable, file: string, trace: TraceOptions) {
  if (file === '-') {
    const reason = 'standard input cannot be read twice to find a quota: name it with --quota or --quota-bytes';
    throw new QuotameshError('USAGE', { reason });
  }
  const { messagesPerSecond, arrivals } = await measureTrace(readTrace(input, file, trace));
  const quota: [number, number] = [Math.max(1, Math.round(messagesPerSecond)), Number.POSITIVE_INFINITY];
  return {
    rows: openFile(file),
    quota,
    note: `No quota given: ${quota[0]} messages/s is what ${arrivals} rows ask for on the mean.`,
  };
}

function traceOptions(options: ReplayCommandOptions): TraceOptions {
  const { time, timeFormat, messages, bytes, by, delimiter } = options;
  if (time === undefined) {
    const reason = 'a CSV needs --time COLUMN, the column of the time (a recording begins with "qmrec001")';
    throw new QuotameshError('USAGE', { reason });
  }
  if (delimiter.length !== 1) throw usage('--delimiter', 'one character', delimiter);
  const speed = Number(options.speed);
  if (!(speed >= 1e-6 && speed <= 1e9)) throw usage('--speed', 'a factor from 0.000001 to 1e9', options.speed);
  const nodes = wholeNumber('--nodes', options.nodes, 1, 500);
  return { time, timeFormat, messages, bytes, by, delimiter, speed, nodes };
}

function quotaOf({ quota, quotaBytes }: ReplayCommandOptions): readonly [number, number] | null {
  if (quota === undefined && quotaBytes === undefined) return null;
  return [rateOf('--quota', quota, 'rate'), rateOf('--quota-bytes', quotaBytes, 'byte-rate')];
}

function rateOf(flag: string, text: string | undefined, kind: QuantityKind): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const rate = parseQuantity(kind, text);
  if (!(rate > 0 && rate <= 1e15)) throw usage(flag, 'a rate above 0 (e.g. 1000 or 10k)', text);
  return rate;
}

function systemsOf(names: readonly string[] | undefined): readonly System[] {
  if (names === undefined) return SYSTEMS.filter(({ name }) => name.startsWith('quotamesh '));
  return names.map((name) => {
    const system = systemNamed(name);
    if (system !== undefined) return system;
    const near = didYouMean(name, SYSTEM_NAMES);
    throw usage('--system', `one of ${SYSTEM_NAMES.join(', ')}`, name, near);
  });
}

/** The defaults that a node has. */
function settingsFor() {
  const config = resolveConfig({ cluster: 'replay', topic: 'memory', groups: { trace: {} } }, { source: '(replay)' });
  const { cluster, timing, sampleIntervalMs, limiting, costs, groups } = config;
  return { ...timing, cluster, sampleIntervalMs, limiting, costs, groups, version: VERSION, partitions: 1 };
}

function wholeNumber(flag: string, text: string, least: number, most: number): number {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= least && number <= most)) throw usage(flag, `a whole number from ${least} to ${most}`, text);
  return number;
}

function usage(flag: string, allowed: string, got: string, hint = ''): QuotameshError {
  const reason = `${flag} must be ${allowed}, got ${JSON.stringify(got)}. ${hint}`.trimEnd();
  return new QuotameshError('USAGE', { reason });
}

function finite(rate: number): number | null {
  return Number.isFinite(rate) ? rate : null;
}

function progress(systems: number): (arrivals: number, playedMs: number) => void {
  let shownMs = performance.now();
  return (arrivals, playedMs) => {
    if (!process.stderr.isTTY || performance.now() - shownMs < 200) return;
    shownMs = performance.now();
    process.stderr.write(`\r${arrivals} rows on ${systems} systems, ${(playedMs / 1000).toFixed(0)} s played`);
  };
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
}
