import { spanOf } from '../../../src/doors/page/browser/elements.mjs';
import { clock, largest, rate } from '../../../src/doors/page/browser/figures.mjs';
import { theme, themeButton } from '../../../src/doors/page/browser/theme.mjs';
import { overviewPanel, sidePanels } from './panels.mjs';
import { buildReadout } from './readout.mjs';
import { scalesOf, viewOf } from './views.mjs';

const element = (id) => document.getElementById(id);
const runs = JSON.parse(element('runs').textContent);
const state = { left: 0, right: runs.length > 1 ? 1 : -1, dimension: 0, meanMs: 1000, index: 0, zoom: null };
let charts = [];
let shown = [];
let overview = [];
let updateReadout = () => undefined;
let isPlanned = false;

/** Draws everything anew, after another choice or in another colour scheme. */
function build() {
  for (const { chart } of charts) chart.end();
  charts = [];
  const look = theme();
  const view = (at) => viewOf(runs[at], state.dimension, state.meanMs);
  const chosen = [state.left, state.right].filter((at) => at !== -1);
  shown = chosen.map(view);
  const onTime = (seconds) => moveTo(Math.round((seconds * 1000) / shown[0].run.sampleMs) - 1);
  const shared = { look, onTime, onZoom: zoomed };
  buildSides(shared);
  buildOverview(shared, view, chosen);
  const sides = ['A', 'B'].slice(0, shown.length);
  updateReadout = buildReadout({ table: element('readout'), views: shown, sides, look, onFocus: focus });
  markRows();
  listHappenings();
  const last = shown[0].seconds.length - 1;
  element('time').max = String(last);
  state.index = Math.min(state.index, last);
  if (state.zoom !== null) for (const { chart } of charts) chart.zoom(...state.zoom);
  showTime();
  // uPlot lays a chart out after this turn; only then does a time have an x in it.
  moveTo(state.index);
}

function buildSides(shared) {
  const host = element('sides');
  host.className = `sides of-${shown.length}`;
  const tops = scalesOf(shown);
  // Appended first: a chart is as wide as its host.
  const hosts = shown.map(() => document.createElement('section'));
  host.replaceChildren(...hosts);
  shown.forEach((view, at) => {
    charts.push(...sidePanels({ ...shared, host: hosts[at], side: 'AB'[at], view, tops }));
  });
}

/**
 * Draws all systems in one chart. It is hidden for two systems, which the sides show already, and for runs of unlike
 * lengths.
 */
function buildOverview(shared, view, chosen) {
  const section = element('overview');
  const comparable = runs.every(({ sampleMs, durationMs }) => {
    return sampleMs === runs[0].sampleMs && durationMs === runs[0].durationMs;
  });
  section.hidden = runs.length < 3 || !comparable;
  overview = section.hidden ? [] : runs.map((_, at) => view(at));
  if (section.hidden) return;
  const most = largest(overview.flatMap(({ total, quota }) => [total.admitted, quota]));
  const host = element('overview-chart');
  charts.push({ chart: overviewPanel({ ...shared, host, views: overview, chosen, top: most * 1.06 }), offset: null });
}

function focus(node) {
  for (const { chart, offset } of charts) if (offset !== null) chart.focus(node === null ? null : node + offset);
}

function zoomed(min, max) {
  const { seconds } = shown[0];
  const isWhole = min <= seconds[0] && max >= seconds.at(-1);
  if (state.zoom === null ? isWhole : state.zoom[0] === min && state.zoom[1] === max) return;
  state.zoom = isWhole ? null : [min, max];
  element('whole').hidden = isWhole;
  for (const { chart } of charts) chart.zoom(min, max);
  moveTo(state.index);
}

function moveTo(index) {
  state.index = Math.max(0, Math.min(index, shown[0].seconds.length - 1));
  if (isPlanned) return;
  isPlanned = true;
  requestAnimationFrame(() => {
    isPlanned = false;
    showTime();
  });
}

