/**
 * Computes a node's share while a new log is incomplete (epoch-watch.ts). No share rises, so Σ shares stays at or below
 * that of the old log, whatever the new one already has:
 *
 *     a node that decided in the old log      → min(held, computed); `held` until its own records have been read back
 *       a lane that it did not serve there    → min(its floor, computed): the other nodes have left that much to it
 *       a group that divides by an agreed pool → min(held, target ÷ pool), with the larger of the old and the new pool:
 *                                               nothing can be computed before the pool is agreed on again
 *     a node that has started in the new log  → min(its floor, computed)
 *
 * Worked: target 900, held 500/300/100. The records of the second node come first: it computes 870 and stays at 300.
 */
export function unsettledShare(known: Unsettled): number {
  const { held, floor, computed, target, quota, pool, keepsShares, isOwnRead } = known;
  if (target === Infinity || quota === 0) return quota;
  // Until the own records have been read, ceilings of ramps may be missing, and `target` would be too low.
  const most = isOwnRead ? target : quota;
  if (pool !== null && keepsShares) return Math.min(held, most / pool);
  const kept = keepsShares && held !== Infinity ? held : floor;
  return Math.min(kept, isOwnRead ? computed : quota);
}

export interface Unsettled {
  /** The share applied until now; Infinity = the lane was not served. */
  readonly held: number;
  readonly floor: number;
  readonly computed: number;
  /** Units per second of all nodes together by the new log. */
  readonly target: number;
  /** Units per second of all nodes together by the configuration. */
  readonly quota: number;
  /** The largest pool that any node may divide by; null = without an agreed pool. */
  readonly pool: number | null;
  /** See EpochWatch. */
  readonly keepsShares: boolean;
  readonly isOwnRead: boolean;
}
