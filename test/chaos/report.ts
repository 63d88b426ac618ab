import { OUTCOMES } from './client-protocol.js';
import { FAULT_KINDS, FAULTS } from './fault-table.js';
import { WINDOW_MS } from './promises.js';
import type { Evidence, Verdict } from './verdict.js';
import type { ChaosWindow } from './windows.js';
import { GROUPS } from './workload.js';

/** The verdict in words: what was admitted, how the cluster came back, what clients lost, and every promise that was broken. */
export function reportLines(evidence: Evidence, verdict: Verdict, seed: number): string[] {
  return [
    '',
    `seed ${seed}: ${evidence.happened.length} faults in ${(evidence.durationMs / 1000).toFixed(0)} s`,
    '',
    ...groupLines(verdict),
    '',
    ...faultLines(evidence, verdict),
    '',
    ...callLines(verdict),
    '',
    ...brokenLines(verdict, seed),
  ];
}

/** Of every window of 5 s: the part of the quota that was admitted, and of what was allowed. */
function groupLines({ windows }: Verdict): string[] {
  const rows = GROUPS.map(({ name, quota }, group) => {
    const own = windows.filter((window) => window.group === group);
    const whole = (quota * WINDOW_MS) / 1000;
    const quiet = own.filter(({ isQuiet }) => isQuiet);
    const parts = (some: readonly ChaosWindow[]) => some.map(({ admitted }) => admitted / whole);
    const nearest = Math.max(...own.map(({ admitted, allowed }) => admitted / allowed));
    const mean = parts(own).reduce((sum, part) => sum + part, 0) / own.length;
    return [
      ...[name, `${quota}/s`, percent(mean), percent(Math.max(...parts(own))), percent(nearest)],
      ...[`${quiet.length}`, percent(Math.min(...parts(quiet))), percent(Math.max(...parts(quiet)))],
    ];
  });
  const head = ['group', 'quota', 'mean', 'worst 5 s', 'of what is allowed', 'quiet windows', 'least', 'most'];
  return table(head, rows);
}

function faultLines({ happened }: Evidence, { recoveries }: Verdict): string[] {
  const rows = FAULT_KINDS.flatMap((kind) => {
    const count = happened.filter(({ fault }) => fault.kind === kind).length;
    if (count === 0) return [];
    const own = recoveries.filter(({ happened: one, tookMs }) => one.fault.kind === kind && tookMs !== null);
    const took = own.map(({ tookMs }) => tookMs as number).sort((one, other) => one - other);
    const median = took[Math.floor(took.length / 2)];
    return [[kind, FAULTS[kind].what, `${count}`, seconds(median), seconds(took.at(-1))]];
  });
  return table(['fault', 'what', 'times', 'one again: median', 'slowest'], rows);
}

function callLines({ outcomes }: Verdict): string[] {
  const all = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  return table(
    ['calls', 'count', 'part'],
    OUTCOMES.map((outcome) => [outcome, `${outcomes[outcome]}`, percent(outcomes[outcome] / all, 2)]),
  );
}

function brokenLines({ broken }: Verdict, seed: number): string[] {
  if (broken.length === 0) return ['Every promise was kept.'];
  const lines = broken.flatMap(({ fromMs, toMs, what, faults }) => [
    `✗ ${(fromMs / 1000).toFixed(1)} s to ${(toMs / 1000).toFixed(1)} s: ${what}`,
    ...faults.map((fault) => `    beside ${fault}`),
  ]);
  return [`${broken.length} promises were broken with seed ${seed}:`, ...lines];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)));
  return [head, ...rows].map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

export function percent(part: number, digits = 1): string {
  return Number.isFinite(part) ? `${(100 * part).toFixed(digits)} %` : '–';
}

function seconds(milliseconds: number | undefined): string {
  return milliseconds === undefined ? '–' : `${(milliseconds / 1000).toFixed(1)} s`;
}
