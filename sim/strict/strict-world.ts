import type { StrictQuota } from '../../src/core/strict/strict-quota.js';
import type { Random } from '../cluster/random.js';
import type { StrictLogFaults } from './strict-log.js';

/** A cluster with one strict bucket, its load and its faults. */
export interface StrictWorld {
  readonly nodes: number;
  readonly quota: StrictQuota;
  readonly waitMs: number;
  readonly faults: StrictLogFaults;
  /** Milliseconds between faults of processes at most; 0 = none. */
  readonly faultsEveryMs: number;
  /** From when on what is used is compared. */
  readonly comparedFromMs: number;
  readonly endMs: number;
  /** In words. */
  readonly plan: string;
  /** Mean milliseconds between bursts, most tokens, requests of a burst. */
  loadOf(node: number, nowMs: number): { readonly gapMs: number; readonly tokensMost: number; readonly burst: number };
}

const PER_MS = 3_600_000;
/** Milliseconds in which the nodes find each other. */
const QUIET_MS = 6000;

/** Draws a world with faults of 2 to 9 nodes. */
export function drawStrictWorld(random: Random): StrictWorld {
  const pick = <T>(values: readonly T[]) => values[Math.floor(random.next() * values.length)];
  const nodes = 2 + Math.floor(random.next() * 8);
  const perSecond = pick([1, 5, 20, 100]);
  const depth = Math.max(1, Math.round(perSecond * pick([0.1, 0.3, 1, 2])));
  const delayMs = pick([2, 10, 50, 200]);
  const faults = {
    appendMs: [1, delayMs],
    deliveryMs: [1, delayMs],
    lost: pick([0, 0, 0.02, 0.2]),
    late: pick([0, 0, 0.02, 0.2]),
    lateMs: pick([300, 3000, 9000]),
    repeated: pick([0, 0, 0.05, 0.3]),
  } as const;
  const load = pick([0.5, 1.5, 4]);
  const waitMs = pick([0, 0, 2 * delayMs + 60, 500]);
  const tokensMost = pick([1, 1, 3]);
  const burst = pick([1, 1, 10]);
  const hot = pick([0, 0.5, 0.9]);
  // Rests let the bucket fill, so that what is too much shows.
  const surgeMs = pick([1000, 3000]);
  const restMs = pick([1000, 6000]);
  const faultsEveryMs = pick([1000, 5000]);
  const turnMs = pick([1000, 4000, 60_000]);
  const meanTokens = ((1 + tokensMost) / 2) * burst;
  const loadOf = (node: number, nowMs: number) => {
    const isHot = Math.floor(nowMs / turnMs) % nodes === node;
    const part = (1 - hot) / nodes + (isHot ? hot : 0);
    const isRest = nowMs < QUIET_MS || (nowMs - QUIET_MS) % (surgeMs + restMs) >= surgeMs;
    const gapMs = (1000 * meanTokens) / (perSecond * load * part);
    return { gapMs: isRest ? 200 : Math.min(5000, gapMs), tokensMost, burst: isRest ? 0 : burst };
  };
  const plan =
    `${nodes} nodes, ${perSecond}/s, depth ${depth}, ${load} × the quota asked, ${hot} of it at a hot node for ${turnMs} ms, ` +
    `waits ${waitMs} ms, log ≤ ${delayMs} ms each way, lost ${faults.lost}, late ${faults.late} ≤ ${faults.lateMs} ms, ` +
    `repeated ${faults.repeated}`;
  const quota = { amount: (perSecond * PER_MS) / 1000, perMs: PER_MS, depth };
  return { nodes, quota, waitMs, faults, faultsEveryMs, comparedFromMs: 0, endMs: 25_000, plan, loadOf };
}

/** Makes a world without faults, to see what is used. */
export function calmWorld(of: {
  readonly nodes: number;
  readonly perSecond: number;
  readonly depth: number;
  readonly delayMs: number;
  readonly load: number;
  readonly waitMs: number;
}): StrictWorld {
  const { nodes, perSecond, depth, delayMs, load, waitMs } = of;
  const delays = [Math.max(1, Math.floor(delayMs / 2)), delayMs] as const;
  const faults = { appendMs: delays, deliveryMs: delays, lost: 0, late: 0, lateMs: 0, repeated: 0 };
  const quota = { amount: (perSecond * PER_MS) / 1000, perMs: PER_MS, depth };
  const loadOf = (node: number, nowMs: number) => {
    const isHot = Math.floor(nowMs / 3000) % nodes === node;
    return {
      gapMs: 1000 / ((perSecond * load * (isHot ? 2 : (nodes - 2) / (nodes - 1))) / nodes),
      tokensMost: 1,
      burst: 1,
    };
  };
  const plan = `${nodes} nodes, ${perSecond}/s, depth ${depth}, ${load} × asked, ${delayMs} ms, waits ${waitMs} ms`;
  return { nodes, quota, waitMs, faults, faultsEveryMs: 0, comparedFromMs: 10_000, endMs: 30_000, plan, loadOf };
}
