import { OUTCOMES, type Outcome } from '../../src/tools/load/call.js';
import { accountsOf, isAbove, type JudgedAccount } from './accounts.js';
import { Allowed } from './allowed.js';
import type { Call } from './clients.js';
import { type Recovery, recoveriesOf } from './convergence.js';
import { FAULTS } from './fault-table.js';
import { type HappenedFault, whom } from './happened.js';
import type { Life } from './lives.js';
import { BACK_WITHIN_MS, WINDOW_MS } from './promises.js';
import { NODES } from './schedule.js';
import type { SharesHeld } from './shares-held.js';
import { tracelessOf } from './traces.js';
import type { Sample } from './watch.js';
import { type ChaosWindow, isBroken, settledMost, windowsOf } from './windows.js';
import { GROUPS, nodeName } from './workload.js';

/** Everything that was seen of a run. Times are milliseconds since it began. */
export interface Evidence {
  readonly durationMs: number;
  /** Part of the time in which somebody on this machine waited for a core; null = not known. For the reader, not for the judge. */
  readonly waitedForCore: number | null;
  readonly calls: readonly Call[];
  readonly samples: readonly Sample[];
  readonly happened: readonly HappenedFault[];
  readonly lives: readonly Life[];
  readonly shares: SharesHeld;
  readonly wrongs: readonly Wrong[];
}

/** A broken promise that no window and no share shows. */
export interface Wrong {
  /** When it was seen. */
  readonly atMs: number;
  readonly what: string;
}

export interface BrokenPromise {
  readonly fromMs: number;
  readonly toMs: number;
  readonly what: string;
  /** Faults that were in force then, or shortly before. */
  readonly faults: readonly string[];
}

export interface Verdict {
  /** By group. */
  readonly accounts: readonly JudgedAccount[];
  readonly windows: readonly ChaosWindow[];
  readonly recoveries: readonly Recovery[];
  readonly broken: readonly BrokenPromise[];
  readonly outcomes: Readonly<Record<Outcome, number>>;
}

/** After this time records that were under way have arrived: from then on a node without the log must not rise. */
const RISE_AFTER_MS = 1000;
const RISE_QUOTAS = 0.001;
/** So long after a fault its effects may still be in a window. */
const BLAMED_MS = WINDOW_MS + BACK_WITHIN_MS;

export function judge(evidence: Evidence): Verdict {
  const { calls, samples, happened, lives, shares, durationMs } = evidence;
  const allowed = new Allowed(happened, shares);
  const accounts = accountsOf(calls, happened, lives, allowed, durationMs);
  const windows = windowsOf(calls, happened, allowed, durationMs);
  const recoveries = recoveriesOf(samples, happened, durationMs);
  const broken = [
    ...accounts.filter(isAbove).map(aboveAccount),
    ...aboveSettled(windows),
    ...notBack(recoveries),
    ...risen(happened, shares),
    ...tracelessOf(samples, happened).map(({ happened: { fromMs, doneMs: toMs }, what }) => ({ fromMs, toMs, what })),
    ...evidence.wrongs.map(wrongOf),
  ];
  const named = broken.map((one) => ({ ...one, faults: faultsAround(happened, one.fromMs, one.toMs) }));
  return {
    accounts,
    windows,
    recoveries,
    broken: named.sort((one, other) => one.fromMs - other.fromMs),
    outcomes: countOf(calls),
  };
}

type Found = Omit<BrokenPromise, 'faults'>;

function aboveAccount({ group, fromMs, toMs, above, most }: JudgedAccount): Found {
  const { name, quota } = GROUPS[group];
  const span = `${((toMs - fromMs) / 1000).toFixed(1)} s`;
  const what = `${name}: ${above.toFixed(1)} granted above ${quota}/s and what faults allow in ${span}, ${most.toFixed(1)} promised`;
  return { fromMs, toMs, what };
}