function showTime() {
  const [view] = shown;
  const { index } = state;
  const seconds = view.seconds[index];
  const text = clock(seconds, view.run.sampleMs, view.run.clock);
  const quota = `quota ${rate(view.quota[index])}`;
  const totals = shown.map(({ total: { admitted } }, at) => `${'AB'[at]} ${rate(admitted[index])}`);
  for (const { chart } of charts) chart.showTime(seconds);
  updateReadout(index);
  element('buckets').replaceChildren(...shown.flatMap((view, at) => bucketLine(view, 'AB'[at], index)));
  element('readout-time').textContent = text;
  const slider = element('time');
  slider.value = String(index);
  slider.setAttribute('aria-valuetext', `${text}: admitted ${totals.join(', ')}, ${quota}`);
  const spans = totals.map((total, at) => spanOf(`side-${'ab'[at]}`, total));
  element('now').replaceChildren(spanOf('when', text), ...spans, spanOf('quota', quota));
  const parts = overview.map(({ run, total: { admitted } }, at) => {
    return spanOf(`name${classOfRun(at)}`, `${run.label} ${rate(admitted[index])}`);
  });
  element('overview-key').replaceChildren(...parts);
}

/** Writes the content of the cluster's bucket; nothing where the nodes have none in common. */
function bucketLine({ bucket }, side, index) {
  const tokens = bucket?.tokens[index] ?? null;
  if (tokens === null) return [];
  const { depth, setPoint, correction } = bucket;
  const corrected = `${correction[index] > 0 ? '+' : ''}${rate(correction[index])}/s`;
  const level = `${rate(tokens)} of ${rate(depth[index])} tokens${tokens < 0 ? ', a debt' : ''}`;
  const line = document.createElement('p');
  line.textContent = `${side}: ${level}; set point ${rate(setPoint[index])}, correction ${corrected}`;
  return [line];
}

function classOfRun(at) {
  if (at === state.left) return ' side-a';
  return at === state.right ? ' side-b' : '';
}

function markRows() {
  for (const row of document.querySelectorAll('.verdict tbody tr[data-run]')) {
    const at = Number(row.dataset.run);
    row.className = classOfRun(at).trim();
    row.querySelector('.badge').textContent = at === state.left ? 'A' : at === state.right ? 'B' : '';
  }
}

function listHappenings() {
  const { happenings, durationMs, sampleMs } = shown[0].run;
  element('happenings-title').hidden = happenings.length === 0;
  element('happenings').replaceChildren(
    ...happenings.map(({ atMs, says }) => {
      const item = document.createElement('li');
      const button = Object.assign(document.createElement('button'), { type: 'button', textContent: says });
      button.className = 'name';
      button.addEventListener('click', () => moveTo(Math.round(atMs / sampleMs)));
      item.append(button);
      return item;
    }),
  );
  element('ticks').replaceChildren(
    ...happenings.map(({ atMs }) => {
      const tickMark = document.createElement('i');
      tickMark.style.left = `${(100 * atMs) / durationMs}%`;
      return tickMark;
    }),
  );
}

function choose(key, id) {
  element(id).addEventListener('change', (event) => {
    state[key] = Number(event.target.value);
    build();
  });
}

function listen() {
  choose('left', 'left');
  choose('right', 'right');
  choose('dimension', 'dimension');
  choose('meanMs', 'mean');
  element('time').addEventListener('input', (event) => moveTo(Number(event.target.value)));
  element('whole').addEventListener('click', () => zoomed(shown[0].seconds[0], shown[0].seconds.at(-1)));
  for (const button of document.querySelectorAll('.pick')) {
    button.addEventListener('click', () => {
      const at = Number(button.dataset.run);
      if (runs.length < 2 || at === state.left) return;
      state.right = at;
      element('right').value = String(at);
      build();
    });
  }
  document.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest('select, .scroll')) return;
    event.preventDefault();
    moveTo(state.index + step * (event.shiftKey ? Math.round(1000 / shown[0].run.sampleMs) || 1 : 1));
  });
  // uPlot hides its cursor when the pointer leaves a chart; the chosen time stays.
  element('sides').addEventListener('pointerout', () => moveTo(state.index));
  themeButton(element('theme'), build);
}

state.meanMs = Number(element('mean').value);
state.index = Math.floor(runs[0].dimensions[0].quota.length / 2);
build();
listen();
