/**
 * The share of a node while its log does not say everything yet (epoch/epoch-watch.ts). Nobody rises, so whatever the
 * new log already says, Σ shares stays ≤ what it was in the old one:
 *
 *     a node that decided in the old log     → min(held, computed), held alone before its own records are read back
 *       a lane that it did not serve there   → min(its floor, computed): the others have left it so much
 *       a group that divides by a pool       → min(held, target ÷ the larger of the pools), because nothing is computed
 *                                              before the pool is agreed on again
 *     a node that has begun in the new log   → min(its floor, computed)
 *
 * Worked: target 900, held 500/300/100. The second one's records come first: it computes 870 and stays at 300.
 */
export function unsettledShare(known: Unsettled): number {
  const { held, floor, computed, target, quota, pool, keepsShares, isOwnRead } = known;
  if (target === Number.POSITIVE_INFINITY || quota === 0) return quota;
  // Before, the levels of ramps may be missing as well.
  const most = isOwnRead ? target : quota;
  if (pool !== null && keepsShares) return Math.min(held, most / pool);
  const kept = keepsShares && held !== Number.POSITIVE_INFINITY ? held : floor;
  return Math.min(kept, isOwnRead ? computed : quota);
}

export interface Unsettled {
  /** The share applied until now; Infinity = the lane was not served. */
  readonly held: number;
  readonly floor: number;
  /** What the new log says. */
  readonly computed: number;
  /** What all may have now as far as the new log says, and as it is configured. */
  readonly target: number;
  readonly quota: number;
  /** What a group divides by that agrees on a pool, as large as anybody may think it is; null = it does not. */
  readonly pool: number | null;
  readonly keepsShares: boolean;
  readonly isOwnRead: boolean;
}
