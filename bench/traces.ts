/**
 * `npm run bench:traces [-- PATH… --time TIMESTAMP --key key --per-second 1000 --nodes 3,5,10,30]`: recorded traffic on
 * nodes that share tokens, beside one central bucket that sees every request, with a quota of 90 % of the mean. Without a
 * file it plays the trace that the repository has.
 *
 * A file whose header has the column of --key is spread over the nodes by it, others by a hash of the row. Both clusters have
 * been idle before, so their buckets are full at the first row. Virtual time: a busy machine only takes longer.
 */
import { createReadStream, readdirSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { WorldSettings } from '../sim/cluster/world.js';
import { PACKAGE_ROOT } from '../src/base/package/package-root.js';
import { VERSION } from '../src/base/package/version.js';
import { resolveConfig } from '../src/config/read/resolve-config.js';
import { quantileOf } from '../src/tools/load/quantile.js';
import type { Cell, CellFigures } from './traces/cell.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    time: { type: 'string', default: 'TIMESTAMP' },
    key: { type: 'string', default: 'key' },
    'per-second': { type: 'string', default: '1000' },
    quota: { type: 'string', default: '0.9' },
    rows: { type: 'string', default: '10000' },
    copies: { type: 'string', default: '4' },
    nodes: { type: 'string', default: '3,5,10,30' },
    by: { type: 'string', default: 'key,round-robin' },
    /** Milliseconds; `rows`: each row when the file says. */
    steps: { type: 'string', default: '1000,100' },
    delivery: { type: 'string', default: '5,50,200' },
    /** Draws what is noise: times within a step, and the nodes of rows without a key. */
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: String(availableParallelism()) },
  },
});

/** What is wished for; the third holds for the median of all cells of a delivery. */
const OVER_5S_MAX = 0.025;
const OVER_5S_FAR_MAX = 0.03;
const FAR_MS = 200;
const SECOND_ABOVE_CENTRAL_MAX = 0.05;
const USED_MIN = 0.99;

interface Row extends CellFigures {
  readonly cell: Cell;
}

const bundled = fileURLToPath(new URL('examples/traces/azure-llm-code-2023.csv', PACKAGE_ROOT));
const cells = await cellsOf(positionals.length > 0 ? positionals.flatMap(tracesIn) : [bundled]);
const workers = Math.min(Number(values.workers), availableParallelism());
const { 'per-second': perSecond, quota } = values;
console.log(
  `${perSecond} requests/s on the mean, ${values.copies} for each row, quota ${quota} of it; pairs are the cluster / one central bucket.\n`,
);
const HEAD = ['trace', 'nodes', 'by', 'step', 'delivery', 'over 5 s', 'worst second', 'used', 'admitted', 'records'];
table([...HEAD, 'missed'], []);
const rows = await playAll(cells, workers);
summary('trace', ({ trace, rows: count, seconds }) => `${trace} (${count} rows, ${seconds.toFixed(0)} s)`);
summary('nodes', ({ cell }) => String(cell.nodes));
summary('by', ({ cell }) => cell.by);
summary('all', () => 'all');

function tracesIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => name.endsWith('.csv'));
  return names.sort().map((name) => join(path, name));
}

async function cellsOf(files: readonly string[]): Promise<Cell[]> {
  const all: Cell[] = [];
  for (const file of files) {
    const byKey = (await headerOf(file)).includes(values.key) ? values.key : 'hash';
    for (const steps of values.steps.split(',')) {
      for (const deliveryMs of numbers(values.delivery)) {
        for (const nodes of numbers(values.nodes)) {
          for (const by of values.by.split(',')) {
            all.push({
              file,
              time: values.time,
              nodes,
              by: by === 'key' ? byKey : by,
              stepMs: steps === 'rows' ? null : Number(steps),
              deliveryMs,
              perSecond: Number(values['per-second']),
              quotaRatio: Number(values.quota),
              rows: Number(values.rows),
              copies: Number(values.copies),
              seed: Number(values.seed),
              settings: settingsOfNodes(),
            });
          }
        }
      }
    }
  }
  return all;
}

async function headerOf(file: string): Promise<readonly string[]> {
  for await (const line of createInterface({ input: createReadStream(file) })) return line.split(',');
  return [];
}

