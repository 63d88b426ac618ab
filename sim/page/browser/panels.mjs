import { timeChart } from '../../../src/doors/page/browser/chart.mjs';
import { spanOf } from '../../../src/doors/page/browser/elements.mjs';
import { clock } from '../../../src/doors/page/browser/figures.mjs';
import { chargedOf, lineWidths, perNode, stacked } from './views.mjs';

/**
 * Makes the charts of one side, from top to bottom. Returns them as { chart, offset }: the series of the first node,
 * after which those of the others come; null = the chart has none by node.
 */
export function sidePanels({ host, side, view, tops, look, onTime, onZoom }) {
  host.replaceChildren();
  const heading = document.createElement('h2');
  heading.className = `side-title side-${side.toLowerCase()}`;
  heading.append(spanOf('badge', side), spanOf('name', view.run.label));
  host.append(heading);
  const shared = { marks: view.run.happenings, look, onTime, onZoom, ...axisTimes(view.run) };
  const about = (what) => `${what}, ${view.run.label}, over time`;
  const lines = (read) => {
    const columns = view.nodes.map((node) => perNode(node, node[read]));
    const widths = lineWidths(columns);
    const width = (node, at) => (node.count > 1 ? 1 : widths[at]);
    return {
      columns: [view.seconds, ...columns],
      series: view.nodes.map((node, at) => ({ stroke: look.node(node, at), width: width(node, at) })),
    };
  };
  const panel = (title, hint, height, options) => {
    const chartHost = addPanel(host, title, hint);
    return timeChart({ ...shared, ...options, host: chartHost, height, label: about(title) });
  };
  const others = view.nodes.some(({ count }) => count > 1) ? 'grey: mean of the others' : 'lines in one another: equal';
  const limits = { ...lines('limit'), top: tops.limit };
  const charged = { columns: [view.seconds, ...(view.bucket === null ? [] : chargedOf(view.bucket, view.nodes))] };
  return [
    { chart: panel('Admitted against the quota', KEY, 236, totalOf(view, tops, look)), offset: 1 },
    { chart: panel('Limit of each node', others, 158, limits), offset: 1 },
    { chart: panel('Demand of each node', others, 158, { ...lines('demand'), top: tops.demand }), offset: 1 },
    { chart: panel('Admitted at each node', others, 158, { ...lines('admitted'), top: tops.admitted }), offset: 1 },
    ...(view.bucket === null
      ? []
      : [
          { chart: panel("Tokens in the cluster's bucket", TOKENS_KEY, 158, levelOf(view, tops, look)), offset: null },
          {
            chart: panel('Charged to each node', CHARGED_KEY, 158, {
              ...lines('admitted'),
              ...charged,
              range: tops.charged,
            }),
            offset: 1,
          },
        ]),
  ];
}

/** Writes times of a trace by its clock, wider than seconds are. */
function axisTimes({ clock: since }) {
  if (since === null) return {};
  return { timeText: (seconds) => clock(seconds, 1000, since), timeSpace: since.hasDays ? 110 : 76 };
}

const TOKENS_KEY = 'below 0: a debt · dashed: set point · thin: depth';
const CHARGED_KEY = 'taken beyond what was expected of it, in all';

function levelOf({ seconds, bucket }, tops, look) {
  return {
    columns: [seconds, bucket.tokens, bucket.depth, bucket.setPoint],
    series: [
      { stroke: look.colour('ink'), width: 1.5 },
      { stroke: look.colour('muted'), width: 1 },
      { stroke: look.colour('muted'), width: 1.5, dash: [7, 5] },
    ],
    range: tops.tokens,
  };
}

const KEY = 'filled: nodes, stacked · dashed: quota · thin: demand';

function totalOf(view, tops, look) {
  const edges = stacked(view.nodes);
  const stack = view.nodes.map((node, at) => {
    const fill = `${look.node(node, at)}b8`;
    return { stroke: look.node(node, at), width: 0.5, ...(at === 0 ? { fill } : {}) };
  });
  return {
    columns: [view.seconds, ...edges, view.total.demand, view.quota],
    series: [
      ...stack,
      { stroke: look.colour('muted'), width: 1 },
      { stroke: look.colour('ink'), width: 2, dash: [7, 5] },
    ],
    bands: view.nodes.slice(1).map((node, at) => ({ series: [at + 2, at + 1], fill: `${look.node(node, at + 1)}b8` })),
    top: tops.total,
  };
}

/** Makes a chart of all runs; the two chosen ones stand out. */
export function overviewPanel({ host, views, chosen, look, top, onTime, onZoom }) {
  host.replaceChildren();
  const order = views.map((_, at) => at).sort((one, other) => weight(one, chosen) - weight(other, chosen));
  const series = order.map((at) => {
    if (at === chosen[0]) return { stroke: look.colour('side-a'), width: 2 };
    return at === chosen[1] ? { stroke: look.colour('side-b'), width: 2 } : { stroke: look.colour('rest'), width: 1 };
  });
  return timeChart({
    host,
    label: 'Total admitted by every system, over time',
    height: 190,
    columns: [views[0].seconds, ...order.map((at) => views[at].total.admitted), views[0].quota],
    series: [...series, { stroke: look.colour('ink'), width: 2, dash: [7, 5] }],
    marks: views[chosen[0]].run.happenings,
    top,
    look,
    onTime,
    onZoom,
    ...axisTimes(views[0].run),
  });
}

/** Orders the runs: the chosen ones are drawn last, above the others. */
function weight(at, chosen) {
  return chosen.includes(at) ? 2 - chosen.indexOf(at) : 0;
}

function addPanel(host, title, hint) {
  const figure = document.createElement('figure');
  const caption = document.createElement('figcaption');
  caption.append(spanOf('title', title), spanOf('hint', hint));
  const chartHost = document.createElement('div');
  figure.append(caption, chartHost);
  host.append(figure);
  return chartHost;
}
