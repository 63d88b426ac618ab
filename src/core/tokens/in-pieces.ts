import type { NodeKey } from '../base/vocabulary.js';
import { type ClusterBucket, setPointOf, TOGETHER } from './cluster-bucket.js';
import { NEARLY_FULL } from './from-cluster.js';
import type { RecentUse } from './recent-use.js';

/**
 * Whether a bucket is so small that its nodes' shares would be fractions of a piece of work. Then nobody is expected to
 * take anything, every admission is told at once, and the log gives whole pieces: with shares of a fraction 10/s on ten
 * nodes were used to 81 %, 20/s on fifty to 50 %. With few pieces per second and node that holds however deep the
 * bucket is: a node's part of a depth of a minute stays untold, and 20/s on ten nodes were used to 60 %.
 */
export function isInPieces({ perSecond, depth }: ClusterBucket, piece: number, nodes: number): boolean {
  const isSlow = perSecond <= 10 * nodes * piece && perSecond <= PIECES_PER_SECOND_MAX * piece;
  return isSlow && (depth < 4 * nodes * piece || perSecond <= 3 * nodes * piece);
}

/**
 * How many units of a bucket in pieces this node may take at once. When several ask for the last token, the one that
 * had the fewest lately goes first, and the others wait until the bucket holds as many more tokens as flow in while its
 * news travels; so two nodes seldom take the same token. Rejected: to let each wait a delivery longer than the one
 * before it. Jain's index was 0.996 instead of 0.99, but 10/s on ten nodes were used to 95 % at 50 ms, and not to 97 %.
 *
 * Nodes that have told nothing lately take three times of what is there together at most, or a piece each; once one has
 * told, those that have not take it once more. Rejected: no piece for some of them where three depths have fewer than
 * there are nodes. Whoever asks now and then would be refused below the quota.
 *
 * *Worked*, 10/s on ten nodes, full: 3 each. One has taken its 3, and all have read of it: it may take the other 7.
 *
 * @param roundTripMs from an admission until all know of it
 */
export function wholePieces(bucket: ClusterBucket, tokens: number, piece: number, turn: Turn): number {
  const { recent, own, logMs, roundTripMs, isDivided, nodes } = turn;
  const others = recent.othersLately(own, logMs, bucket);
  const depthPieces = bucket.depth / piece;
  const isKept = turn.leavesSetPoint && tokens < NEARLY_FULL * bucket.depth;
  const here = (tokens - (isKept ? setPointOf(bucket) : 0)) / piece;
  const inFlight = (bucket.perSecond * roundTripMs) / (1000 * piece);
  const isKnown = recent.isKnown(own, logMs, bucket);
  const part = here * (isDivided ? 1 / nodes : partOf(nodes, others, isKnown));
  // Without a whole piece it does not matter whose turn it is.
  if (here < 1) return piece * Math.max(0, part);
  const waitsFor = recent.countBefore(own, logMs, bucket) === 0 ? 0 : Math.min(1, inFlight);
  if (here < Math.min(Math.max(1, depthPieces - 1), 1 + waitsFor)) return piece * part;
  const arriving = isKnown ? Math.min(Math.ceil((2 * inFlight) / (1 + others)), (2 * here) / (1 + others)) : 0;
  return piece * Math.max(part, Math.min(here, Math.max(1, arriving)));
}

/** The part of what is there that this node may take, beside others that have told lately. */
function partOf(nodes: number, others: number, isKnown: boolean): number {
  const amongKnown = 1 / (1 + others);
  if (isKnown) return amongKnown;
  return Math.min(amongKnown, (others === 0 ? TOGETHER : 1) / Math.max(1, nodes - others));
}

export interface Turn {
  readonly recent: RecentUse;
  readonly own: NodeKey;
  /** Log time now. */
  readonly logMs: number;
  readonly roundTripMs: number;
  /** True: what is there is divided among all nodes in advance. */
  readonly isDivided: boolean;
  readonly nodes: number;
  /** True: this node wants more than its share, or owes, so it leaves the others the tokens up to the set point. */
  readonly leavesSetPoint: boolean;
}

/** More than that, and the records themselves would be the load. */
const PIECES_PER_SECOND_MAX = 150;
