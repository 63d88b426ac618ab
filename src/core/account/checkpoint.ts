import type { NodeKey } from '../base/vocabulary.js';
import { type ClusterBucket, debtMaxOf, tokensAfter } from './cluster-bucket.js';

/**
 * Computes the stock of a bucket from the rows of its lane. A node that begins to follow the bucket needs no more.
 *
 *     no row has a stock    the depth: a taker keeps its row until the bucket is full again
 *     otherwise             the stock of the furthest row − `unread` of rows behind it + the inflow since
 *
 * The author of the *furthest* row had read most of the log. *Behind* it are the rows that it had not read: its own is
 * one, because no node has read a record that it is still writing.
 *
 * *Worked*, 60 per hour: ten minutes ago the only row had a stock of 10, and 2 unread. Now it is 10 − 2 + 10 = 18.
 *
 * *Why older rows do not bound it:* units that have come back since are in none of them (docs/decisions/0153).
 *
 * @param expectedPerSecond units per second that all alive nodes take together, except in pauses
 */
export function stockNow(rows: readonly Checkpoint[], bucket: ClusterBucket, expectedPerSecond: number): number {
  const furthest = furthestOf(rows);
  if (furthest === null) return bucket.depth;
  let unread = 0;
  for (const row of rows) if (row.offset >= furthest.readUntil) unread += row.unread;
  // Charges owe no more than this; a debt of a larger bucket may be more.
  const least = Math.min(furthest.stock, -debtMaxOf(bucket));
  let stock = Math.min(bucket.depth, Math.max(least, furthest.stock - unread));
  // Leaves pauses out where no use is expected: readers of a compacted log count fewer of them.
  const busyMs = expectedPerSecond === 0 ? 0 : furthest.spanMs - furthest.pauseMs;
  stock = tokensAfter(bucket, stock, busyMs, expectedPerSecond);
  stock = tokensAfter(bucket, stock, furthest.spanMs - busyMs, 0);
  return within(bucket, stock);
}

/** One row's figures of one dimension of a bucket, and its age. */
export interface Checkpoint {
  /** Null = the author is dead, or has begun another life since. */
  readonly author: NodeKey | null;
  /** Units charged in its life. */
  readonly charge: number;
  /** Units; NaN = none published. */
  readonly stock: number;
  /** Units charged by its author and not read back. */
  readonly unread: number;
  /** The offset of its record; below, that after the last record its author had read. */
  readonly offset: number;
  readonly readUntil: number;
  /** Span time since then, and the pauses in it (core/log/log-time.ts). */
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

/** Tests if one author had read further; after equal reading, the later record counts. */
export function isFurther(one: ReadExtent, other: ReadExtent): boolean {
  return one.readUntil > other.readUntil || (one.readUntil === other.readUntil && one.offset > other.offset);
}

export type ReadExtent = Pick<Checkpoint, 'offset' | 'readUntil'>;

/** Bounds a stock as charges are bounded. */
function within(bucket: ClusterBucket, stock: number): number {
  return Math.max(-debtMaxOf(bucket), Math.min(bucket.depth, stock));
}
