/** Everything, nothing, or a token bucket: filled continuously with `tokens` per `seconds`, up to `depth`. */
export type Assignment =
  | { readonly kind: 'allow' }
  | { readonly kind: 'deny' }
  | { readonly kind: 'bucket'; readonly tokens: number; readonly seconds: number; readonly depth: number };

/** Units/s, and units of depth. */
export interface Share {
  readonly rate: number;
  readonly depth: number;
}

/**
 * Writes a share as Envoy understands it:
 *
 *     tokens = ⌊rate · seconds⌋,   seconds = the least of 1, 10, 100, … with at least 200 tokens
 *
 * Worked: 500/s → 500 per 1 s. 12.34/s → 1,234 per 100 s. 5 per minute → 833 per 10,000 s. 0 → deny, Infinity → allow.
 *
 * *Why not change `seconds` alone:* Envoy takes a bucket of the same tokens and depth for the same bucket. Then it gets
 * one token less.
 *
 * @param before what is in force
 */
export function assignmentOf({ rate, depth }: Share, before: Assignment | null): Assignment {
  if (rate >= UNLIMITED_RATE) return ALLOW;
  if (rate < LEAST_RATE) return DENY;
  let seconds = 1;
  while (rate * seconds < TOKENS_LEAST && seconds < SECONDS_MOST) seconds *= 10;
  const tokens = Math.max(1, Math.floor(rate * seconds));
  const whole = Math.min(TOKENS_MOST, Math.max(1, Math.floor(depth)));
  const isTakenForSame =
    before?.kind === 'bucket' && before.tokens === tokens && before.depth === whole && before.seconds !== seconds;
  return { kind: 'bucket', tokens: isTakenForSame ? tokens - 1 : tokens, seconds, depth: whole };
}

/** Returns units/s that an assignment admits. */
export function rateOf(assignment: Assignment): number {
  if (assignment.kind === 'bucket') return assignment.tokens / assignment.seconds;
  return assignment.kind === 'allow' ? Infinity : 0;
}

/**
 * Tests if a share differs by more than noise. *Why a token:* Envoy rounds the content of a bucket
 * down whenever it changes.
 */
export function isMoved(inForce: Assignment, { rate }: Share): boolean {
  const before = rateOf(inForce);
  if (rate >= UNLIMITED_RATE || before === Infinity) return rate < UNLIMITED_RATE || before < Infinity;
  if (rate < LEAST_RATE || before === 0) return rate >= LEAST_RATE || before > 0;
  return Math.abs(rate - before) > Math.max(MOVED_RATIO * before, Math.min(1 / TOKEN_SECONDS, LARGE_RATIO * before));
}

/** Tests if a bucket has less than half of its depth: that was not there to be taken when it began. */
export function isTooShallow(inForce: Assignment, { depth }: Share): boolean {
  return inForce.kind === 'bucket' && depth > 2 * inForce.depth;
}

const ALLOW: Assignment = { kind: 'allow' };
const DENY: Assignment = { kind: 'deny' };

/** Largest number of tokens: 32 bits in the protocol. */
const TOKENS_MOST = 2 ** 32 - 1;
const UNLIMITED_RATE = TOKENS_MOST;
/** Tokens from which on rounding costs at most half a per cent. */
const TOKENS_LEAST = 200;
/** Some thirty years, of which one request a year is 31 tokens. */
const SECONDS_MOST = 1e9;
const LEAST_RATE = 1e-9;
/** Part of a rate that is noise. */
const MOVED_RATIO = 0.02;
/** Part of a rate that is never noise. */
const LARGE_RATIO = 0.25;
/** Seconds in which a change makes less than a token: as long as until the next report. */
const TOKEN_SECONDS = 5;
