import type { NodeKey } from '../base/vocabulary.js';
import { type ClusterBucket, debtMaxOf, tokensAfter } from './cluster-bucket.js';

/**
 * Computes what a bucket holds now from the rows of its lane. A node that begins to follow it needs no more.
 *
 *     no row has a stock    the depth: who takes of a bucket keeps a row until it is full again
 *     otherwise             the stock of the furthest row − `unread` of rows behind it + what flowed in since
 *     at most               each row's stock + all that has flowed in since
 *
 * The author of the *furthest* row had read most of the log. *Behind* it are the rows that it had not read, itself
 * among them.
 *
 * *Worked*, 60 per hour: ten minutes ago the only row said a stock of 10, and 2 unread. Now it is 10 − 2 + 10 = 18.
 *
 * *Why the last line:* a row with a false stock gives a newcomer no more than the other rows do.
 *
 * @param expectedPerSecond what all living nodes take together, but in pauses
 */
export function stockNow(rows: readonly Checkpoint[], bucket: ClusterBucket, expectedPerSecond: number): number {
  const { perSecond, depth } = bucket;
  const furthest = furthestOf(rows);
  if (furthest === null) return depth;
  let stock = furthest.stock;
  for (const { offset, unread } of rows) if (offset >= furthest.readUntil) stock -= unread;
  stock = within(bucket, stock);
  // A node that read a compacted log knows of fewer pauses; where nothing is expected, it computes the same bits.
  const busyMs = expectedPerSecond === 0 ? 0 : furthest.spanMs - furthest.pauseMs;
  stock = tokensAfter(bucket, stock, busyMs, expectedPerSecond);
  stock = tokensAfter(bucket, stock, furthest.spanMs - busyMs, 0);
  for (const row of rows) {
    if (!Number.isNaN(row.stock)) stock = Math.min(stock, row.stock + (perSecond * row.spanMs) / 1000);
  }
  return within(bucket, stock);
}

/** Statement of one row about one dimension of its lane's bucket, and its age. */
export interface Checkpoint {
  /** Null = the author is not alive, or has begun another life since. */
  readonly author: NodeKey | null;
  /** Units charged in its life. */
  readonly charge: number;
  /** Units; NaN = nothing. */
  readonly stock: number;
  /** Units that its author had charged and not read back. */
  readonly unread: number;
  /** The offset of its record, and that after the last record that its author had read. */
  readonly offset: number;
  readonly readUntil: number;
  /** Span time since then, and how much of that were pauses (core/log/log-time.ts). */
  readonly spanMs: number;
  readonly pauseMs: number;
}

function furthestOf(rows: readonly Checkpoint[]): Checkpoint | null {
  let furthest: Checkpoint | null = null;
  for (const row of rows) {
    if (Number.isNaN(row.stock)) continue;
    if (furthest === null || isFurther(row, furthest)) furthest = row;
  }
  return furthest;
}

/** Tests if the author of one record had read further than that of the other; of two alike, the later record has. */
export function isFurther(one: ReadExtent, other: ReadExtent): boolean {
  return one.readUntil > other.readUntil || (one.readUntil === other.readUntil && one.offset > other.offset);
}

export type ReadExtent = Pick<Checkpoint, 'offset' | 'readUntil'>;

/** A stock that no bucket can have is bounded as charges are. */
function within(bucket: ClusterBucket, stock: number): number {
  return Math.max(-debtMaxOf(bucket), Math.min(bucket.depth, stock));
}
