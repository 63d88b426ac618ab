import { BYTES, DIMENSION_COUNT, MESSAGES, slotOf } from '../base/vocabulary.js';
import type { Buckets } from './buckets.js';
import { TOKEN_SLACK, USEFUL_DEPTH_RATIO } from './constants.js';
import { windowWaitMs } from './window.js';

/** Milliseconds until a slot could admit an amount without other takers. The row has been refilled. */
export function waitOf(buckets: Buckets, slot: number, amount: number): number {
  const tokens = buckets.tokens.at(slot);
  const depth = buckets.depth.at(slot);
  const row = Math.floor(slot / DIMENSION_COUNT);
  const windowMs = buckets.windowOf(row);
  const needed = windowMs === 0 ? Math.min(amount, depth) : amount;
  const tooLargeMs = windowMs === 0 && amount > depth ? buckets.tooLargeMs(slot, amount) : 0;
  if (amount <= 0 || tokens + TOKEN_SLACK >= needed) return tooLargeMs;
  const rate = buckets.comesBackAt(slot);
  if (rate === 0) return Infinity;
  if (windowMs === 0) return Math.max(tooLargeMs, ((needed - tokens) * 1000) / rate);
  return windowWaitMs(tokens, amount, { depth, windowMs, nowMs: buckets.refilledMs.at(row) });
}

/** Milliseconds until a useful amount is back: one unit, or 1 % of the depth where that is more. */
export function usefulWaitOf(buckets: Buckets, slot: number): number {
  const depth = buckets.depth.at(slot);
  if (depth === Infinity) return 0;
  return waitOf(buckets, slot, Math.max(1, depth * USEFUL_DEPTH_RATIO));
}

/** Milliseconds of the limit that messages and bytes take up together; 0 where nothing limits. */
export function bucketMsOf(buckets: Buckets, row: number, messages: number, bytes: number): number {
  const [messageRate, byteRate] = [buckets.comesBackAt(slotOf(row, MESSAGES)), buckets.comesBackAt(slotOf(row, BYTES))];
  return Math.max(timeOf(messages, messageRate), timeOf(bytes, byteRate));
}

function timeOf(amount: number, perSecond: number): number {
  return perSecond > 0 ? (amount * 1000) / perSecond : 0;
}
