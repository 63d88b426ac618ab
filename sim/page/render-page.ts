import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { invariant } from '../../src/core/invariant.js';
import { Html, html, jsonIn } from './html.js';
import { labelsOf, type PageRun, pageSeriesOf } from './page-runs.js';
import { verdictTable } from './verdict-table.js';

/**
 * One self-contained page of several runs of a scenario: no network, no fonts, opened from a disk as well as from a
 * server. The same runs give the same bytes.
 *
 * Its content security policy allows the two scripts written here, by their hashes, and nothing else.
 * @param note a sentence under the title
 */
export function renderPage(results: readonly PageRun[], note = ''): string {
  invariant(results.length > 0, 'a page needs a run');
  const script = new Html(`${chart.script}\n${bundle()}`);
  const scriptHash = createHash('sha256').update(script.text).digest('base64');
  const policy = `default-src 'none'; script-src 'sha256-${scriptHash}'; style-src 'unsafe-inline'; img-src data:`;
  const { scenario } = results[0] as PageRun;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${scenario} · quotamesh</title>
<style>
${new Html(`${chart.styles}\n${ownFile('page.css')}`)}</style>
<!-- uPlot ${chart.version}, https://github.com/leeoniya/uPlot, is part of this page under this licence:
${chart.licence}-->
</head>
<body>
${body(results, note)}
<script type="application/json" id="runs">${jsonIn(pageSeriesOf(results))}</script>
<script>${script}</script>
</body>
</html>
`.text;
}

function body(results: readonly PageRun[], note: string): Html {
  const labels = labelsOf(results);
  const first = results[0] as PageRun;
  const systems = results.length === 1 ? labels[0] : `${results.length} systems`;
  const facts = [`${first.durationMs / 1000} s`, `seed ${first.seed}`, `${first.nodes.length} nodes`, systems];
  const noteLine = note === '' ? new Html('') : html`<p class="note">${note}</p>`;
  return html`<header>
<p class="brand">quotamesh <span>simulator</span></p>
<h1 class="name">${first.scenario}</h1>
<p class="facts name">${facts.join(' · ')}</p>
${noteLine}
</header>
<noscript><p class="note">The charts need JavaScript; the verdict below does not.</p></noscript>
<main>
${verdictTable(results, labels)}
${toolbar(results, labels)}
<div class="stage">
<div>
<section id="overview" aria-labelledby="overview-title" hidden>
<h2 id="overview-title">All systems</h2><p id="overview-key" class="key"></p><div id="overview-chart"></div>
</section>
<div id="sides" class="sides"></div>
</div>
<aside aria-labelledby="readout-title">
<h2 id="readout-title">At <output id="readout-time"></output></h2>
<div class="scroll" tabindex="0" role="region" aria-label="Figures of every node at this time"><table id="readout"></table></div>
<p class="hint">Rates per second. Move over a chart, drag the slider, or use ← and → (with Shift: a second). Drag over a part of a chart to enlarge it; a double click shows all of it.</p>
<h2 id="happenings-title" hidden>What happened</h2>
<ol id="happenings"></ol>
</aside>
</div>
</main>`;
}

function toolbar(results: readonly PageRun[], labels: readonly string[]): Html {
  const second = results.length > 1 ? 1 : -1;
  const option = (value: number | string, text: string, isChosen: boolean) =>
    isChosen
      ? html`<option value="${value}" selected>${text}</option>`
      : html`<option value="${value}">${text}</option>`;
  const systems = (chosen: number) => labels.map((label, at) => option(at, label, at === chosen));
  const dimensions = (results[0] as PageRun).series.map(({ dimension }, at) => option(at, dimension, at === 0));
  const means = MEANS_MS.map((ms) => option(ms, ms === 0 ? 'sample' : `${ms / 1000} s`, ms === 1000));
  return html`<div class="toolbar" role="group" aria-label="What is shown">
<label class="side-a">A <select id="left">${systems(0)}</select></label>
<label class="side-b">B <select id="right">${option(-1, 'nothing', second === -1)}${systems(second)}</select></label>
<label>Of <select id="dimension">${dimensions}</select></label>
<label>Mean over <select id="mean">${means}</select></label>
</div>
<div class="timebar">
<p id="now" aria-hidden="true"></p>
<span class="track"><span id="ticks" aria-hidden="true"></span><input type="range" id="time" aria-label="Time" min="0" max="0" step="1" value="0"></span>
<button type="button" id="whole" hidden>Whole run</button>
</div>`;
}

/** 1 s is the window in which over-admission is judged. */
const MEANS_MS = [0, 1000, 5000];

/** The script's modules, in the order in which they need one another. */
const MODULES = ['figures', 'views', 'chart', 'panels', 'readout', 'app'] as const;

/** One script of the modules: without their imports, names of all of them in one scope of its own. */
function bundle(): string {
  const parts = MODULES.map((name) => {
    return ownFile(`browser/${name}.mjs`)
      .replace(/^import [^;]+;\n/gm, '')
      .replace(/^export /gm, '');
  });
  return `(() => {\n'use strict';\n${parts.join('')}})();\n`;
}

function ownFile(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

const chart = loadChart();

function loadChart(): { script: string; styles: string; licence: string; version: string } {
  const folder = dirname(createRequire(import.meta.url).resolve('uplot/package.json'));
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return {
    script: read('dist/uPlot.iife.min.js').trim(),
    styles: read('dist/uPlot.min.css').trim(),
    licence: read('LICENSE'),
    version: (JSON.parse(read('package.json')) as { version: string }).version,
  };
}