/** The defaults of a node: a group that shares tokens. */
function settingsOfNodes(): WorldSettings {
  const raw = { cluster: 'traces', topic: 'memory', groups: { trace: {} } };
  const { cluster, timing, sampleIntervalMs, limiting, costs, groups } = resolveConfig(raw, { source: '(traces)' });
  return { ...timing, cluster, sampleIntervalMs, limiting, costs, groups, version: VERSION, partitions: 1 };
}

/** Prints in the order of the cells, whichever thread is done first. */
async function playAll(all: readonly Cell[], threads: number): Promise<Row[]> {
  const played: Row[] = [];
  let printed = 0;
  let next = 0;
  const work = async () => {
    const thread = new Worker(new URL('./traces/thread.js', import.meta.url));
    await new Promise<void>((resolve, reject) => {
      let at = -1;
      const send = () => {
        at = next++;
        if (at >= all.length) resolve();
        else thread.postMessage(all[at]);
      };
      thread.on('message', (figures: CellFigures) => {
        played[at] = { cell: all[at], ...figures };
        for (let row = played[printed]; row !== undefined; row = played[++printed]) tableRow(inColumns(row));
        send();
      });
      thread.once('error', reject);
      thread.once('exit', (code) => reject(new Error(`a thread has ended with code ${code}`)));
      send();
    }).finally(() => thread.terminate());
  };
  await Promise.all(Array.from({ length: threads }, work));
  return played;
}

function inColumns(row: Row): string[] {
  const { cell, trace, cluster, central } = row;
  return [
    trace,
    String(cell.nodes),
    cell.by,
    stepName(cell),
    `${cell.deliveryMs} ms`,
    `${percent(cluster.over5s)} / ${percent(central.over5s)}`,
    `${cluster.worstSecond.toFixed(2)} / ${central.worstSecond.toFixed(2)}`,
    `${percent(cluster.used)} / ${percent(central.used)}`,
    `${cluster.admitted} / ${central.admitted}`,
    row.recordsPerSecondAndNode.toFixed(2),
    missedBy(row).join(', '),
  ];
}

/** One row for what is alike, at each step and delivery. */
function summary(name: string, of: (row: Row) => string): void {
  const grouped = new Map<string, Row[]>();
  for (const row of rows) {
    const key = `${of(row)}|${stepName(row.cell)}|${row.cell.deliveryMs} ms`;
    grouped.set(key, [...(grouped.get(key) ?? []), row]);
  }
  console.log('\nmin / median / max');
  table(
    [name, 'step', 'delivery', 'over 5 s', 'central', 'second above central', 'used', 'of central', 'missed'],
    [...grouped].map(([key, alike]) => [
      ...key.split('|'),
      spread(alike, ({ cluster }) => 100 * cluster.over5s, 1, ' %'),
      spread(alike, ({ central }) => 100 * central.over5s, 1, ' %'),
      spread(alike, ({ cluster, central }) => cluster.worstSecond - central.worstSecond, 2),
      spread(alike, ({ cluster }) => 100 * cluster.used, 1, ' %'),
      spread(alike, ({ cluster, central }) => (100 * cluster.admitted) / central.admitted, 1, ' %'),
      `${alike.filter((row) => missedBy(row).length > 0).length} of ${alike.length}`,
    ]),
  );
}

function missedBy({ cell, cluster, central }: Row): string[] {
  const overMax = cell.deliveryMs >= FAR_MS ? OVER_5S_FAR_MAX : OVER_5S_MAX;
  const missed = [
    { what: 'over 5 s', isMissed: cluster.over5s > overMax },
    { what: 'second', isMissed: cluster.worstSecond > central.worstSecond + SECOND_ABOVE_CENTRAL_MAX },
    { what: 'used', isMissed: cluster.used < USED_MIN },
  ];
  return missed.filter(({ isMissed }) => isMissed).map(({ what }) => what);
}

function spread(alike: readonly Row[], read: (row: Row) => number, digits: number, unit = ''): string {
  const all = alike.map(read);
  return [0, 0.5, 1].map((part) => quantileOf(all, part).toFixed(digits)).join(' / ') + unit;
}

function stepName({ stepMs }: Cell): string {
  return stepMs === null ? 'rows' : `${stepMs} ms`;
}

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}

function table(head: readonly string[], body: readonly (readonly string[])[]): void {
  for (const row of [head, head.map(() => '---'), ...body]) tableRow(row);
}

function tableRow(row: readonly string[]): void {
  console.log(`| ${row.join(' | ')} |`);
}

function numbers(text: string): number[] {
  return text.split(',').map(Number);
}
