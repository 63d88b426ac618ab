import { invariant } from '../../src/core/base/invariant.js';
import type { BucketSeries, DimensionSeries, NodeSeries, RunResult, Verdict } from '../verdict/run-result.js';

/** Run for a page; a trace has part of a verdict, a recording none. */
export interface PageRun extends Omit<RunResult, 'verdict' | 'expectations'> {
  readonly verdict: Partial<Verdict> | null;
}

/** Series for the page's script: per second, four significant digits. */
interface PageSeries {
  readonly label: string;
  readonly durationMs: number;
  readonly sampleMs: number;
  readonly happenings: PageRun['happenings'];
  readonly dimensions: readonly PageDimension[];
  readonly clock: { readonly begunMs: number; readonly hasDays: boolean } | null;
}

/** Begin and speed of a dated trace, UTC; run times are the trace's. */
export interface PageClock {
  readonly begunMs: number;
  readonly speed: number;
}

interface PageDimension {
  readonly dimension: string;
  readonly quota: readonly (number | null)[];
  readonly total: PageNode;
  readonly nodes: readonly PageNode[];
  readonly bucket: PageBucket | null;
}

interface PageBucket extends Pick<BucketSeries, 'tokens' | 'depth' | 'setPoint' | 'correction'> {
  readonly charged: readonly (readonly (number | null)[])[];
}

interface PageNode extends NodeSeries {
  readonly name: string;
  readonly count: number;
}

const DAY_MS = 86_400_000;

/** Most nodes: eyes tell no more lines apart. */
export const NODES_MAX = 12;

/** Cuts series to one page: of more than 12 nodes the 11 most demanding, and the sum. */
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

/** Names runs by system, and by scenario or seed where those differ. */
export function labelsOf(runs: readonly PageRun[]): string[] {
  const several = (read: (run: PageRun) => unknown) => new Set(runs.map(read)).size > 1;
  const [scenarios, seeds] = [several((run) => run.scenario), several((run) => run.seed)];
  return runs.map(({ system, scenario, seed }) => {
    return [system, ...(scenarios ? [scenario] : []), ...(seeds ? [`seed ${seed}`] : [])].join(' · ');
  });
}

/** Lists nodes as runs first name them. */
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

/** Sums a dimension's demand, by which dimensions compare. */
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

/** @param names nodes of each line */
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

/** Sums limits; one unlimited makes all so. */
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
