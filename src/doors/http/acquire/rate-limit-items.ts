import { keyNameOf } from '../../../config/setting/key-name.js';
import type { Dimension } from '../../../core/base/vocabulary.js';

/**
 * Percent-encodes a policy's name for a structured field's string: all but printable ASCII, quotes, backslashes,
 * percent signs. Long names of keys are shortened, because proxies drop answers with headers of some KiB. *Worked:*
 * `key:Jürgen` is `key:J%C3%BCrgen`.
 */
export function policyName(group: string, ...rest: readonly string[]): string {
  const name = [keyNameOf(group), ...rest].join('-');
  if (/^[ !#$&-[\]-~]*$/.test(name)) return name;
  return name.replace(/[^ !#$&-[\]-~]/gu, (text) => {
    return Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
  });
}

/**
 * Writes an item of RateLimit-Policy; never more than is configured. q and w are integers: less than one unit per
 * window is written per longer window.
 */
export function policyItem(name: string, amount: number, windowS: number, dimension: Dimension): string {
  const windows = amount > 0 && amount < 1 ? Math.ceil(1 / amount) : 1;
  const unit = dimension === 'bytes' ? ';qu="content-bytes"' : '';
  return `"${name}";q=${wholeUnits(amount * windows)};w=${Math.min(INTEGER_MAX, windows * windowS)}${unit}`;
}

/** Writes an item of RateLimit; null `seconds` = no t. */
export function leftItem(name: string, left: number, seconds: number | null): string {
  return `"${name}";r=${wholeUnits(left)}${seconds === null ? '' : `;t=${Math.min(INTEGER_MAX, seconds)}`}`;
}

/** Rounds up to whole seconds for Retry-After, at least 1: many clients read 0 as "at once". */
export function wholeSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}

/** Largest integer of a structured field (RFC 9651 §3.3.1). */
const INTEGER_MAX = 999_999_999_999_999;

function wholeUnits(amount: number): number {
  return Math.min(INTEGER_MAX, Math.floor(amount));
}
