import { setTimeout as sleep } from 'node:timers/promises';
import { admittedRate } from '../../sim/cluster/measure.js';
import { jainIndex } from '../../sim/verdict/fairness.js';
import { epochNow } from '../../src/tools/load/epoch-now.js';
import type { Cluster, DecisionLine } from './cluster.js';
import type { Answered, TrafficProcess } from './traffic.js';

/** Arrivals per second by node id. */
export type Rates = Readonly<Record<string, number>>;

/** What one phase of a story showed. Rates are messages per second as the clients saw them. */
export interface PhaseResult {
  readonly events: readonly Answered[];
  /** Epoch time of the change of rates that began the phase, and of its end. */
  readonly fromMs: number;
  readonly toMs: number;
  /** After settling. */
  readonly total: number;
  readonly perNode: Readonly<Record<string, number>>;
  /** What reached ready nodes in that time: of it at most the quota could be admitted. A busy machine asks for less. */
  readonly asked: Readonly<Record<string, number>>;
  readonly carriable: number;
  /** Most admitted in any second, as a part of the quota. */
  readonly worstSecond: number;
}

/** Drives traffic at a cluster phase by phase, and keeps everything that was seen for windows that span phases. */
export class Story {
  readonly history: Answered[] = [];
  readonly #cluster: Cluster;
  readonly #traffic: TrafficProcess;
  readonly #arrivals: { readonly poisson: boolean };
  readonly quota: number;

  /**
   * Arrivals are evenly spaced without `poisson`. Where nodes want just their share, what chance adds to it is admitted
   * and charged to nobody: 0.9 % of five seconds, one standard deviation.
   */
  constructor(cluster: Cluster, traffic: TrafficProcess, quota: number, arrivals = { poisson: true }) {
    this.#cluster = cluster;
    this.#traffic = traffic;
    this.#arrivals = arrivals;
    this.quota = quota;
  }

  /** Sends at these rates for a time; the result is measured from `settleMs` after the change on. */
  async phase(rates: Rates, milliseconds: number, settleMs: number): Promise<PhaseResult> {
    const fromMs = this.setRates(rates);
    await sleep(milliseconds);
    return this.since(fromMs, settleMs, Object.keys(rates));
  }

