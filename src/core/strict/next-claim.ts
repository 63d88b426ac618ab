import { FULL_PART, LAG_GRID_MS } from './constants.js';
import { slotsMost } from './slot-turns.js';
import type { StrictFold } from './strict-fold.js';
import { lagMostOf, wholeTokens } from './strict-quota.js';
import type { StrictClaim } from './strict-record.js';
import type { StrictWallet } from './strict-wallet.js';

/** Requests as a node has seen them. */
export interface StrictAsked {
  /** Tokens per second. */
  readonly perSecond: number;
  readonly short: { readonly waiting: number; readonly refused: number };
  readonly roundTripMs: number;
  /** Milliseconds since the last request. */
  readonly restMs: number;
  /** Log time when a record written now may be appended, at least. */
  readonly logMs: number;
  /** Milliseconds by which log time is known; Infinity = it is not. */
  readonly lagMs: number;
}

type Next = Pick<StrictClaim, 'want' | 'lagMs' | 'taken' | 'hold'>;

/** Part of a published lag below which a smaller one is published. */
const LAG_LESS_PART = 0.6;
/** Milliseconds that no depth bears. */
const LAG_UNKNOWN_MS = 10_000;
/** Part of a wallet above which half is returned. */
const HIGH_PART = 0.75;
/** Part of a hold that may be free. More: fewer records, less room for others. */
const HOLD_FREE_PART = 0.25;
/** Milliseconds without a request after which single tokens go back. */
const KEPT_MS = 2000;
/** Part of the pool that a node orders at once. More: fewer orders, less for those who ask next. */
const ORDER_PART = 0.5;
/** Standard deviations from which demand is published anew; below, the least part. */
const CHANGE_SURE = 3;
const CHANGE_PART = 0.1;

/**
 * Decides what a node claims next: an order when its wallet is low or requests wait, a return when it is full and
 * others may need it, its want when that has changed. Returns null if there is nothing to say.
 */
export function nextClaim(
  fold: StrictFold,
  wallet: StrictWallet,
  asked: StrictAsked,
  nowMs: number,
  isDue: boolean,
): Next | null {
  if (!fold.hasQuota) return firstClaim(fold, asked);
  if (fold.quota.slots) return nextHold(fold, wallet, asked, isDue);
  const wanted = Math.min(fold.quota.amount, Math.round((asked.perSecond * fold.quota.perMs) / 1000));
  const known = fold.holders.get(wallet.key)?.lagMs ?? 0;
  const lagMs = lagOf(known, asked.lagMs);
  const want = lagMs <= lagMostOf(fold.quota) ? wanted : 0;
  const balance = wallet.tokensAt(nowMs);
  const order = orderOf(fold, wallet, asked, balance);
  const returned = order > 0 ? 0 : returnOf(fold, asked, balance);
  const held = wallet.hold;
  const hold = Math.max(fold.wallet, balance + order - returned + wallet.inUse);
  const isHoldFree = held - hold > Math.max(0, HOLD_FREE_PART * held);
  const published = fold.holders.get(wallet.key)?.want ?? -1;
  const isSame = order === 0 && returned === 0 && !isHoldFree && lagMs === known && !isChanged(published, want, fold);
  if (isSame && !isDue) return null;
  return { want, lagMs, taken: wallet.taken + order - returned, hold };
}

/** Asks for what is needed before the quota is known: its record goes before the claim. */
function firstClaim({ quota }: StrictFold, { short: { waiting, refused } }: StrictAsked): Next | null {
  const needed = waiting > 0 ? waiting : refused;
  return needed === 0
    ? null
    : { want: quota.slots ? needed : 0, lagMs: 0, taken: quota.slots ? 0 : needed, hold: needed };
}

/**
 * Decides how many slots a node holds: those in use, those that requests wait for, and a part of what is free; no more
 * than its turn is. What it wants is published when others would take it for content, or for short.
 *
 * *Worked:* 20 slots, of which 8 are free, of 4 nodes: each holds 1 beside its own. When none is free, none. Of 2 slots
 * a node alone holds one while nothing runs, so that the next request enters at once.
 */
