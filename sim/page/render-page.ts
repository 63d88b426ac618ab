import { readFileSync } from 'node:fs';
import { invariant } from '../../src/core/base/invariant.js';
import { Html, html } from '../../src/doors/page/html.js';
import { selfContainedPage } from '../../src/doors/page/self-contained-page.js';
import { frontierSection, type PageFrontier } from './frontier-section.js';
import { keySection, type PageKeys } from './key-table.js';
import { labelsOf, type PageClock, type PageRun, pageSeriesOf } from './page-runs.js';
import { verdictTable } from './verdict-table.js';

/** Further sections of a page; null = none. */
interface PageSections {
  readonly keys?: PageKeys | null;
  readonly frontier?: PageFrontier | null;
}

/**
 * Renders runs as one self-contained page; same runs, same bytes.
 *
 * @param note a sentence under the title
 * @param clock that of a trace whose rows have dates
 */
export function renderPage(
  results: readonly PageRun[],
  note = '',
  clock: PageClock | null = null,
  { keys = null, frontier = null }: PageSections = {},
): string {
  invariant(results.length > 0, 'a page needs a run');
  return selfContainedPage({
    title: results[0].scenario,
    body: body(results, note, clock, [
      ...(frontier === null ? [] : [frontierSection(frontier)]),
      verdictTable(results, labelsOf(results)),
      ...(keys === null ? [] : [keySection(keys, labelsOf(results))]),
    ]),
    values: { runs: pageSeriesOf(results, clock) },
    modules: MODULES.map((name) => new URL(`browser/${name}.mjs`, import.meta.url)),
    styles: readFileSync(new URL('run.css', import.meta.url), 'utf8'),
  });
}

function body(results: readonly PageRun[], note: string, clock: PageClock | null, sections: readonly Html[]): Html {
  const labels = labelsOf(results);
  const first = results[0];
  const systems = results.length === 1 ? labels[0] : `${results.length} systems`;
  const facts = [
    `${first.durationMs / 1000} s`,
    // Recorded topics have no seed and no verdict.
    ...(first.verdict === null ? [] : [`seed ${first.seed}`]),
    `${first.nodes.length} nodes`,
    systems,
    ...(clock === null ? [] : [beginText(clock)]),
  ];
  const noteLine = note === '' ? new Html('') : html`<p class="note">${note}</p>`;
  return html`<header>
<p class="brand">quotamesh <span>simulator</span><button type="button" class="plain" id="theme"></button></p>
<h1 class="name">${first.scenario}</h1>
<p class="facts name">${facts.join(' · ')}</p>
${noteLine}
</header>
<noscript><p class="note">The charts need JavaScript; the verdict below does not.</p></noscript>
<main>
${sections}
${toolbar(results, labels)}
<div class="stage">
<div>
<section id="overview" aria-labelledby="overview-title" hidden>
<h2 id="overview-title">All systems</h2><p id="overview-key" class="key"></p><div id="overview-chart"></div>
</section>
<div id="sides" class="sides"></div>
</div>
<aside aria-labelledby="readout-title">
<div>
<h2 id="readout-title">At <output id="readout-time"></output></h2>
<div class="scroll" tabindex="0" role="region" aria-label="Figures of every node at this time"><table id="readout"></table></div>
<div id="buckets"></div>
</div>
<div>
<p class="hint">Rates per second. Move over a chart, drag the slider, or use ← and → (with Shift: a second). Drag over a part of a chart to enlarge it; a double click shows all of it.</p>
<h2 id="happenings-title" hidden>What happened</h2>
<ol id="happenings"></ol>
</div>
</aside>
</div>
</main>`;
}

function beginText({ begunMs, speed }: PageClock): string {
  const began = new Date(begunMs).toISOString().slice(0, 19).replace('T', ' ');
  return `begins ${began} UTC${speed === 1 ? '' : `, played ${speed} times as fast`}`;
}

function toolbar(results: readonly PageRun[], labels: readonly string[]): Html {
  const second = results.length > 1 ? 1 : -1;
  const option = (value: number | string, text: string, isChosen: boolean) =>
    isChosen
      ? html`<option value="${value}" selected>${text}</option>`
      : html`<option value="${value}">${text}</option>`;
  const systems = (chosen: number) => labels.map((label, at) => option(at, label, at === chosen));
  const dimensions = results[0].series.map(({ dimension }, at) => option(at, dimension, at === 0));
  const { sampleMs } = results[0];
  const means = MEANS_MS.filter((ms) => ms === 0 || ms > sampleMs).map((ms) => {
    return option(ms, ms === 0 ? `a sample, ${sampleMs / 1000} s` : `${ms / 1000} s`, ms === 1000);
  });
  return html`<div class="toolbar" role="group" aria-label="What is shown">
<label class="side-a">A <select id="left">${systems(0)}</select></label>
<label class="side-b">B <select id="right">${option(-1, 'nothing', second === -1)}${systems(second)}</select></label>
<label>Of <select id="dimension">${dimensions}</select></label>
<label>Mean over <select id="mean">${means}</select></label>
</div>
<div class="timebar">
<p id="now" aria-hidden="true"></p>
<span class="track"><span id="ticks" aria-hidden="true"></span><input type="range" id="time" aria-label="Time" min="0" max="0" step="1" value="0"></span>
<button type="button" class="plain" id="whole" hidden>Whole run</button>
</div>`;
}

/** Spans of trailing means, ms, above a sample. */
const MEANS_MS = [0, 1000, 5000];

/** Modules in order of need. */
const MODULES = ['views', 'panels', 'readout', 'app'] as const;
