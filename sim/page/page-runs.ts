import { invariant } from '../../src/core/base/invariant.js';
import type { BucketSeries, DimensionSeries, NodeSeries, RunResult, Verdict } from '../verdict/run-result.js';

/** A run as the page takes it. A replayed trace has only a part of a verdict, a replayed recording has none. */
export interface PageRun extends Pick<RunResult, Exclude<keyof RunResult, 'verdict' | 'expectations'>> {
  readonly verdict: Partial<Verdict> | null;
}

/** What the page's script reads. Rates are per second, rounded to four significant digits. */
export interface PageSeries {
  readonly label: string;
  readonly durationMs: number;
  readonly sampleMs: number;
  readonly happenings: PageRun['happenings'];
  readonly dimensions: readonly PageDimension[];
  /** Null unless it is a trace whose rows have dates: times are seconds since the start then. */
  readonly clock: { readonly begunMs: number; readonly hasDays: boolean } | null;
}

/** When a trace began by its own clock, UTC, and how fast it was played; times of a run are those of the trace. */
export interface PageClock {
  readonly begunMs: number;
  readonly speed: number;
}

interface PageDimension {
  readonly dimension: string;
  readonly quota: readonly (number | null)[];
  readonly total: PageNode;
  /** At most NODES_MAX. Where there are more nodes, the last one is the sum of `count` nodes. */
  readonly nodes: readonly PageNode[];
  readonly bucket: PageBucket | null;
}

interface PageBucket extends Pick<BucketSeries, 'tokens' | 'depth' | 'setPoint' | 'correction'> {
  /** In the order of `nodes`; the last one is the sum of several, as there. */
  readonly charged: readonly (readonly (number | null)[])[];
}

interface PageNode extends NodeSeries {
  readonly name: string;
  readonly count: number;
}

const DAY_MS = 86_400_000;

/** Eyes tell no more lines apart, and page.css has as many colours. */
export const NODES_MAX = 12;

/**
 * Returns the series of all runs, cut to what one page can show. Of more than 12 nodes it keeps the 11 that asked most
 * in any run, and sums up the rest. So a page of 100 nodes is as large as one of 12.
 */
export function pageSeriesOf(runs: readonly PageRun[], clock: PageClock | null = null): PageSeries[] {
  const shown = nodesShown(runs);
  const labels = labelsOf(runs);
  return runs.map((run, at) => ({
    label: labels[at],
    durationMs: run.durationMs,
    sampleMs: run.sampleMs,
    happenings: run.happenings,
    dimensions: run.series.map((series) => dimensionOf(run, series, shown)),
    clock: clock === null ? null : { begunMs: clock.begunMs, hasDays: run.durationMs > DAY_MS },
  }));
}

/** Names each run by its system, and also by its scenario or seed where these differ between the runs. */
export function labelsOf(runs: readonly PageRun[]): string[] {
  const several = (read: (run: PageRun) => unknown) => new Set(runs.map(read)).size > 1;
  const [scenarios, seeds] = [several((run) => run.scenario), several((run) => run.seed)];
  return runs.map(({ system, scenario, seed }) => {
    return [system, ...(scenarios ? [scenario] : []), ...(seeds ? [`seed ${seed}`] : [])].join(' · ');
  });
}

/** In the order in which the runs first name them. */
function nodesShown(runs: readonly PageRun[]): ReadonlySet<string> {
  const asked = new Map<string, number>();
  for (const run of runs) {
    for (const node of run.nodes) {
      const demand = Math.max(...run.series.map((series) => sum(seriesOf(series, node).demand) / scaleOf(series)), 0);
      asked.set(node, Math.max(asked.get(node) ?? 0, demand));
    }
  }
  const names = [...asked.keys()];
  if (names.length <= NODES_MAX) return new Set(names);
  const most = [...names].sort((one, other) => (asked.get(other) as number) - (asked.get(one) as number));
  const kept = new Set(most.slice(0, NODES_MAX - 1));
  return new Set(names.filter((name) => kept.has(name)));
}

/** The whole demand of a dimension. Divided by it, dimensions compare: a node may ask for few but large messages. */
function scaleOf(series: DimensionSeries): number {
  return Object.values(series.perNode).reduce((total, { demand }) => total + sum(demand), 0) || 1;
}

function dimensionOf(run: PageRun, series: DimensionSeries, shown: ReadonlySet<string>): PageDimension {
  const columns = (names: readonly string[]) => names.map((name) => seriesOf(series, name));
  const rest = run.nodes.filter((name) => !shown.has(name));
  const nodes = [...shown]
    .filter((name) => run.nodes.includes(name))
    .map((name) => ({ ...added(columns([name])), name, count: 1 }));
  const others = { ...added(columns(rest)), name: `${rest.length} others`, count: rest.length };
  return {
    dimension: series.dimension,
    quota: series.quota.map(rounded),
    total: { ...added(columns(run.nodes)), name: 'all nodes', count: run.nodes.length },
    nodes: rest.length === 0 ? nodes : [...nodes, others],
    bucket: series.bucket === undefined ? null : bucketOf(series.bucket, [...nodes.map(({ name }) => [name]), rest]),
  };
}

/** @param names the nodes of each line */
function bucketOf(
  { tokens, depth, setPoint, correction, charged }: BucketSeries,
  names: readonly (readonly string[])[],
): PageBucket {
  const sumOf = (group: readonly string[]) =>
    tokens.map((_, at) => {
      const told = group.map((name) => charged[name]?.[at] ?? null).filter((units) => units !== null);
      return told.length === 0 ? null : rounded(sum(told));
    });
  return {
    tokens: tokens.map(rounded),
    depth: depth.map(rounded),
    setPoint: setPoint.map(rounded),
    correction: correction.map(rounded),
    charged: names.filter((group) => group.length > 0).map(sumOf),
  };
}

function seriesOf(series: DimensionSeries, node: string): NodeSeries {
  invariant(Object.hasOwn(series.perNode, node), 'every node of a run has its columns', { node });
  return series.perNode[node];
}

function added(parts: readonly NodeSeries[]): NodeSeries {
  const length = parts[0]?.demand.length ?? 0;
  const column = (read: (part: NodeSeries) => readonly number[]) => {
    return Array.from({ length }, (_, at) => {
      return rounded(parts.reduce((total, part) => total + read(part)[at], 0)) as number;
    });
  };
  return {
    demand: column(({ demand }) => demand),
    admitted: column(({ admitted }) => admitted),
    refused: column(({ refused }) => refused),
    limit: Array.from({ length }, (_, at) => limitAt(parts, at)),
  };
}

/** The sum of limits is unlimited where one of them is. */
function limitAt(parts: readonly NodeSeries[], at: number): number | null {
  let total = 0;
  for (const { limit } of parts) {
    const own = limit[at] ?? null;
    if (own === null) return null;
    total += own;
  }
  return rounded(total);
}

function sum(column: readonly number[]): number {
  return column.reduce((total, one) => total + one, 0);
}

function rounded(rate: number | null): number | null {
  return rate === null || Number.isInteger(rate) ? rate : Number(rate.toPrecision(4));
}
