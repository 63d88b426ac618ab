import type { Effects } from '../coordinator-protocol.js';
import type { LaneState } from '../lane-state.js';
import { shareMoved } from '../report/settling.js';
import type { LinkWatch } from './link-watch.js';
import { LIMIT_MOVED, NOTHING_MOVED, type ShareBook } from './share-book.js';

/** Where a node stands when it computes its shares anew. */
export interface UpdatePlace {
  /** Index of the node among the alive ones; −1 when the log has given it up. */
  readonly own: number;
  readonly nowMs: number;
}

/** Computes the shares of these lanes anew, and tells which moved. */
export function updateLanes(
  lanes: Iterable<LaneState>,
  { shares, link }: { readonly shares: ShareBook; readonly link: LinkWatch },
  { decidedLanes, changedLanes }: Effects,
  { own, nowMs }: UpdatePlace,
): void {
  for (const lane of lanes) {
    lane.link = link.worse(lane, nowMs);
    const moved = shares.update(lane, own, nowMs);
    if (moved === NOTHING_MOVED) continue;
    decidedLanes.push(lane.lane);
    if ((moved & LIMIT_MOVED) === 0) continue;
    changedLanes.push(lane.lane);
    if (lane.hasEntry) shareMoved(lane.settling, nowMs);
  }
}
