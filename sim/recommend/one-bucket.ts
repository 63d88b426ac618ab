import type { RecordedWork } from './recorded-work.js';

/** 0 = messages, 1 = bytes. */
export type Dimension = 0 | 1;

/**
 * Returns the part that one bucket per key would refuse: a guess in a thousandth of a cluster's time. @param perSecond
 * units per second of the work's own time
 */
export function refusedByOneBucket(work: RecordedWork, of: Dimension, perSecond: number, depth: number): number {
  const amounts = of === 0 ? work.messages : work.bytes;
  const tokens = new Float64Array(work.keys.length).fill(depth);
  const lastMs = new Float64Array(work.keys.length);
  let [refused, offered] = [0, 0];
  for (let at = 0; at < work.count; at++) {
    const [atMs, amount, key] = [work.atMs[at], amounts[at], work.key[at]];
    const refilled = tokens[key] + ((atMs - lastMs[key]) * perSecond) / 1000;
    tokens[key] = Math.min(depth, refilled);
    lastMs[key] = atMs;
    offered += amount;
    // As the limiter: a full bucket admits what is above it.
    if (tokens[key] >= Math.min(amount, depth)) tokens[key] -= amount;
    else refused += amount;
  }
  return offered === 0 ? 0 : refused / offered;
}

/** Finds the least rate that refuses at most `wish`, to a thousandth. Null = bursts exceed the bucket. */
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

/** Averages over the work's time, at least a second. */
export function meanPerSecond(work: RecordedWork, of: Dimension): number {
  const amounts = of === 0 ? work.messages : work.bytes;
  let offered = 0;
  for (let at = 0; at < work.count; at++) offered += amounts[at];
  return offered / lengthSeconds(work);
}

function lengthSeconds({ atMs, count }: RecordedWork): number {
  return Math.max(1, ((atMs[count - 1] ?? 0) - (atMs[0] ?? 0)) / 1000);
}

/** Returns the most demanding key's mean. */
export function busiestPerSecond(work: RecordedWork, of: Dimension): number {
  const amounts = of === 0 ? work.messages : work.bytes;
  const sums = new Float64Array(work.keys.length);
  for (let at = 0; at < work.count; at++) sums[work.key[at]] += amounts[at];
  return sums.reduce((most, sum) => Math.max(most, sum), 0) / lengthSeconds(work);
}

export function largestOf(work: RecordedWork, of: Dimension): number {
  const amounts = of === 0 ? work.messages : work.bytes;
  let largest = 0;
  for (let at = 0; at < work.count; at++) largest = Math.max(largest, amounts[at]);
  return largest;
}
