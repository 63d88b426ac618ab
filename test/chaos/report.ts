import { OUTCOMES } from '../../src/tools/load/call.js';
import { killsOf, startsOf } from './accounts.js';
import { FAULT_KINDS, FAULTS } from './fault-table.js';
import { WINDOW_MS } from './promises.js';
import type { Evidence, Verdict } from './verdict.js';
import { settledMost } from './windows.js';
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

export function factsOf({ happened, lives, durationMs, waitedForCore }: Evidence, seed: number): string {
  const busy = waitedForCore === null ? '' : `; in ${percent(waitedForCore)} of the time somebody waited for a core`;
  const rounds = new Set(happened.map(({ round }) => round)).size;
  const began = `starts of nodes: ${startsOf(lives, happened).length}, kills: ${killsOf(lives, happened).length}`;
  const faults = `${rounds} rounds, ${happened.length} faults`;
  return `seed ${seed}: ${faults} in ${(durationMs / 1000).toFixed(0)} s; ${began}${busy}`;
}

export function reportTables(evidence: Evidence, verdict: Verdict): Table[] {
  return [groupTable(verdict), faultTable(evidence, verdict), callTable(verdict)];
}

/** Lists every window of 5 s, for programs: what was admitted in it and what flowed in. */
export function windowsTable({ windows }: Verdict): string {
  const rows = windows.map(({ group, fromMs, admitted, inflow, isQuiet }) => {
    const { name, quota } = GROUPS[group];
    const times = [fromMs / 1000, (fromMs + WINDOW_MS) / 1000];
    return [name, ...times, admitted, inflow.toFixed(1), (quota * WINDOW_MS) / 1000, isQuiet ? 'settled' : 'disturbed'];
  });
  const head = ['group', 'fromSec', 'toSec', 'admitted', 'inflow', 'quota', 'state'];
  return [head, ...rows].map((row) => `${row.join(',')}\n`).join('');
}

/** Says what each group was granted, and what comes nearest to each bound. */
function groupTable({ accounts, windows }: Verdict): Table {
  const rows = accounts.map(({ group, granted, above, most, fromMs, toMs }) => {
    const { name, quota } = GROUPS[group];
    const own = windows.filter((window) => window.group === group).map(({ admitted }) => admitted);
    const quiet = windows.filter((window) => window.group === group && window.isQuiet).map(({ admitted }) => admitted);
    const whole = (quota * WINDOW_MS) / 1000;
    return [
      name,
      `${quota}/s`,
      `${granted}`,
      percent(own.reduce((sum, admitted) => sum + admitted, 0) / own.length / whole),
      `${above.toFixed(1)} of ${most.toFixed(1)}`,
      `${seconds(fromMs)} to ${seconds(toMs)}`,
      `${quiet.length}`,
      percent(Math.min(...quiet) / whole),
      quiet.length === 0 ? '–' : `${Math.max(...quiet)} of ${settledMost(group)}`,
    ];
  });
  const any = ['most above, of promised depths', 'in the span'];
  const head = ['group', 'quota', 'granted', 'mean', ...any, 'settled 5 s', 'least', 'most, of allowed'];
  return { title: 'Granted; above quota and what faults allow, in any span; in 5 s of a settled cluster', head, rows };
}

function faultTable({ happened }: Evidence, { recoveries }: Verdict): Table {
  const rows = FAULT_KINDS.flatMap((kind) => {
    const count = happened.filter(({ fault }) => fault.kind === kind).length;
    if (count === 0) return [];
    const own = recoveries.filter(({ happened: one, tookMs }) => one.fault.kind === kind && tookMs !== null);
    const took = own.map(({ tookMs }) => tookMs as number).sort((one, other) => one - other);
    return [[kind, FAULTS[kind].what, `${count}`, seconds(took[Math.floor(took.length / 2)]), seconds(took.at(-1))]];
  });
  const head = ['fault', 'what', 'rounds', 'median', 'slowest'];
  return { title: 'Rounds by kind of fault, and how long until one cluster again', head, rows };
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
