import type { IsolationPolicy } from '../../base/vocabulary.js';

/**
 * State of a node's connection to the log.
 *
 * linked:   the own echo is fresh, shares follow the log
 * held:     the echo is missing; the node keeps its share for `holdMs`
 * fallback: it has been missing for longer, or the log itself has given the node up: the group's policy decides
 */
export type Link = 'linked' | 'held' | 'fallback';

export interface IsolatedShare {
  readonly link: Link;
  readonly policy: IsolationPolicy;
  /** The share applied when the echo went missing. */
  readonly held: number;
  /** Target ÷ the last agreed number of nodes. */
  readonly equalShare: number;
  /** The node's floor. */
  readonly floor: number;
}

/**
 * Computes the share of an isolated node (docs/operate/when-the-topic-is-away.md). No share rises meanwhile, so while
 * the whole topic is away Σ shares stays ≤ target:
 *
 *     held      → the share held
 *     fallback  → equal-share: min(held, target/N) · floor: min(held, floor) · closed: 0 · open: unlimited
 *
 * Worked: target 900, N = 3, held 500/300/100 → 300/300/100. One node cut off *alone* adds at most its own fallback
 * once the others have expired it; `closed`, or floors whose sum is ≤ reserved, exclude that. `open` is for groups
 * whose refusal does more damage than their overload.
 */
export function isolatedShare({ link, policy, held, equalShare, floor }: IsolatedShare): number {
  if (link !== 'fallback') return held;
  switch (policy) {
    case 'equal-share':
      return Math.min(held, equalShare);
    case 'floor':
      return Math.min(held, floor);
    case 'closed':
      return 0;
    case 'open':
      return Infinity;
  }
}
