/**
 * `npm run bench:replay [-- --megabytes 1000 --trace FILE]`: a CSV trace of any length through `quotamesh sim replay -`: rows
 * per second, and the most memory that the process ever had. The trace is FILE again and again, its time going on, or without
 * one 2,000 rows a second of 26 bytes; nothing of it touches a disk.
 */
import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { COMMAND_FILE } from '../src/base/package/package-root.js';

const { values } = parseArgs({
  options: {
    megabytes: { type: 'string', default: '1000' },
    trace: { type: 'string' },
    speed: { type: 'string', default: '1' },
    quota: { type: 'string', default: '1500' },
    system: { type: 'string', default: 'max-min' },
  },
});
/** Columns of the traces in question, by their header. */
const FLAGS = ['--time', 'TIMESTAMP', '--bytes', 'ContextTokens+GeneratedTokens'];
/** Told by the process itself at its end: what the kernel says it had at most, in KiB. */
const TELL_PEAK = `process.on('exit',()=>process.stderr.write('peak '+process.resourceUsage().maxRSS+'\\n'))`;
const CHUNK_ROWS = 1000;
const bytesWanted = Number(values.megabytes) * 1e6;
let bytes = 0;
let rows = 0;

const startedMs = performance.now();
const program = [
  '--import',
  `data:text/javascript,${TELL_PEAK}`,
  COMMAND_FILE,
  'sim',
  'replay',
  '-',
  '--json',
  ...FLAGS,
];
/** The quota is told per second of the nodes; the command takes it per second of the file. */
const quota = String(Number(values.quota) / Number(values.speed));
const choice = ['--quota', quota, '--speed', values.speed, '--system', values.system];
const child = spawn(process.execPath, [...program, ...choice], { stdio: ['pipe', 'pipe', 'pipe'] });
const output = { json: '', errors: '' };
child.stdout.on('data', (chunk) => {
  output.json += chunk;
});
child.stderr.on('data', (chunk) => {
  output.errors += chunk;
});
const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
const source = values.trace === undefined ? invented() : repeated(await readTrace(values.trace));
await pipeline(Readable.from(chunksOf(source)), child.stdin);
const code = await exit;
const peakKiB = Number(/^peak (\d+)$/m.exec(output.errors)?.[1]);
if (code !== 0) throw new Error(`sim replay ended with ${code}: ${output.errors}`);
const [run] = JSON.parse(output.json).runs;
if (run.offered !== rows) throw new Error(`${rows} rows were written and ${run.offered} were played`);
const seconds = (performance.now() - startedMs) / 1000;
console.log(
  `${(bytes / 1e6).toFixed(0)} MB, ${rows} rows, ${(run.durationMs / 1000).toFixed(0)} s of traffic on ${run.system}: ` +
    `${seconds.toFixed(0)} s, ${(rows / seconds).toFixed(0)} rows/s, peak ${(peakKiB / 1024).toFixed(0)} MiB resident`,
);

interface Row {
  readonly atMs: number;
  readonly rest: string;
}

function* invented(): Generator<Row> {
  for (let row = 0; ; row++) yield { atMs: 1_700_000_000_000 + row / 2, rest: `,${1000 + (row % 977)},${row % 97}\n` };
}

function* repeated(trace: readonly Row[]): Generator<Row> {
  const first = trace[0];
  const last = trace[trace.length - 1];
  const spanMs = ((last.atMs - first.atMs) * trace.length) / (trace.length - 1);
  for (let round = 0; ; round++) for (const { atMs, rest } of trace) yield { atMs: atMs + round * spanMs, rest };
}

function* chunksOf(source: Generator<Row>): Generator<string> {
  yield 'TIMESTAMP,ContextTokens,GeneratedTokens\n';
  while (bytes < bytesWanted) {
    let chunk = '';
    for (let at = 0; at < CHUNK_ROWS; at++, rows++) {
      const { atMs, rest } = source.next().value as Row;
      chunk += atMs.toFixed(3) + rest;
    }
    bytes += chunk.length;
    yield chunk;
  }
}

/** Timestamps as text, in UTC; the columns behind them stay as they are. */
async function readTrace(file: string): Promise<Row[]> {
  const trace: Row[] = [];
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const comma = line.indexOf(',');
    const atMs = Date.parse(`${line.slice(0, comma).replace(' ', 'T')}Z`);
    if (Number.isFinite(atMs)) trace.push({ atMs, rest: `${line.slice(comma)}\n` });
  }
  return trace;
}
