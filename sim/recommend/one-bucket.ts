import type { RecordedWork } from './recorded-work.js';

/** Which amounts of the work a quota is for: 0 = messages, 1 = bytes. */
export type Dimension = 0 | 1;

/**
 * The part of the work that a single bucket would refuse, full at the beginning: a first guess at a quota, in a
 * thousandth of the time that a simulated cluster takes. Nothing that is recommended rests on it.
 *
 * @param perSecond units per second of the work's own time
 */
export function refusedByOneBucket(work: RecordedWork, of: Dimension, perSecond: number, depth: number): number {
  const amounts = of === 0 ? work.messages : work.bytes;
  let [tokens, lastMs, refused, offered] = [depth, 0, 0, 0];
  for (let at = 0; at < work.count; at++) {
    const [atMs, amount] = [work.atMs[at] as number, amounts[at] as number];
    tokens = Math.min(depth, tokens + ((atMs - lastMs) * perSecond) / 1000);
    lastMs = atMs;
    offered += amount;
    // As the limiter: a full bucket admits what is above it.
    if (tokens >= Math.min(amount, depth)) tokens -= amount;
    else refused += amount;
  }
  return offered === 0 ? 0 : refused / offered;
}

/**
 * The least rate at which a single bucket refuses no more than `wish`, to a thousandth; null = there is none, because
 * more is asked for at once than the bucket holds.
 */
export function leastOfOneBucket(work: RecordedWork, of: Dimension, depth: number, wish: number): number | null {
  if (refusedByOneBucket(work, of, Number.MAX_VALUE, depth) > wish) return null;
  let high = Math.max(Number.MIN_VALUE, meanPerSecond(work, of));
  while (refusedByOneBucket(work, of, high, depth) > wish) high *= 2;
  let low = high / 2;
  while (low > 0 && refusedByOneBucket(work, of, low, depth) <= wish) [high, low] = [low, low / 2];
  while (high / low > 1.001) {
    const middle = (low + high) / 2;
    if (refusedByOneBucket(work, of, middle, depth) > wish) low = middle;
    else high = middle;
  }
  return high;
}

/** Over the time from the first piece of work to the last, at least a second. */
export function meanPerSecond(work: RecordedWork, of: Dimension): number {
  const amounts = of === 0 ? work.messages : work.bytes;
  let offered = 0;
  for (let at = 0; at < work.count; at++) offered += amounts[at] as number;
  const lengthMs = (work.atMs[work.count - 1] ?? 0) - (work.atMs[0] ?? 0);
  return offered / Math.max(1, lengthMs / 1000);
}

export function largestOf(work: RecordedWork, of: Dimension): number {
  const amounts = of === 0 ? work.messages : work.bytes;
  let largest = 0;
  for (let at = 0; at < work.count; at++) largest = Math.max(largest, amounts[at] as number);
  return largest;
}
