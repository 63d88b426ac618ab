import { BUDGET_WALLETS_PART, LAG_MAX_MS, LAG_PART, WALLET_LEAST_TOKENS, WALLETS_PART } from './constants.js';

/**
 * A quota in whole numbers: `amount` tokens in `perMs` milliseconds, and a depth in tokens.
 *
 * Amounts are counted in units of 1 / `perMs` token, so that a millisecond brings `amount` whole units: no remainder is
 * lost, and none is minted when the bucket is full.
 *
 * *Worked:* 1,000 per 3,600,000 ms: a token is 3,600,000 units, a millisecond brings 1,000 of them, a token 3.6 s.
 */
export interface StrictQuota {
  readonly amount: number;
  readonly perMs: number;
  readonly depth: number;
  /** Given = `depth` slots that are held and come back; no time brings any. */
  readonly slots?: true | undefined;
  /** Given = `depth` tokens for each period; no time brings any, a record does. */
  readonly budget?: true | undefined;
  /** Given = a lane that comes and goes: where nothing is written, it is as `unwrittenState` says. */
  readonly keyed?: true | undefined;
}

export function unitsOf(tokens: number, quota: StrictQuota): number {
  return tokens * quota.perMs;
}

export function wholeTokens(units: number, quota: StrictQuota): number {
  return Math.floor(units / quota.perMs);
}

/**
 * Bounds the age of what a stream brings: older is forfeited. The depth keeps so much of the streams in reserve.
 *
 * *Worked:* 1,000/s with a depth of 100: half of it flows in 50 ms.
 */
export function lagMostOf({ amount, perMs, depth }: StrictQuota): number {
  const flowsInMs = amount === 0 ? LAG_MAX_MS : (LAG_PART * depth * perMs) / amount;
  return Math.max(1, Math.min(LAG_MAX_MS, Math.floor(flowsInMs)));
}

/** Tokens that each of so many nodes aims to hold; 0 = each token is ordered when it is needed. */
export function walletOf(quota: StrictQuota, nodes: number, lagMs: number): number {
  const held = unitsOf(quota.depth, quota) - quota.amount * lagMs;
  const each = wholeTokens((WALLETS_PART * held) / Math.max(1, nodes), quota);
  return each < WALLET_LEAST_TOKENS ? 0 : each;
}

/**
 * The same of a budget. All that its period loses by killed nodes, however often they are, is about the part that
 * wallets hold once: then each token is ordered when it is needed.
 *
 * *Worked:* 10,000 and 2 nodes hold 12 each. A killed one lost 12: 6 each. Another lost 12: none.
 */
export function budgetWalletOf(depth: number, nodes: number, lost: number): number {
  const each = Math.floor((BUDGET_WALLETS_PART * depth - lost) / Math.max(1, nodes));
  return each < WALLET_LEAST_TOKENS ? 0 : each;
}
