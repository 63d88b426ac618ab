import { largest, trailingMean } from '../../../src/doors/page/browser/figures.mjs';

/**
 * Returns a run as the charts draw it: one dimension, smoothed. Sample k covers the time up to (k + 1) · sampleMs. Its
 * limit was read then, and its trailing mean ends then, so it is drawn there.
 */
export function viewOf(run, dimension, meanMs) {
  const series = run.dimensions[dimension] ?? run.dimensions[0];
  const window = Math.round(meanMs / run.sampleMs);
  const smooth = (node) => ({
    ...node,
    demand: trailingMean(node.demand, window),
    admitted: trailingMean(node.admitted, window),
    refused: trailingMean(node.refused, window),
  });
  return {
    run,
    seconds: series.quota.map((_, at) => ((at + 1) * run.sampleMs) / 1000),
    quota: series.quota,
    total: smooth(series.total),
    nodes: series.nodes.map(smooth),
    bucket: series.bucket,
  };
}

/** Returns a node's column. Where it is the sum of several nodes, this is their mean. */
export function perNode(node, column) {
  if (node.count === 1) return column;
  return column.map((value) => (value === null ? null : value / node.count));
}

/** Returns for each node the sum of all nodes up to it: the upper edges of a stack. */
export function stacked(nodes) {
  const edges = [];
  for (const { admitted } of nodes) {
    const below = edges.at(-1);
    edges.push(below === undefined ? admitted : admitted.map((value, at) => value + below[at]));
  }
  return edges;
}

/** Returns the top of each panel's scale, the same for both sides. A limit far above all demand is cut off. */
export function scalesOf(views) {
  const all = (read) => largest(views.flatMap(read));
  const each = (read) => all(({ nodes }) => nodes.map((node) => perNode(node, node[read])));
  const demand = each('demand');
  const quota = all((view) => [view.quota]);
  const total = all((view) => [view.total.admitted, view.total.demand]);
  const ceiling = 2 * Math.max(quota, demand);
  return {
    total: headroom(Math.max(quota, Math.min(total, 3 * (quota || total)))),
    demand: headroom(demand),
    admitted: headroom(each('admitted')),
    limit: headroom(Math.min(each('limit'), ceiling || each('limit'))),
    tokens: rangeOf(views.flatMap(({ bucket }) => (bucket === null ? [] : [bucket.tokens, bucket.depth]))),
    charged: rangeOf(views.flatMap(({ bucket, nodes }) => (bucket === null ? [] : chargedOf(bucket, nodes)))),
  };
}

/** Returns what each node was charged; where a node is the sum of several, their mean. */
export function chargedOf(bucket, nodes) {
  return nodes.map(({ count }, at) => perNode({ count }, bucket.charged[at]));
}

/** Returns the ends of a scale that holds all columns, and 0; debts are below it. */
function rangeOf(columns) {
  const negated = columns.map((column) => column.map((value) => (value === null ? null : -value)));
  const [most, least] = [largest(columns), -largest(negated)];
  return most === least ? [0, 1] : [least * 1.06, most * 1.06];
}

function headroom(most) {
  return most === 0 ? 1 : most * 1.06;
}

/** Computes line widths: nodes' lines that lie on one another are all seen, the covered ones wider. */
export function lineWidths(columns) {
  const covers = columns.map((column, at) => columns.slice(at + 1).filter((other) => coincide(column, other)).length);
  const step = Math.min(2, WIDEST / Math.max(1, ...covers));
  return covers.map((count) => LINE + step * count);
}

const LINE = 1.5;
/** Twelve lines in one another are still a line. */
const WIDEST = 9;

function coincide(one, other) {
  let [same, known] = [0, 0];
  one.forEach((value, at) => {
    if (value === null || other[at] === null || other[at] === undefined) return;
    known++;
    if (Math.abs(value - other[at]) <= 0.005 * Math.max(Math.abs(value), Math.abs(other[at]))) same++;
  });
  return known > 0 && same * 2 >= known;
}
