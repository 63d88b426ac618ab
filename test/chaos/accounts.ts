import { depthOf, isInPieces } from '../../sim/account/written-bucket.js';
import { AccountLedger } from '../../sim/oracle/account-ledger.js';
import type { Allowed } from './allowed.js';
import type { Call } from './clients.js';
import { type Grant, grantsOf } from './grants.js';
import type { HappenedFault } from './happened.js';
import { countedAt, type Life, toldMs } from './lives.js';
import { DELIVERY_MS } from './promises.js';
import { NODES } from './schedule.js';
import { type ChaosGroup, GROUPS, strictDepthOf } from './workload.js';

/** The account of a group, and the span of the run that is nearest to its bound, or most above it. */
export interface JudgedAccount {
  readonly group: number;
  /** In the whole run. */
  readonly granted: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** Granted in that span above what flowed in and what nodes that started or were killed in it are allowed. */
  readonly above: number;
  /** Three depths; of a strict group one. */
  readonly most: number;
}

/**
 * Judges every span of a run by docs/reference/promises.md, `account`, with the oracle's ledger.
 *
 * All groups of a run have a bucket of the cluster. The log is never lost while no node is ready: the schedule leaves three of five.
 */
export function accountsOf(
  calls: readonly Call[],
  happened: readonly HappenedFault[],
  lives: readonly Life[],
  allowed: Allowed,
  durationMs: number,
): JudgedAccount[] {
  const kills = killsOf(lives, happened);
  const starts = startsOf(lives, happened);
  return GROUPS.map((of, group) => {
    const grants = grantsOf(calls, group, happened);
    if (of.isStrict) return strictAccount(of, group, grants);
    const { quota } = of;
    const written = { isKey: false, per: 'Second', quota, burst: null } as const;
    const ledger = new AccountLedger(isInPieces(written, NODES) ? NODES : 0);
    for (const { fromMs, perSecond } of allowed.steps(group, durationMs)) {
      ledger.limited(fromMs, perSecond, depthOf(written));
    }
    let killed = 0;
    for (const { node, earliestMs: sinceMs, latestMs } of grants) {
      for (; killed < kills.length && kills[killed].atMs <= latestMs; killed++) {
        ledger.killed(kills[killed].atMs, kills[killed].nodes, DELIVERY_MS);
      }
      const start = starts.findLast((one) => one.node === node && latestMs >= one.fromMs && sinceMs < one.untilMs);
      ledger.granted(latestMs, 1, { sinceMs, ...(start && { nodes: start.nodes, starter: start }) });
    }
    const { excess, fromMs, untilMs: toMs, most } = ledger.worst();
    return { group, granted: grants.length, fromMs, toMs, above: Math.max(0, excess + most), most };
  });
}

/** Judges a strict group: whatever happens, a span has what flows in and one depth. */
function strictAccount(of: ChaosGroup, group: number, grants: readonly Grant[]): JudgedAccount {
  const ledger = new AccountLedger();
  ledger.limited(0, of.quota, strictDepthOf(of));
  for (const { earliestMs: sinceMs, latestMs } of grants) ledger.granted(latestMs, 1, { sinceMs });
  const { excess, fromMs, untilMs: toMs, most } = ledger.worst();
  return { group, granted: grants.length, fromMs, toMs, above: Math.max(0, excess + most), most: strictDepthOf(of) };
}

export function isAbove({ above, most }: JudgedAccount): boolean {
  // Room for rounding: what flows in is a sum of fractions.
  return above > most + 1e-6;
}

/** Lists the ends of processes that nobody told to leave, with N of their advance. */
export function killsOf(lives: readonly Life[], happened: readonly HappenedFault[]) {
  return lives
    .flatMap(({ node, readyMs, endedMs, isStopped }) => {
      if (readyMs === null || endedMs === null || isStopped) return [];
      return [{ atMs: endedMs, nodes: countedAt(lives, happened, endedMs, node) }];
    })
    .sort((one, other) => one.atMs - other.atMs);
}

/** Lists the two deliveries after each start, with N of its advance; the first processes started before the run. */
export function startsOf(lives: readonly Life[], happened: readonly HappenedFault[]) {
  return lives.flatMap(({ node, readyMs }) => {
    if (readyMs === null || readyMs < 0) return [];
    const untilMs = toldMs(happened, readyMs);
    return [{ node, fromMs: readyMs, untilMs, nodes: countedAt(lives, happened, readyMs, node) }];
  });
}
