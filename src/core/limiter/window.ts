import { BYTES, DIMENSION_COUNT, MESSAGES } from '../base/vocabulary.js';
import type { Buckets } from './buckets.js';
import { DEPTH_AT, LINE_LENGTH, RATE_AT, REFILLED_AT } from './column.js';
import { TOKEN_SLACK } from './constants.js';

/**
 * Rows that hand out whole tokens per window (Numaflow's epochs): window e is the time from e · windowMs of the node's
 * own clock on, and holds limit · windowMs / 1000 tokens, all of them at once. Tokens left at its end are void, except
 * a fraction of a token, which the next window gets: 7.5 per window give 7 and 8 in turn, and 0.25 give one in every
 * fourth window. Whole numbers alone would give 7 in each, and none for ever.
 *
 * Worked: 100/s, windows of 1 s, 30 taken until 0.9 s: 70 are there, at 1.0 s it is 100. So up to two windows' worth
 * may pass within an instant around a boundary, and in any sliding second; a token bucket does not do that.
 *
 * A change of the window's length, or to a bucket, mints nothing, however often it happens: tokens left are void, and
 * tokens spent ahead of their time are owed. The new windows begin with the next one.
 * Worked: 100/s, a window of 1 s, all 100 spent by 0.2 s, then a bucket: it begins with −80. Windows of 1 s again at
 * 0.3 s: −70 is repaid by 1.0 s, when the next window has its 100.
 */

/** Brings the tokens of a row to `nowMs`, across ended windows. */
export function passWindows(buckets: Buckets, row: number, nowMs: number): void {
  const { lines } = buckets;
  const first = row * LINE_LENGTH;
  const windowMs = buckets.windowOf(row);
  const passed = Math.floor(nowMs / windowMs) - Math.floor(lines[first + REFILLED_AT] / windowMs);
  lines[first + REFILLED_AT] = nowMs;
  if (passed <= 0) return;
  for (let index = first; index < first + DIMENSION_COUNT; index++) {
    const perWindow = (lines[index + RATE_AT] * windowMs) / 1000;
    const before = lines[index];
    if (perWindow === 0) {
      // Blocked or unlimited: a debt stays, and nothing is saved.
      if (before > 0 && before !== Infinity) lines[index] = 0;
      continue;
    }
    lines[index] = kept(before) + (passed - 1) * perWindow;
  }
  // Held tokens that come back after the end of a window count up to the debt that was left then, and no further.
  buckets.held?.noteDebts(row);
  for (let index = first; index < first + DIMENSION_COUNT; index++) {
    const perWindow = (lines[index + RATE_AT] * windowMs) / 1000;
    if (perWindow > 0) lines[index] = kept(lines[index]) + perWindow;
  }
}

/**
 * Returns the dimension that refuses, or −1. A window never grants more than there is: unlike a bucket, a full window
 * does not admit a batch above what it holds. The one exception is a single message, whose bytes cannot be split; it
 * leaves a debt.
 */
export function windowRefusedBy(lines: Float64Array, first: number, messages: number, bytes: number): number {
  if (!isThere(lines[first], lines[first + DEPTH_AT], messages)) return MESSAGES;
  const depth = lines[first + DEPTH_AT + 1];
  return isThere(lines[first + 1], depth, messages <= 1 ? Math.min(bytes, depth) : bytes) ? -1 : BYTES;
}

/** Computes the tokens after a change of the limit: its rest of the window, within a lower depth. */
export function changedTokens(tokens: number, limits: WindowChange): number {
  const { before, after, depth, windowMs, nowMs } = limits;
  const restMs = restOfWindow(windowMs, nowMs);
  const changed = tokens + ((after - before) * restMs) / 1000;
  return after < before ? Math.min(changed, depth) : changed;
}

/** Milliseconds to the end of the window; 0 for a bucket. */
export function restOfWindow(windowMs: number, nowMs: number): number {
  return windowMs === 0 ? 0 : windowMs - (nowMs - Math.floor(nowMs / windowMs) * windowMs);
}

export interface WindowChange {
  /** Units per second. */
  readonly before: number;
  readonly after: number;
  readonly depth: number;
  readonly windowMs: number;
  readonly nowMs: number;
}

/** Milliseconds until a window has the amount if nobody else takes any; `tokens` do not suffice. */
export function windowWaitMs(tokens: number, amount: number, at: Omit<WindowChange, 'before' | 'after'>): number {
  const { depth, windowMs, nowMs } = at;
  const toNextMs = restOfWindow(windowMs, nowMs);
  const missing = Math.min(amount, mostOfWindow(depth)) - kept(tokens);
  return toNextMs + Math.max(0, Math.ceil(missing / depth - TOKEN_SLACK) - 1) * windowMs;
}

/** Tests if no window of the row can ever grant this whole. False for buckets. */
export function isAboveWindow(buckets: Buckets, row: number, messages: number, bytes: number): boolean {
  if (buckets.windowOf(row) === 0) return false;
  const most = (dimension: number) => mostOfWindow(buckets.depth.at(row * DIMENSION_COUNT + dimension));
  return messages > most(MESSAGES) || (messages > 1 && bytes > most(BYTES));
}

/** Whole tokens that a window can have at most, with saved fractions. */
function mostOfWindow(depth: number): number {
  return Math.max(1, Math.ceil(depth - TOKEN_SLACK));
}

/** Computes the debt or fraction of a token for the next window. */
function kept(tokens: number): number {
  return tokens < 0 ? tokens : Math.max(0, tokens - Math.floor(tokens + TOKEN_SLACK));
}

function isThere(tokens: number, depth: number, amount: number): boolean {
  return amount <= 0 || (!Number.isNaN(depth) && tokens + TOKEN_SLACK >= amount);
}
