import { keyNameOf } from '../../../config/setting/key-name.js';
import type { Dimension } from '../../../core/base/vocabulary.js';

/**
 * Writes a policy's name so that a structured field's string may hold it: anything but printable ASCII, and quotes,
 * backslashes and percent signs, is percent-encoded. Long names of keys are those that are kept, because proxies drop
 * answers whose headers exceed some KiB.
 *
 * Worked: `key:Jürgen` is `key:J%C3%BCrgen`.
 */
export function policyName(group: string, ...rest: readonly string[]): string {
  const name = [keyNameOf(group), ...rest].join('-');
  if (/^[ !#$&-[\]-~]*$/.test(name)) return name;
  return name.replace(/[^ !#$&-[\]-~]/gu, (text) => {
    return Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
  });
}

/**
 * An item of RateLimit-Policy. Less than one unit per window is told per longer window, because q and w are integers.
 * It never tells more than is configured.
 */
export function policyItem(name: string, amount: number, windowS: number, dimension: Dimension): string {
  const windows = amount > 0 && amount < 1 ? Math.ceil(1 / amount) : 1;
  const unit = dimension === 'bytes' ? ';qu="content-bytes"' : '';
  return `"${name}";q=${wholeUnits(amount * windows)};w=${Math.min(INTEGER_MAX, windows * windowS)}${unit}`;
}

/** An item of RateLimit; without t where `seconds` is null. */
export function leftItem(name: string, left: number, seconds: number | null): string {
  return `"${name}";r=${wholeUnits(left)}${seconds === null ? '' : `;t=${Math.min(INTEGER_MAX, seconds)}`}`;
}

/**
 * Retry-After knows whole seconds only: rounded up, since coming back early would only be refused again, and never 0,
 * which many clients read as "at once". `retryAfterMs` in the body is exact.
 */
export function wholeSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}

/** Largest integer of a structured field (RFC 9651 §3.3.1). */
const INTEGER_MAX = 999_999_999_999_999;

function wholeUnits(amount: number): number {
  return Math.min(INTEGER_MAX, Math.floor(amount));
}
