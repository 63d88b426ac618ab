import type { NodeKey } from '../base/vocabulary.js';
import { type ClusterBucket, setPointOf, TOGETHER } from './cluster-bucket.js';
import { NEARLY_FULL, wholeOf } from './from-cluster.js';
import type { RecentUse } from './recent-use.js';

/**
 * Tests if a bucket is so small that its nodes' shares would be fractions of a piece of work. Then nobody is expected
 * to take anything, every admission is told at once, and the log gives whole pieces: with shares of a fraction 10/s on
 * ten nodes were used to 81 %, 20/s on fifty to 50 %. With few pieces per second and node that holds however deep the
 * bucket is: a node's part of a depth of a minute stays unpublished, and 20/s on ten nodes were used to 60 %.
 */
export function isInPieces({ perSecond, depth }: ClusterBucket, piece: number, nodes: number): boolean {
  const isSlow = perSecond <= 10 * nodes * piece && perSecond <= PIECES_PER_SECOND_MAX * piece;
  return isSlow && (depth < 4 * nodes * piece || perSecond <= 3 * nodes * piece);
}

/**
 * Computes how many units of a bucket in pieces this node may take at once. When several ask for the last token, the
 * one that had the fewest lately goes first. The next five wait until the bucket holds as many more tokens as flow in
 * while its news travels, and all others twice as long; so two nodes seldom take the same token. Rejected: to let each
 * wait a delivery longer than the one before it. Jain's index was 0.996 instead of 0.99, but 10/s on ten nodes were
 * used to 95 % at 50 ms, and not to 97 %. Less than a piece is what is there of the next one.
 *
 * Nodes that have told nothing lately take twice of what is there together at most, or a piece each; once one has told,
 * it takes what is left, and those that have not take that once more. Rejected: no piece for some of them where three
 * depths have fewer than there are nodes. Whoever asks now and then would be refused below the quota.
 *
 * *Worked*, 10/s on ten nodes, full: 2.2 each. One has taken 2, and all have read of it: it may take the other 8. One
 * asks 50 times a second and has had 20 lately, another 18: the first leaves 2 tokens, so the second finds one whenever
 * it asks.
 *
 * @param roundTripMs from an admission until all know of it
 */
export function wholePieces(bucket: ClusterBucket, tokens: number, piece: number, turn: PieceTurn): number {
  const { recent, own, logMs, roundTripMs, isDivided, nodes } = turn;
  const others = recent.othersLately(own, logMs, bucket);
  const here = (tokens - keptOf(bucket, tokens, piece, turn)) / piece;
  const inFlight = (bucket.perSecond * roundTripMs) / (1000 * piece);
  const turns = Math.min(TURNS_MAX, Math.ceil(recent.countBefore(own, logMs, bucket) / NODES_PER_TURN));
  const waitsFor = turns * Math.min(1, inFlight);
  const needed = Math.min(Math.max(1, bucket.depth / piece - 1), 1 + waitsFor);
  if (here < needed) return piece * (1 + here - needed);
  const isFull = tokens >= NEARLY_FULL * bucket.depth;
  const part = isDivided ? 1 / nodes : partOf(turn, others, recent.isKnown(own, logMs, bucket), isFull);
  return Math.min(piece * here, Math.max(piece, part * tokens));
}

/**
 * Computes how many units this node leaves to others, until the bucket is nearly full. If it wants more than its share,
 * that is by how much they had less, and a piece for a node of which nothing is known: whoever asks less often finds
 * the bucket empty otherwise whenever it asks. A node that all others are ahead of takes what they leave to it.
 */
function keptOf(bucket: ClusterBucket, tokens: number, piece: number, turn: PieceTurn): number {
  const { recent, own, logMs, nodes, isOwing, crowdsOut } = turn;
  if (tokens >= NEARLY_FULL * bucket.depth) return 0;
  const setPoint = setPointOf(bucket);
  if (isOwing) return setPoint;
  if (!crowdsOut) return 0;
  const isTheirTurn =
    nodes > 1 + recent.othersLately(own, logMs, bucket) && !recent.isBehindAll(own, logMs, bucket, piece);
  const forUnknown = isTheirTurn ? piece : 0;
  return Math.min(Math.max(piece, setPoint), forUnknown + recent.lagOfOthers(own, logMs, bucket));
}

/** Reads the part of what is there that this node may take, beside others that have published lately. */
function partOf({ nodes, crowdsOut }: PieceTurn, others: number, isKnown: boolean, isFull: boolean): number {
  const advance = wholeOf(nodes, false);
  const amongKnown = 1 / (1 + others);
  if (isKnown && crowdsOut) return isFull ? Math.min(advance, amongKnown) : amongKnown;
  if (isFull || (!isKnown && others === 0)) return advance;
  if (isKnown) return Math.min(1, TOGETHER_KNOWN * amongKnown);
  return Math.min(amongKnown, 1 / Math.max(1, nodes - others));
}

export interface PieceTurn {
  readonly recent: RecentUse;
  readonly own: NodeKey;
  /** Log time now. */
  readonly logMs: number;
  readonly roundTripMs: number;
  /** True: what is there is divided among all nodes in advance. */
  readonly isDivided: boolean;
  readonly nodes: number;
  /** True: this node owes, so it leaves the others the tokens up to the set point. */
  readonly isOwing: boolean;
  /** True: this node wants clearly more than its share, so it leaves the others what they had less. */
  readonly crowdsOut: boolean;
}

/**
 * Nodes that have told lately and want no more than their shares take so many times what is there together, and those
 * that have not told once more: three depths in all. With one a node whose second piece came before its first was read
 * back was refused beside a full bucket, and 20/s on ten nodes were used to 90 %.
 */
const TOGETHER_KNOWN = TOGETHER - 1;
/**
 * The first node that may take a piece, the next ones and all others do so one after the other. With more turns nodes
 * are waited for that ask for nothing; with one less thirty that ask for 10/s all the time took 3.8 depths, not 3.2.
 */
const TURNS_MAX = 2;
/** With more, thirty nodes take more at once; with three, 20/s on fifty nodes were used to less than 97 %. */
const NODES_PER_TURN = 5;
/** More than that, and the records themselves would be the load. */
const PIECES_PER_SECOND_MAX = 150;
