import type { Effects } from '../../base/protocol/events-and-effects.js';
import type { NodeKey } from '../../base/vocabulary.js';
import { shareMoved } from '../../report/sample/settling.js';
import type { Membership } from '../../usage-map/membership.js';
import type { LaneState } from '../lanes/lane-state.js';
import type { LinkWatch } from '../lanes/link-watch.js';
import type { ShareBook } from './share-book.js';

/** The parts of a node whose shares are computed anew; the coordinator has them. */
interface SharingNode {
  readonly nodeKey: NodeKey;
  readonly membership: Membership;
  readonly shares: ShareBook;
  readonly link: LinkWatch;
}

/** Computes the shares of these lanes anew. Adds the moved lanes to the effects. */
export function updateLanes(
  lanes: Iterable<LaneState>,
  { nodeKey, membership, shares, link }: SharingNode,
  { decidedLanes, changedLanes }: Effects,
  nowMs: number,
): void {
  for (const lane of lanes) {
    // −1 = the partition counts this node as dead.
    const own = membership.indexOf(nodeKey, lane.partition);
    lane.link = link.worse(lane, nowMs);
    if (!shares.update(lane, own, nowMs)) continue;
    decidedLanes.push(lane.lane);
    changedLanes.push(lane.lane);
    if (lane.entry.isOpen) shareMoved(lane.settling, nowMs);
  }
}
