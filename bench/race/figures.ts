import { findWaterLevel } from '../../sim/verdict/fair-allocation.js';
import { quantileOf } from '../../src/tools/load/quantile.js';
import type { Contender, Limit } from './contender.js';
import { ADMITTED, LOST, OPEN, type Played, REFUSED } from './play-schedule.js';
import { TokenBucket } from './token-bucket.js';
import type { Traffic } from './traffic.js';

/** Lengths of buckets of time, in seconds. */
export const BUCKETS_S = [1, 5, 10, 20] as const;
/** A client without an answer for so long has gone away: its request is lost, whatever comes. */
export const PATIENCE_MS = 1000;
const SECOND_MS = 1000;
/** What is drawn: admitted requests in each step; coarser ones where the time has more than STEPS_MAX of them. */
const FINE_STEP_MS = 250;
const COARSE_STEP_MS = 1000;
const STEPS_MAX = 400;

export interface Figures {
  readonly asked: number;
  readonly admitted: number;
  /** Above the quota of the whole time, as a part of it; negative = below. */
  readonly total: number;
  /** The fullest bucket of each length of BUCKETS_S, as `total`; null where the time is shorter. */
  readonly buckets: readonly (number | null)[];
  /** Most of any second, as a part of the quota. */
  readonly worstSecond: number;
  /** What one exact bucket that sees all arrivals would have admitted, and how much of it was. */
  readonly used: number;
  /** What the worst served node was refused of its fair part of what there was, as a part of that. */
  readonly belowFair: number;
  /** From the time at which a request was due to its answer. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** Not answered in time, or with a failure. */
  readonly lost: number;
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** All that is said of the requests that were due within a span; admissions count when they are answered. */
export function figuresOf(nodes: readonly Played[], limit: Limit, span: Span): Figures {
  const seconds = (span.toMs - span.fromMs) / SECOND_MS;
  const admittedMs = admittedIn(nodes, span);
  const asked = nodes.map((node) => dueIn(node, span));
  const latencies = nodes.flatMap((node, at) => latenciesOf(node, asked[at]));
  const all = asked.reduce((sum, { length }) => sum + length, 0);
  const exact = exactly(nodes, limit, span);
  return {
    asked: all,
    admitted: admittedMs.length,
    total: admittedMs.length / (limit.perSecond * seconds) - 1,
    buckets: BUCKETS_S.map((length) => fullestBucket(admittedMs, limit, span, length * SECOND_MS)),
    worstSecond: mostWithin(admittedMs, SECOND_MS) / limit.perSecond,
    used: admittedMs.length / Math.max(1, exact),
    belowFair: belowFair(nodes, asked, Math.min(limit.perSecond * seconds, exact)),
    p50Ms: latencies.length === 0 ? null : quantileOf(latencies, 0.5),
    p99Ms: latencies.length === 0 ? null : quantileOf(latencies, 0.99),
    lost: nodes.reduce((sum, node, at) => sum + asked[at].filter((each) => isLost(node, each)).length, 0),
  };
}

export interface BurstFigures {
  readonly nodes: number;
  readonly asked: number;
  readonly admitted: number;
  /** What it says it may give: at once, and what its quota gave until the last of the burst was admitted. */
  readonly allowed: number;
}

export function burstFigures(
  nodes: readonly Played[],
  limit: Limit,
  traffic: Traffic,
  contender: Contender,
): BurstFigures[] {
  return traffic.bursts.map(({ atMs, nodes: nodesAsked }) => {
    const admittedMs: number[] = [];
    let asked = 0;
    for (const node of nodes) {
      node.dueMs.forEach((dueMs, at) => {
        if (dueMs !== atMs) return;
        asked++;
        if (outcomeOf(node, at) === ADMITTED) admittedMs.push(node.endedMs[at]);
      });
    }
    const lastedMs = admittedMs.reduce((latest, endedMs) => Math.max(latest, endedMs - atMs), 0);
    const allowed = contender.atOnce(limit, nodesAsked) + (limit.perSecond * lastedMs) / SECOND_MS;
    return { nodes: nodesAsked, asked, admitted: admittedMs.length, allowed: Math.min(asked, allowed) };
  });
}

/** Admitted requests per second from the beginning to `endsMs`, in steps of `stepMs`. */
export function seriesOf(
  nodes: readonly Played[],
  endsMs: number,
): { readonly stepMs: number; readonly perSecond: number[] } {
  const stepMs = endsMs / FINE_STEP_MS > STEPS_MAX ? COARSE_STEP_MS : FINE_STEP_MS;
  const counts = Array.from({ length: Math.ceil(endsMs / stepMs) }, () => 0);
  for (const atMs of admittedIn(nodes, { fromMs: 0, toMs: endsMs })) {
    counts[Math.floor(atMs / stepMs)] = counts[Math.floor(atMs / stepMs)] + 1;
  }
  return { stepMs, perSecond: counts.map((count) => (count * SECOND_MS) / stepMs) };
}

/** What counts: an answer after the patience of a client is none. */
function outcomeOf({ dueMs, endedMs, outcomes }: Played, at: number): number {
  const outcome = outcomes[at];
  return endedMs[at] - dueMs[at] > PATIENCE_MS ? LOST : outcome;
}

function isLost(node: Played, at: number): boolean {
  const outcome = outcomeOf(node, at);
  return outcome === LOST || outcome === OPEN;
}

/** Indices of the requests that were due within the span. */
function dueIn({ dueMs }: Played, { fromMs, toMs }: Span): number[] {
  const found: number[] = [];
  dueMs.forEach((ms, at) => {
    if (ms >= fromMs && ms < toMs) found.push(at);
  });
  return found;
}

/** Times of the admissions within the span, in order. */
function admittedIn(nodes: readonly Played[], { fromMs, toMs }: Span): Float64Array {
  const found: number[] = [];
  for (const node of nodes) {
    node.endedMs.forEach((endedMs, at) => {
      if (endedMs >= fromMs && endedMs < toMs && outcomeOf(node, at) === ADMITTED) found.push(endedMs);
    });
  }
  return Float64Array.from(found).sort();
}

function latenciesOf(node: Played, asked: readonly number[]): number[] {
  return asked.filter((at) => !isLost(node, at)).map((at) => node.endedMs[at] - node.dueMs[at]);
}

/** Buckets follow each other from the beginning of the span; one that it cuts off is left out. */
function fullestBucket(
  admittedMs: Float64Array,
  limit: Limit,
  { fromMs, toMs }: Span,
  lengthMs: number,
): number | null {
  const counts = Array.from({ length: Math.floor((toMs - fromMs) / lengthMs) }, () => 0);
  if (counts.length === 0) return null;
  for (const atMs of admittedMs) {
    const bucket = Math.floor((atMs - fromMs) / lengthMs);
    if (bucket < counts.length) counts[bucket] = counts[bucket] + 1;
  }
  return (Math.max(...counts) * SECOND_MS) / lengthMs / limit.perSecond - 1;
}

function mostWithin(sorted: Float64Array, lengthMs: number): number {
  let most = 0;
  for (let first = 0, behind = 0; first < sorted.length; first++) {
    while (behind < sorted.length && sorted[behind] < sorted[first] + lengthMs) behind++;
    most = Math.max(most, behind - first);
  }
  return most;
}

/** The bucket sees the arrivals of all nodes at once, from the beginning on. */
function exactly(nodes: readonly Played[], { perSecond, burst }: Limit, { fromMs, toMs }: Span): number {
  const bucket = new TokenBucket(perSecond, burst);
  const arrivals = Float64Array.from(nodes.flatMap(({ dueMs }) => Array.from(dueMs))).sort();
  let admitted = 0;
  for (const atMs of arrivals) {
    if (bucket.take(atMs) && atMs >= fromMs && atMs < toMs) admitted++;
  }
  return admitted;
}

/**
 * A node's fair part is what max-min over the whole span gives it of what there was: of the quota, or where requests
 * came in heaps and it lay idle between them, of what one exact bucket would have admitted. A node that was refused
 * nothing lacks nothing.
 */
function belowFair(nodes: readonly Played[], asked: readonly (readonly number[])[], there: number): number {
  const wanted = Float64Array.from(asked, ({ length }) => length);
  const waterLevel = findWaterLevel(wanted, new Float64Array(nodes.length).fill(1), there);
  const missing = nodes.map((node, index) => {
    const due = asked[index];
    const admitted = due.filter((at) => outcomeOf(node, at) === ADMITTED).length;
    const refused = due.filter((at) => outcomeOf(node, at) === REFUSED).length;
    const fair = Math.min(due.length, waterLevel);
    return fair === 0 ? 0 : Math.min(refused, Math.max(0, fair - admitted)) / fair;
  });
  return Math.max(0, ...missing);
}
