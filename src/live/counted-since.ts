import type { Happening } from '../../sim/scenario/scenario.js';

/** A node that starts is asked every 50 ms whether it is ready, on a machine that has other things to do. */
const SEEN_WITHIN_MS = 250;

/**
 * What was done to nodes, with every start at the moment at which the cluster counted the node: the first that another
 * node made room, up to SEEN_WITHIN_MS before it was seen to be ready. Held against the later moment, shares that are
 * right by then were wrong before, and the step before a start never settles (docs/decisions/0013).
 *
 * @param growthMs when somebody saw the cluster grow, in order
 */
export function countedSince(happenings: readonly Happening[], growthMs: readonly number[]): readonly Happening[] {
  const counted = (readyMs: number) =>
    Math.floor(growthMs.find((atMs) => atMs > readyMs - SEEN_WITHIN_MS && atMs <= readyMs) ?? readyMs);
  const dated = happenings.map((happening): Happening => {
    const { what, atMs, values } = happening;
    if (what === 'start') return { ...happening, atMs: counted(atMs) };
    if ((what !== 'leave' && what !== 'crash') || typeof values.forSeconds !== 'number') return happening;
    const forMs = counted(atMs + values.forSeconds * 1000) - atMs;
    return { ...happening, values: { ...values, forSeconds: forMs / 1000 } };
  });
  return dated.sort((one, other) => one.atMs - other.atMs);
}
