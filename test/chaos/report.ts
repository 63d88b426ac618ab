import { OUTCOMES } from '../../src/tools/load/call.js';
import { FAULT_KINDS, FAULTS } from './fault-table.js';
import { WINDOW_MS } from './promises.js';
import type { Evidence, Verdict } from './verdict.js';
import type { ChaosWindow } from './windows.js';
import { GROUPS } from './workload.js';

export interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The verdict in words: what was admitted, how the cluster came back, what clients lost, and every promise that was broken. */
export function reportLines(evidence: Evidence, verdict: Verdict, seed: number): string[] {
  return [
    '',
    factsOf(evidence, seed),
    ...reportTables(evidence, verdict).flatMap((table) => ['', ...textTable(table)]),
    '',
    ...brokenLines(verdict, seed),
  ];
}

export function factsOf({ happened, durationMs, waitedForCore }: Evidence, seed: number): string {
  const busy = waitedForCore === null ? '' : `; in ${percent(waitedForCore)} of the time somebody waited for a core`;
  return `seed ${seed}: ${happened.length} faults in ${(durationMs / 1000).toFixed(0)} s${busy}`;
}

export function reportTables(evidence: Evidence, verdict: Verdict): Table[] {
  return [groupTable(verdict), faultTable(evidence, verdict), callTable(verdict)];
}

/** Every window of 5 s, for programs: what was admitted in it and what the documents allow. */
export function windowsTable({ windows }: Verdict): string {
  const rows = windows.map(({ group, fromMs, admitted, allowed, isQuiet }) => {
    const { name, quota } = GROUPS[group];
    const times = [fromMs / 1000, (fromMs + WINDOW_MS) / 1000];
    return [
      name,
      ...times,
      admitted,
      allowed.toFixed(1),
      (quota * WINDOW_MS) / 1000,
      isQuiet ? 'settled' : 'disturbed',
    ];
  });
  const head = ['group', 'fromSec', 'toSec', 'admitted', 'allowed', 'quota', 'bound'];
  return [head, ...rows].map((row) => `${row.join(',')}\n`).join('');
}

/** Figures over every window of 5 s: the part of the quota that was admitted, and of what was allowed. */
function groupTable({ windows }: Verdict): Table {
  const rows = GROUPS.map(({ name, quota }, group) => {
    const own = windows.filter((window) => window.group === group);
    const whole = (quota * WINDOW_MS) / 1000;
    const quiet = own.filter(({ isQuiet }) => isQuiet);
    const parts = (some: readonly ChaosWindow[]) => some.map(({ admitted }) => admitted / whole);
    const nearest = Math.max(...own.map(({ admitted, allowed }) => admitted / allowed));
    const mean = parts(own).reduce((sum, part) => sum + part, 0) / own.length;
    return [
      name,
      `${quota}/s`,
      percent(mean),
      percent(Math.max(...parts(own))),
      percent(nearest),
      `${quiet.length}`,
      percent(Math.min(...parts(quiet))),
      percent(Math.max(...parts(quiet))),
    ];
  });
  const head = ['group', 'quota', 'mean', 'worst 5 s', 'worst of allowed', 'settled windows', 'least', 'most'];
  return { title: 'Admitted in windows of 5 s, of the quota', head, rows };
}

function faultTable({ happened }: Evidence, { recoveries }: Verdict): Table {
  const rows = FAULT_KINDS.flatMap((kind) => {
    const count = happened.filter(({ fault }) => fault.kind === kind).length;
    if (count === 0) return [];
    const own = recoveries.filter(({ happened: one, tookMs }) => one.fault.kind === kind && tookMs !== null);
    const took = own.map(({ tookMs }) => tookMs as number).sort((one, other) => one - other);
    return [[kind, FAULTS[kind].what, `${count}`, seconds(took[Math.floor(took.length / 2)]), seconds(took.at(-1))]];
  });
  return { title: 'One cluster again after', head: ['fault', 'what', 'times', 'median', 'slowest'], rows };
}

function callTable({ outcomes }: Verdict): Table {
  const all = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  const rows = OUTCOMES.map((outcome) => [outcome, `${outcomes[outcome]}`, percent(outcomes[outcome] / all, 2)]);
  return { title: 'What became of the calls', head: ['calls', 'count', 'part'], rows };
}

function brokenLines({ broken }: Verdict, seed: number): string[] {
  if (broken.length === 0) return ['Every promise was kept.'];
  const lines = broken.flatMap(({ fromMs, toMs, what, faults }) => [
    `✗ ${(fromMs / 1000).toFixed(1)} s to ${(toMs / 1000).toFixed(1)} s: ${what}`,
    ...faults.map((fault) => `    beside ${fault}`),
  ]);
  return [`${broken.length} promises were broken with seed ${seed}:`, ...lines];
}

function textTable({ title, head, rows }: Table): string[] {
  const widths = head.map((name, at) => Math.max(name.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  return [title, ...[head, ...rows].map((row) => `  ${line(row)}`)];
}

function percent(part: number, digits = 1): string {
  return Number.isFinite(part) ? `${(100 * part).toFixed(digits)} %` : '–';
}

function seconds(milliseconds: number | undefined): string {
  return milliseconds === undefined ? '–' : `${(milliseconds / 1000).toFixed(1)} s`;
}
