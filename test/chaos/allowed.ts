import { type AloneSpan, aloneSpans, changesBeside, type HappenedFault, knownNodes } from './happened.js';
import { DELIVERY_MS, keptAfter, STALENESS_MS } from './promises.js';
import { NODES } from './schedule.js';
import type { SharesHeld } from './shares-held.js';
import { GROUPS } from './workload.js';

/** A rate until the next one, per second. */
export interface RateStep {
  readonly fromMs: number;
  readonly perSecond: number;
}

/**
 * Computes what the documents let flow in, per second, at every moment of a run:
 *
 *     quota + Σ over nodes that are alone of what they keep
 *
 * Shares of the same prefix of the log never exceed the quota (ARCHITECTURE.md, invariants 1 and 2), and nobody rises without the log
 * (invariant 3). So what may come on top is what somebody keeps who does not follow the log while others do: "it adds what it held, afterwards
 * its fallback" (docs/operate/when-the-topic-is-away.md). It adds nothing for as long as the others still count it with what it keeps: until they have
 * expired it after `stalenessMs`, and while nothing has changed beside it.
 */
export class Allowed {
  readonly #spans: readonly (AloneSpan & {
    readonly held: readonly number[];
    readonly countedUntilMs: number;
    readonly known: number;
  })[];

  constructor(happened: readonly HappenedFault[], shares: SharesHeld) {
    this.#spans = aloneSpans(happened).map((span) => ({
      ...span,
      held: GROUPS.map(({ quota }, group) => Math.min(quota, heldBy(span, group, shares))),
      countedUntilMs: countedUntil(span, happened),
      known: knownNodes(happened, span),
    }));
  }

  /** Lists every rate of a run, in order. */
  steps(group: number, durationMs: number): RateStep[] {
    // A node that is alone keeps nothing of a strict group.
    if (GROUPS[group].isStrict) return [{ fromMs: 0, perSecond: GROUPS[group].quota }];
    const holdMs = GROUPS[group].isolation.holdMs;
    const turns = this.#spans.flatMap(({ fromMs, toMs, countedUntilMs, deafSinceMs, noticesAfterMs }) => {
      return [fromMs, countedUntilMs, deafSinceMs + Math.max(holdMs, noticesAfterMs), toMs];
    });
    const within = turns.filter((atMs) => atMs > 0 && atMs < durationMs);
    const times = [0, ...new Set(within), durationMs].sort((one, other) => one - other);
    return times.slice(0, -1).map((fromMs, at) => {
      return { fromMs, perSecond: this.#at(group, (fromMs + times[at + 1]) / 2) };
    });
  }

  #at(group: number, atMs: number): number {
    let extra = 0;
    for (let node = 0; node < NODES; node++) extra += this.#keptBy(node, group, atMs);
    return (GROUPS[group]?.quota ?? 0) + extra;
  }

  /** If a node is alone for several reasons at once, the one that leaves it most counts. */
  #keptBy(node: number, group: number, atMs: number): number {
    let most = 0;
    for (const span of this.#spans) {
      if (span.node !== node || atMs < span.fromMs || atMs >= span.toMs || atMs < span.countedUntilMs) continue;
      const of = GROUPS[group];
      if (of === undefined) continue;
      const held = span.held[group];
      const kept = span.hearsLate
        ? held
        : keptAfter(of, held, atMs - span.deafSinceMs, span.noticesAfterMs, span.known);
      most = Math.max(most, kept);
    }
    return most;
  }
}

/** Returns what flows in within a span. */
export function inflowOf(steps: readonly RateStep[], fromMs: number, toMs: number): number {
  return steps.reduce((sum, step, at) => {
    const endMs = Math.min(toMs, steps[at + 1]?.fromMs ?? Infinity);
    return sum + (step.perSecond * Math.max(0, endMs - Math.max(fromMs, step.fromMs))) / 1000;
  }, 0);
}

function heldBy(span: AloneSpan, group: number, shares: SharesHeld): number {
  const untilMs = span.hearsLate ? span.toMs : span.deafSinceMs + DELIVERY_MS;
  return shares.most(group, span.node, span.deafSinceMs - DELIVERY_MS, untilMs);
}

/** When the others stop counting the node with what it keeps: at the first change, or when they have expired it. */
function countedUntil(span: AloneSpan, happened: readonly HappenedFault[]): number {
  if (span.hearsLate) return span.fromMs;
  const expiredMs = span.deafSinceMs + STALENESS_MS;
  const change = changesBeside(happened, span).find((atMs) => atMs >= span.deafSinceMs - DELIVERY_MS);
  return Math.min(expiredMs, change ?? expiredMs);
}
