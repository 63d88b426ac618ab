import type { Call } from './clients.js';
import { frozenSpans, type HappenedFault } from './happened.js';
import { NODES } from './schedule.js';

/** A granted call, with the times between which it was decided. */
export interface Grant {
  readonly node: number;
  readonly earliestMs: number;
  readonly latestMs: number;
}

/**
 * Lists the grants of a group, by the time of their answers.
 *
 * Each was decided after it was sent, and before it was answered: either time alone bunches
 * what a node decided evenly wherever clients, or the node, waited for a core. What a frozen node answers it has decided after it was thawed.
 */
export function grantsOf(calls: readonly Call[], group: number, happened: readonly HappenedFault[]): Grant[] {
  const frozen = Array.from({ length: NODES }, (_, node) => frozenSpans(happened, node));
  const grants = calls
    .filter((call) => call.group === group && call.outcome === 'granted')
    .map(({ sentMs, endedMs, node }) => {
      const span = frozen[node]?.find(([fromMs, toMs]) => sentMs >= fromMs && sentMs < toMs);
      return { node, earliestMs: Math.min(span?.[1] ?? sentMs, endedMs), latestMs: endedMs };
    });
  return grants.sort((one, other) => one.latestMs - other.latestMs);
}
