import { readFileSync } from 'node:fs';
import { type Html, html } from '../../src/doors/page/html.js';
import { selfContainedPage } from '../../src/doors/page/self-contained-page.js';
import { isAbove } from './accounts.js';
import { FAULTS } from './fault-table.js';
import { whom } from './happened.js';
import { WINDOW_MS } from './promises.js';
import { factsOf, reportTables, type Table } from './report.js';
import { shareSums } from './share-sums.js';
import type { Evidence, Verdict } from './verdict.js';
import { isBroken, SLIDE_MS } from './windows.js';
import { GROUPS } from './workload.js';

/** The run as one self-contained page: what was admitted and flowed in in every window of 5 s, with the faults as stripes. */
export function renderChaosPage(evidence: Evidence, verdict: Verdict, seed: number): string {
  return selfContainedPage({
    title: `chaos, seed ${seed}`,
    body: body(evidence, verdict, seed),
    values: { run: chartValues(evidence, verdict) },
    modules: [new URL('browser/app.mjs', import.meta.url)],
    styles: readFileSync(new URL('browser/chaos.css', import.meta.url), 'utf8'),
  });
}

function body(evidence: Evidence, verdict: Verdict, seed: number): Html {
  const charts = GROUPS.map(({ name, quota, isStrict, strategy, isolation: { policy, holdMs } }, at) => {
    const relaxed = `${strategy}, ${policy} after ${holdMs / 1000} s`;
    const about = `${quota}/s, ${isStrict ? 'strict' : relaxed}`;
    return html`<section><h2>${name} <small>${about}</small></h2><div id="chart-${at}"></div></section>
`;
  });
  const tables = reportTables(evidence, verdict).map((table) => htmlTable(table));
  return html`<header>
<p class="brand">quotamesh <span>chaos on a real Kafka</span></p>
<h1>${verdict.broken.length === 0 ? 'Every promise was kept' : `${verdict.broken.length} promises were broken`}</h1>
<p class="facts">${factsOf(evidence, seed)}</p>
</header>
<noscript><p class="note">The charts need JavaScript; the tables below do not.</p></noscript>
<main>
${brokenTable(verdict)}
<div class="timebar"><p id="now">Move over a chart; drag to enlarge a part of it.</p><button type="button" class="plain" id="whole">Whole run</button></div>
<p class="note stripes">Per second, mean of the 5 s that end there. Blue: admitted. Red line: quota, and what nodes keep that are cut off. Grey: Σ shares. Dashed: quota.<br>
<span><i class="alone"></i>nodes cut off alone</span><span><i class="topic"></i>the topic for everybody</span><span><i class="process"></i>node processes</span><span><i class="wrong"></i>a broken promise</span></p>
${charts}
${tables}
${faultTable(verdict)}
</main>`;
}

function chartValues({ happened, samples }: Evidence, verdict: Verdict): unknown {
  const { windows } = verdict;
  const perSecond = (count: number) => Number((count / (WINDOW_MS / 1000)).toPrecision(4));
  const first = windows.filter(({ group }) => group === 0);
  const seconds = first.map(({ fromMs }) => (fromMs + WINDOW_MS) / 1000);
  const sums = shareSums(samples, seconds);
  const groups = GROUPS.map(({ name, quota }, group) => {
    const own = windows.filter((window) => window.group === group);
    const inflow = own.map((window) => perSecond(window.inflow));
    const admitted = own.map((window) => perSecond(window.admitted));
    return {
      name,
      quota,
      inflow,
      admitted,
      shares: sums[group],
      top: Math.max(...inflow, ...admitted) * 1.05,
    };
  });
  const faults = happened.map((one) => {
    const { kind } = one.fault;
    return { fromMs: one.fromMs, toMs: one.doneMs, what: kind, whom: whom(one), scope: FAULTS[kind].scope };
  });
  return { groups, seconds, faults, broken: brokenSpans(verdict), slideMs: SLIDE_MS };
}

/** Windows that overlap are one stripe. */
function brokenSpans({ accounts, windows }: Verdict): { group: number; fromMs: number; toMs: number }[] {
  const spans = accounts.filter(isAbove).map(({ group, fromMs, toMs }) => ({ group, fromMs, toMs }));
  for (const { group, fromMs } of windows.filter(isBroken)) {
    const last = spans.at(-1);
    if (last?.group === group && fromMs <= last.toMs) last.toMs = fromMs + WINDOW_MS;
    else spans.push({ group, fromMs, toMs: fromMs + WINDOW_MS });
  }
  return spans;
}

function brokenTable({ broken }: Verdict): Html {
  if (broken.length === 0) return html``;
  const rows = broken.map(({ fromMs, toMs, what, faults }) => {
    return row(at(fromMs), seconds(toMs), what, faults.join(' · '));
  });
  return section('Broken promises', ['from', 'to', 'what', 'beside'], rows);
}

function faultTable({ recoveries }: Verdict): Html {
  const rows = recoveries.map(({ happened, tookMs }, index) => {
    const { fault, fromMs, remedyMs, doneMs, notes } = happened;
    const again = tookMs === null ? 'the next fault came first' : seconds(tookMs);
    const { what } = FAULTS[fault.kind];
    const [brokenFor, mendedIn] = [seconds(remedyMs - fromMs), seconds(doneMs - remedyMs)];
    const name = `${fault.kind} ${whom(happened)}`;
    return row(String(index + 1), at(fromMs), name, what, brokenFor, mendedIn, again, notes.join('; '));
  });
  const heads = ['', 'at', 'fault', 'what', 'broken for', 'mended in', 'one cluster again after', 'notes'];
  return section('Faults', heads, rows);
}

function htmlTable({ title, head, rows }: Table): Html {
  const bodyRows = rows.map((cells) => row(...cells));
  return section(title, head, bodyRows);
}

function section(title: string, heads: readonly string[], rows: readonly Html[]): Html {
  const head = heads.map((text) => html`<th>${text}</th>`);
  return html`<section><h2>${title}</h2><div class="scroll"><table class="figures"><thead><tr>${head}</tr></thead>
<tbody>${rows}</tbody></table></div></section>
`;
}

function row(...cells: readonly (string | Html)[]): Html {
  return html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>
`;
}

/** A time that the charts go to. */
function at(atMs: number): Html {
  return html`<button type="button" data-at="${atMs / 1000}">${seconds(atMs)}</button>`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
