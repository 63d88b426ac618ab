import type { NodeKey } from '../base/vocabulary.js';
import { type ClusterBucket, setPointOf } from './cluster-bucket.js';
import {
  ADVANCE_DEPTHS,
  FAR_ABOVE_FILL_SECONDS,
  FAR_ABOVE_PIECES,
  FAR_ABOVE_TIMES,
  FAR_BELOW_TIMES,
  NEARLY_ALL_RATIO,
  NODES_PER_TURN,
  PIECES_PER_SECOND_MAX,
  SET_POINT_RATIO,
  TOGETHER_DEPTHS,
} from './constants.js';
import { wholeOf } from './from-cluster.js';
import type { RecentUse } from './recent-use.js';

/**
 * Tests if the nodes' shares would be fractions of a piece. Then no use is expected, every admission is published at
 * once, and the log gives whole pieces: a fraction of a piece that stays unpublished would be used by no node. With few
 * pieces per second and node that holds for deep buckets, too (docs/decisions/0074).
 */
export function isInPieces({ perSecond, depth }: ClusterBucket, piece: number, nodes: number): boolean {
  const isSlow = perSecond <= 10 * nodes * piece && perSecond <= PIECES_PER_SECOND_MAX * piece;
  return isSlow && (depth < 4 * nodes * piece || perSecond <= 3 * nodes * piece);
}

/**
 * Tests if expected use pays for nearly all that nodes take. Then it is published, instead of each piece.
 *
 * *Worked*, 10/s on three nodes that are asked once a second in all: 0.014 records per second and node instead of 0.33.
 *
 * @param total units per second that all nodes are expected to take; 0 = nothing is published
 */
export function isFarBelow({ perSecond, depth }: ClusterBucket, piece: number, nodes: number, total: number): boolean {
  return total > 0 && FAR_BELOW_TIMES * total <= perSecond && depth >= nodes * piece;
}

/**
 * Tests if each node wants more than its share. Of a deep bucket that share is then what it would take.
 *
 * *Worked*, 1/s of depth 60, asked twice a second on three nodes in all: 0.06 records per second and node instead of
 * 0.33.
 *
 * *Why each:* a node below its share depends on the last token, which shares of a slow quota give to nobody.
 */
export function isFarAbove({ perSecond, depth }: ClusterBucket, piece: number, nodes: number, all: Wanted): boolean {
  const isDeep = depth >= FAR_ABOVE_PIECES * nodes * piece && depth <= FAR_ABOVE_FILL_SECONDS * perSecond;
  return (
    isDeep && !all.isAnyMet && all.total >= FAR_ABOVE_TIMES * perSecond && all.leastStock <= SET_POINT_RATIO * depth
  );
}

interface Wanted {
  /** Units per second that all nodes want. */
  readonly total: number;
  /** True = some node wants no more than its share. */
  readonly isAnyMet: boolean;
  /** Units; the least stock in their rows. */
  readonly leastStock: number;
}

/**
 * Computes this node's units of a bucket in pieces. When several ask for the last token, the one that had the fewest
 * lately goes first. The next five wait for as many more tokens as flow in during a delivery, at most one piece, and
 * all others for twice as many; so two nodes seldom take the same token. Less than a piece is a part of the next one.
 *
 * Nodes without a recent record together take about twice the stock, or a piece each. After a record, its author may
 * take the rest, and all nodes without one together once more as much; k authors that want no more than their shares
 * take twice the stock, at most what advances of the other nodes leave of three depths, since those may take the bucket
 * for full by now. Rejected: a delivery more of waiting for each node, which wastes more than it gains in fairness; and
 * no piece for some nodes where three depths have fewer pieces than there are nodes, which would refuse rare requests
 * below the quota.
 *
 * *Worked*, 10/s on ten nodes, full: 2.2 each. One has taken 2, and all have read of it: it may take the other 8. One
 * asks 50 times a second and has had 20 lately, another 18: the first leaves 2 tokens for that one, and one for the
 * eight that have no record.
 *
 * @param piece units of a piece of this node's work
 * @param roundTripMs from an admission until all have read of it
 */