/** Joins broken windows that overlap, and names the worst of them. */
function aboveSettled(windows: readonly ChaosWindow[]): Found[] {
  const found: Found[] = [];
  for (const [group, { name, quota }] of GROUPS.entries()) {
    let run: ChaosWindow[] = [];
    const close = () => {
      const worst = run.sort((one, other) => other.admitted - one.admitted)[0];
      run = [];
      if (worst === undefined) return;
      const { fromMs, admitted } = worst;
      const most = `${settledMost(group).toFixed(0)} allowed of a settled cluster`;
      const what = `${name}: ${admitted} admitted in 5 s, ${most} (quota ${(quota * WINDOW_MS) / 1000})`;
      found.push({ fromMs, toMs: fromMs + WINDOW_MS, what });
    };
    for (const window of windows) {
      if (window.group !== group || !isBroken(window)) continue;
      if (run.length > 0 && window.fromMs > (run.at(-1)?.fromMs ?? 0) + WINDOW_MS) close();
      run.push(window);
    }
    close();
  }
  return found;
}

function notBack(recoveries: readonly Recovery[]): Found[] {
  return recoveries
    .filter(({ wasLast, tookMs, missing }) => wasLast && missing !== null && tookMs === null)
    .concat(recoveries.filter(({ wasLast, tookMs }) => wasLast && tookMs !== null && tookMs > BACK_WITHIN_MS))
    .map(({ happened, tookMs, missing }) => {
      const { kind } = happened.fault;
      const when = tookMs === null ? `not at all: ${missing}` : `after ${(tookMs / 1000).toFixed(1)} s`;
      const what = `${kind} ${whom(happened)}: one again ${when}, promised within ${BACK_WITHIN_MS / 1000} s`;
      return { fromMs: happened.doneMs, toMs: happened.doneMs + (tookMs ?? BACK_WITHIN_MS), what };
    });
}

function wrongOf({ atMs, what }: Wrong): Found {
  return { fromMs: atMs, toMs: atMs, what };
}

/** Invariant 3: a node that is surely cut off keeps what it held, or less. */
function risen(happened: readonly HappenedFault[], shares: SharesHeld): Found[] {
  return happened.flatMap((one) => {
    const { kind, node } = one.fault;
    const cut = CUTS.has(kind) ? [node as number] : kind === 'brokers-all-frozen' ? ALL_NODES : [];
    return cut.flatMap((at) => GROUPS.flatMap((_, group) => riseOf(one, at, group, shares)));
  });
}

const CUTS: ReadonlySet<string> = new Set(['link-reset', 'link-drop', 'link-half-open']);
const ALL_NODES: readonly number[] = Array.from({ length: NODES }, (_, node) => node);

function riseOf({ fault, fromMs, remedyMs }: HappenedFault, node: number, group: number, shares: SharesHeld): Found[] {
  const { name, quota } = GROUPS[group];
  const held = shares.most(group, node, fromMs, fromMs + RISE_AFTER_MS);
  const rise = shares
    .within(group, node, fromMs + RISE_AFTER_MS, remedyMs)
    .find(({ share }) => share > held + RISE_QUOTAS * quota);
  if (rise === undefined) return [];
  const what = `${name}: ${nodeName(node)} rose to ${rise.share.toFixed(1)} while it was cut off, held ${held.toFixed(1)}`;
  return [{ fromMs: rise.atMs, toMs: rise.atMs, what: `${what} (${FAULTS[fault.kind].what})` }];
}

export function faultsAround(happened: readonly HappenedFault[], fromMs: number, toMs: number): string[] {
  return happened
    .filter((one) => one.fromMs < toMs && one.doneMs + BLAMED_MS > fromMs)
    .map((one) => `${one.fault.kind} ${whom(one)} ${seconds(one.fromMs)}–${seconds(one.doneMs)}`.replace('  ', ' '));
}

function countOf(calls: readonly Call[]): Record<Outcome, number> {
  const counts = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
  for (const { outcome } of calls) counts[outcome]++;
  return counts;
}

function seconds(atMs: number): string {
  return `${(atMs / 1000).toFixed(1)} s`;
}