  setRates(rates: Rates): number {
    const targets = Object.entries(rates).map(([node, ratePerSecond]) => {
      return { node, url: this.#cluster.url(node), ratePerSecond };
    });
    return this.#traffic.setRates(targets, this.#arrivals);
  }

  async since(fromMs: number, settleMs: number, nodes: readonly string[]): Promise<PhaseResult> {
    const toMs = epochNow();
    await sleep(50);
    this.history.push(...(await this.#traffic.collect()));
    const events = this.history.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
    const begin = fromMs + settleMs;
    const perNode = Object.fromEntries(nodes.map((node) => [node, admittedRate(events, begin, toMs, node)]));
    const decided = events.filter(({ decided }) => decided).map((event) => ({ ...event, granted: true }));
    const asked = Object.fromEntries(nodes.map((id) => [id, admittedRate(decided, begin, toMs, id)]));
    const worstSecond = worstDecided(this.history, 1000, fromMs - 1000, toMs) / this.quota;
    const rates = { total: admittedRate(events, begin, toMs), perNode, asked };
    return { events, fromMs, toMs, ...rates, carriable: carriable(events, begin, toMs, this.quota), worstSecond };
  }

  /** What shares allowed above the quota from `fromMs` on, messages: nodes that had not heard of each other yet. */
  async overlapSince(fromMs: number): Promise<number> {
    return overlapOf(await this.#cluster.decisions(), fromMs, epochNow(), this.quota);
  }

  /** From `fromMs` until the shares of the decision logs stay within 5 % of the quota of `wanted` for a second. */
  async settledAfterMs(fromMs: number, wanted: Rates, untilMs: number): Promise<number> {
    return settledAfterMs(await this.#cluster.decisions(), fromMs, wanted, untilMs, this.quota);
  }
}

/**
 * From `fromMs` until every share stays within 5 % of the quota of what is wanted, for at least a second, read from the decision logs.
 * Of the quota, not of the share: 20 Poisson arrivals per second are not known to 5 % before 20 s. Infinity when never.
 */
export function settledAfterMs(
  decisions: readonly DecisionLine[],
  fromMs: number,
  wanted: Rates,
  untilMs: number,
  quota: number,
): number {
  const shares = new Map<string, number>();
  let settledMs: number | null = null;
  for (const { t, node, shareMessages } of decisions) {
    if (t > untilMs) break;
    if (node in wanted) shares.set(node, shareMessages ?? 0);
    const off = Math.max(...Object.entries(wanted).map(([id, share]) => Math.abs((shares.get(id) ?? 0) - share)));
    if (off > 0.05 * quota) settledMs = null;
    else if (settledMs === null) settledMs = t;
  }
  if (settledMs === null || settledMs > untilMs - 1000) return Infinity;
  return Math.max(0, settledMs - fromMs);
}

/** ∫ max(0, Σ shares − quota) dt, messages, read from the decision logs: a node's share holds until its next line. */
export function overlapOf(decisions: readonly DecisionLine[], fromMs: number, untilMs: number, quota: number): number {
  const shares = new Map<string, number>();
  let sinceMs = fromMs;
  let overlap = 0;
  const until = (atMs: number) => {
    const above = [...shares.values()].reduce((sum, share) => sum + share, 0) - quota;
    overlap += (Math.max(0, above) * Math.max(0, atMs - sinceMs)) / 1000;
    sinceMs = Math.max(sinceMs, atMs);
  };
  for (const { t, node, shareMessages } of decisions) {
    if (t > untilMs) break;
    until(t);
    shares.set(node, shareMessages ?? 0);
  }
  until(untilMs);
  return overlap;
}

/** ∫ min(quota, demand) dt ÷ time, per second, in steps of 100 ms: what could have been admitted of what reached a ready node. */
export function carriable(events: readonly Answered[], fromMs: number, toMs: number, quota: number): number {
  let total = 0;
  for (let stepMs = fromMs; stepMs < toMs; stepMs += 100) {
    const arrived = events.filter(({ decided, atMs }) => decided && atMs >= stepMs && atMs < stepMs + 100).length;
    total += Math.min(quota / 10, arrived);
  }
  return total / ((toMs - fromMs) / 1000);
}

/** Most admitted in any 5 s, as a part of the quota. */
export function worstFiveSeconds(events: readonly Answered[], quota: number): number {
  return worstDecided(events, 5000, -Infinity, Infinity) / quota;
}

/**
 * Most granted in any window, per second, of what was certainly decided in it: sent and answered within. Where the
 * traffic process or a node waited for a core, both of the two times bunch what was decided evenly, each in another
 * place. It counts less than either of them alone by what is under way at the ends of a window, one latency at most.
 */
function worstDecided(events: readonly Answered[], windowMs: number, fromMs: number, toMs: number): number {
  const granted = events.filter(({ granted, sentMs, atMs }) => granted && sentMs >= fromMs && atMs < toMs);
  const sent = Float64Array.from(granted, ({ sentMs }) => sentMs).sort();
  const answered = Float64Array.from(granted, ({ atMs }) => atMs).sort();
  let worst = 0;
  let done = 0;
  for (let first = 0; first < sent.length; first++) {
    while (done < answered.length && answered[done] < sent[first] + windowMs) done++;
    // Answered by its end, less what had been sent before its beginning.
    worst = Math.max(worst, done - first);
  }
  return worst / (windowMs / 1000);
}

export function jainOf(rates: readonly number[]): number {
  return jainIndex(rates) ?? Number.NaN;
}

export function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}
