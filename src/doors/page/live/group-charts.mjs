import { largest } from '../browser/figures.mjs';
import { addChart } from './blocks.mjs';

/** The moving charts of one direction of a group. They are made anew when a node gets a line, and moved otherwise. */
export class GroupCharts {
  constructor(host, { onTime }) {
    Object.assign(this, { host, onTime, charts: [], lines: '' });
  }

  draw(past, look) {
    if (past.times.length < 2) return;
    const lines = `${[...past.nodes.keys()].join('\n')}\n${past.columns.tokens.some((value) => value !== null)}`;
    const panels = panelsOf(past, look);
    if (lines !== this.lines || look !== this.look) {
      this.end();
      this.host.replaceChildren();
      const shared = { look, onTime: this.onTime };
      this.charts = panels.map((panel) => {
        return addChart(this.host, { ...shared, ...panel, label: `${panel.title} over the last minutes` });
      });
    }
    this.lines = lines;
    this.look = look;
    for (const [at, { columns, range }] of panels.entries()) this.charts[at].show(columns, ...range);
  }

  showTime(seconds) {
    for (const chart of this.charts) chart.showTime(seconds);
  }

  end() {
    for (const chart of this.charts) chart.end();
    this.charts = [];
  }
}

function panelsOf(past, look) {
  const { times, columns } = past;
  const line = (name, width, dash) => ({ stroke: look.colour(name), width, spanGaps: true, ...(dash && { dash }) });
  const panel = (title, hint, height, drawn, series) => {
    const most = largest(drawn);
    const least = Math.min(0, -largest(drawn.map((column) => column.map((value) => (value === null ? null : -value)))));
    return {
      title,
      hint,
      height,
      columns: [times, ...drawn],
      series,
      range: [least * 1.06, most === 0 ? 1 : most * 1.06],
    };
  };
  const asked = [columns.wanted, columns.admitted, columns.quota];
  const askedLines = [line('side-b', 1.5), line('side-a', 2), line('ink', 1.5, [7, 5])];
  const hasTokens = columns.tokens.some((value) => value !== null);
  return [
    sharesPanel(past, look),
    panel('Wanted and admitted', 'orange: wanted · blue: admitted · dashed: quota', 170, asked, askedLines),
    ...(hasTokens
      ? [panel("Tokens in the cluster's bucket", 'below 0: a debt', 170, [columns.tokens], [line('best', 1.5)])]
      : []),
    panel('Refused by this node', 'per second', 170, [columns.refused], [line('over', 1.5)]),
  ];
}

/** Shares of all nodes, one on another: the upper edge is what the cluster may do. */
function sharesPanel({ times, columns, nodes }, look) {
  const named = [...nodes.keys()].filter((nodeId) => nodeId !== '');
  const order = nodes.has('') ? [...named, ''] : named;
  const colours = order.map((nodeId, at) => (nodeId === '' ? look.colour('rest') : look.colour(`node-${at}`)));
  const edges = [];
  for (const nodeId of order) {
    const below = edges.at(-1);
    edges.push(nodes.get(nodeId).map((share, at) => (share ?? 0) + (below?.[at] ?? 0)));
  }
  const top = largest([...edges, columns.quota]) * 1.08 || 1;
  const stack = colours.map((colour, at) => ({
    stroke: colour,
    width: 0.5,
    ...(at === 0 ? { fill: `${colour}b8` } : {}),
  }));
  return {
    title: 'Shares of all nodes',
    hint: 'one on another · dashed: quota',
    height: 280,
    isWide: true,
    columns: [times, ...edges, columns.quota],
    series: [...stack, { stroke: look.colour('ink'), width: 2, dash: [7, 5], spanGaps: true }],
    bands: colours.slice(1).map((colour, at) => ({ series: [at + 2, at + 1], fill: `${colour}b8` })),
    range: [0, top],
  };
}