function nextHold(fold: StrictFold, wallet: StrictWallet, asked: StrictAsked, isDue: boolean): Next | null {
  const needed = neededSlots(wallet, asked.short);
  const most = slotsMost(fold, wallet.key, needed);
  const { hold: held } = wallet;
  const pool = wholeTokens(fold.pool, fold.quota);
  const free = Math.max(0, Math.min(pool, most - held));
  const idle = pool + Math.max(0, held - needed);
  const spare = Math.ceil(idle / 2 / Math.max(1, fold.holders.size));
  const isShort = needed > held && free > 0;
  const isLoose = held > wallet.inUse && held > Math.min(most, needed + 2 * spare);
  const want = wallet.inFlight.at(-1)?.want ?? fold.holders.get(wallet.key)?.want ?? 0;
  const isWantNew = want > held !== needed > held;
  if (!isShort && !isLoose && !isWantNew && !isDue) return null;
  const next = isShort || isLoose ? Math.min(most, needed + spare) : held;
  return { want: needed, lagMs: 0, taken: 0, hold: Math.max(next, wallet.inUse) };
}

/** Counts requests that run here, and that wait or were refused. */
export function neededSlots({ inUse }: StrictWallet, { waiting, refused }: StrictAsked['short']): number {
  return inUse + (waiting > 0 ? waiting : refused);
}

/** Rounds what a node needs; a little less changes nothing. */
function lagOf(published: number, knownToMs: number): number {
  const needed = Math.min(LAG_UNKNOWN_MS, Math.ceil(knownToMs / LAG_GRID_MS) * LAG_GRID_MS);
  return knownToMs > published || needed < LAG_LESS_PART * published ? needed : published;
}

function orderOf(fold: StrictFold, wallet: StrictWallet, asked: StrictAsked, balance: number): number {
  const { waiting, refused } = asked.short;
  const each = fold.wallet;
  const needed = waiting + (waiting > 0 ? 0 : Math.min(refused, Math.max(1, each)));
  const perTrip = (asked.perSecond * (asked.roundTripMs + 40)) / 1000;
  const low = Math.min(each / 2, Math.sqrt(perTrip));
  if (needed <= balance && balance >= low) return 0;
  const most = grantable(fold, wallet, asked.logMs);
  return Math.max(0, Math.min(most, Math.max(needed - balance, Math.floor(each / 2) - balance)));
}

/** Bounds an order, so that others find tokens in the pool, too. */
function grantable(fold: StrictFold, wallet: StrictWallet, logMs: number): number {
  const room = wholeTokens(fold.poolAt(logMs), fold.quota);
  const { wanted, own, active } = wantsOf(fold, wallet);
  if (fold.wallet === 0) return Math.ceil(room / Math.max(1, active));
  const isFull = fold.pool >= FULL_PART * fold.poolMost;
  if (isFull && 2 * wanted < fold.quota.amount) return room;
  const equal = 0.5 / Math.max(1, fold.holders.size);
  const part = wanted === 0 ? 2 * equal : equal + (0.5 * own) / wanted;
  return Math.ceil(Math.max(part, ORDER_PART) * room);
}

function wantsOf(fold: StrictFold, { key }: StrictWallet) {
  let wanted = 0;
  let active = fold.holders.has(key) ? 0 : 1;
  for (const { want } of fold.holders.values()) {
    wanted += want;
    active += want > 0 ? 1 : 0;
  }
  return { wanted, active, own: fold.holders.get(key)?.want ?? 0 };
}

function returnOf(fold: StrictFold, asked: StrictAsked, balance: number): number {
  // A lowered quota waits for what is held above it.
  if (fold.isLowering) return Math.max(0, balance - fold.wallet);
  if (fold.wallet === 0) return asked.restMs < KEPT_MS ? 0 : balance;
  const isFull = fold.pool >= FULL_PART * fold.poolMost;
  return balance > HIGH_PART * fold.wallet && !isFull ? balance - Math.floor(fold.wallet / 2) : 0;
}

function isChanged(published: number, want: number, fold: StrictFold): boolean {
  const perSecond = 1000 / fold.quota.perMs;
  const noise = CHANGE_SURE * Math.sqrt(Math.max(published, want) * perSecond * 0.5);
  return Math.abs(want - published) * perSecond > Math.max(CHANGE_PART * published * perSecond, noise);
}
