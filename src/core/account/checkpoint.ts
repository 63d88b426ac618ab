import type { NodeKey } from '../base/vocabulary.js';
import { type ClusterBucket, debtMaxOf, tokensAfter } from './cluster-bucket.js';

/**
 * Reads what is in a bucket now from what the rows of its lane say was in it. Whoever begins to follow a bucket needs
 * to know no more of its past, so a node follows none that it does not serve.
 *
 *     no row says so    the depth: whoever took of it keeps a row until it is full again
 *     otherwise         the stock of the row that read furthest − what rows behind it took + what flowed in since
 *     at most           of every row: its stock + all that has flowed in since
 *
 * *Worked*, 60 per hour: a row said 10 ten minutes ago, and that its author had taken 2 more. 8 + 10 = 18 now.
 *
 * *Why the last line:* a false stock is read by newcomers alone, and believed as far as the others allow.
 *
 * @param expectedPerSecond what all take together who are alive; in a pause nobody takes anything
 */
export function stockNow(rows: readonly Checkpoint[], bucket: ClusterBucket, expectedPerSecond: number): number {
  const { perSecond, depth } = bucket;
  const furthest = furthestOf(rows);
  if (furthest === null) return depth;
  let stock = furthest.stock;
  for (const { offset, unread } of rows) if (offset >= furthest.readUntil) stock -= unread;
  stock = within(bucket, stock);
  // Readers of a compacted log do not see all pauses: where nothing is expected, the bits must not depend on them.
  const busyMs = expectedPerSecond === 0 ? 0 : furthest.spanMs - furthest.pauseMs;
  stock = tokensAfter(bucket, stock, busyMs, expectedPerSecond);
  stock = tokensAfter(bucket, stock, furthest.spanMs - busyMs, 0);
  for (const row of rows) {
    if (!Number.isNaN(row.stock)) stock = Math.min(stock, row.stock + (perSecond * row.spanMs) / 1000);
  }
  return within(bucket, stock);
}

/** Statement of one row about of one dimension of its lane's bucket, and since when. */
export interface Checkpoint {
  /** Null = it is not alive, or that is of a past life. */
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