export function wholePieces(bucket: ClusterBucket, tokens: number, piece: number, turn: PieceTurn): number {
  const { recent, own, logMs, roundTripMs, isDivided, nodes } = turn;
  const others = recent.othersLately(own, logMs, bucket);
  const here = (tokens - keptOf(bucket, tokens, turn)) / piece;
  const inFlight = (bucket.perSecond * roundTripMs) / (1000 * piece);
  // With more turns than two, the bucket waits for nodes that ask for nothing.
  const turns = Math.min(2, Math.ceil(recent.countBefore(own, logMs, bucket) / NODES_PER_TURN));
  const waitsFor = turns * Math.min(1, inFlight);
  const needed = Math.min(Math.max(1, bucket.depth / piece - 1), 1 + waitsFor);
  if (here < needed) return piece * (1 + here - needed);
  const isFull = tokens >= NEARLY_ALL_RATIO * bucket.depth;
  const part = isDivided ? 1 / nodes : partOf(turn, others, recent.isKnown(own, logMs, bucket), isFull);
  return Math.min(piece * here, Math.max(piece, part * tokens));
}

/**
 * Computes the units left to others until the bucket is nearly full. If this node wants more than its share, that is
 * the sum of their lags, and a piece for nodes without a record: a node that asks less often would otherwise find the
 * bucket empty. A node that is behind all others takes the tokens that they leave.
 *
 * *Worked*, 1,000/day on two nodes: one has taken 600 at once. It leaves one for the other, which has no record, and
 * may take 399.
 */
function keptOf(bucket: ClusterBucket, tokens: number, turn: PieceTurn): number {
  const { recent, own, logMs, nodes, isOwing, crowdsOut, piece } = turn;
  if (tokens >= NEARLY_ALL_RATIO * bucket.depth) return 0;
  const setPoint = setPointOf(bucket);
  if (isOwing) return setPoint;
  if (!crowdsOut) return 0;
  const isTheirTurn =
    nodes > 1 + recent.othersLately(own, logMs, bucket) && !recent.isBehindAll(own, logMs, bucket, piece);
  const forUnknown = isTheirTurn ? piece : 0;
  return Math.min(Math.max(piece, setPoint), forUnknown + recent.lagOfOthers(own, logMs, bucket));
}

/** The part of the stock for this node beside recent authors. */
function partOf({ nodes, crowdsOut }: PieceTurn, others: number, isKnown: boolean, isFull: boolean): number {
  const advance = wholeOf(nodes, false);
  const amongKnown = 1 / (1 + others);
  if (isKnown && crowdsOut) return isFull ? Math.min(advance, amongKnown) : amongKnown;
  if (isFull || (!isKnown && others === 0)) return advance;
  // Nodes without a record take one stock more. With one alone, a node would be refused beside a full bucket until its
  // first record is read back.
  const depths = Math.min(ADVANCE_DEPTHS, TOGETHER_DEPTHS - Math.max(0, nodes - 1 - others) * advance);
  if (isKnown) return Math.min(1, depths * amongKnown);
  return Math.min(amongKnown, 1 / Math.max(1, nodes - others));
}

export interface PieceTurn {
  readonly recent: RecentUse;
  readonly own: NodeKey;
  readonly logMs: number;
  readonly roundTripMs: number;
  /** True: the stock is divided among all nodes in advance. */
  readonly isDivided: boolean;
  readonly nodes: number;
  /** Units of a piece of others' work: how large their requests are is in no record. */
  readonly piece: number;
  /** True: this node is in debt and leaves others the tokens up to the set point. */
  readonly isOwing: boolean;
  /** True: this node's demand clearly exceeds its share, so it makes up for others' lags. */
  readonly crowdsOut: boolean;
}
