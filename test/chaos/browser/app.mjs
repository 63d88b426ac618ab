import { timeChart } from '../../../src/doors/page/browser/chart.mjs';
import { clock, rate } from '../../../src/doors/page/browser/figures.mjs';
import { theme } from '../../../src/doors/page/browser/theme.mjs';

const element = (id) => document.getElementById(id);
const { groups, seconds, faults, broken, slideMs } = JSON.parse(element('run').textContent);
let charts = [];
let zoom = null;

/** Draws everything: at the start, and after another colour scheme. */
function build() {
  for (const chart of charts) chart.end();
  const look = theme();
  const stripes = faults.map(({ fromMs, toMs, scope }) => ({ fromMs, toMs, colour: colourOf(scope, look) }));
  charts = groups.map((group, at) => {
    const host = element(`chart-${at}`);
    host.replaceChildren();
    const wrong = broken
      .filter(({ group: of }) => of === at)
      .map(({ fromMs, toMs }) => ({ fromMs, toMs, colour: '#d0000066' }));
    return timeChart({
      host,
      look,
      height: 190,
      label: `${group.name}: admitted and flowed in over time`,
      top: group.top,
      columns: [seconds, group.inflow, group.admitted, group.shares, seconds.map(() => group.quota)],
      series: [
        { stroke: look.colour('node-3'), width: 1.5, fill: `${look.colour('best')}14` },
        { stroke: look.colour('node-0'), width: 2 },
        { stroke: look.colour('muted'), width: 1 },
        { stroke: look.colour('ink'), width: 1, dash: [7, 5] },
      ],
      marks: faults.map(({ fromMs }) => ({ atMs: fromMs })),
      spans: [...stripes, ...wrong],
      onTime: showTime,
      onZoom: zoomed,
    });
  });
  if (zoom !== null) for (const chart of charts) chart.zoom(...zoom);
}

/** Two hexadecimal digits more make a colour transparent. */
function colourOf(scope, look) {
  const names = { alone: 'node-1', topic: 'node-5', process: 'node-2' };
  return `${look.colour(names[scope])}2e`;
}

function zoomed(min, max) {
  if (zoom !== null && zoom[0] === min && zoom[1] === max) return;
  zoom = [min, max];
  for (const chart of charts) chart.zoom(min, max);
}

function showTime(atSeconds) {
  const at = Math.max(0, Math.min(seconds.length - 1, Math.round(((atSeconds - seconds[0]) * 1000) / slideMs)));
  for (const chart of charts) chart.showTime(seconds[at]);
  const inForce = faults
    .map((fault, index) => ({ ...fault, number: index + 1 }))
    .filter(({ fromMs, toMs }) => fromMs <= seconds[at] * 1000 && toMs >= seconds[at] * 1000)
    .map(({ number, what, whom }) => `${number} ${what} ${whom}`.trim());
  const figures = groups.map(({ name, admitted, inflow }) => `${name} ${rate(admitted[at])} of ${rate(inflow[at])}`);
  const about = inForce.length === 0 ? 'nothing is wrong' : inForce.join(', ');
  element('now').textContent = `${clock(seconds[at], slideMs)}: ${figures.join(' · ')} · ${about}`;
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', build);
element('whole').addEventListener('click', () => zoomed(0, seconds.at(-1)));
for (const button of document.querySelectorAll('button[data-at]')) {
  button.addEventListener('click', () => {
    const at = Number(button.dataset.at);
    zoomed(Math.max(0, at - 15), Math.min(seconds.at(-1), at + 40));
    showTime(at);
  });
}
build();
