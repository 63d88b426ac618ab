import { EXPIRY_MS, LEAD_MS } from './constants.js';
import type { StrictClock } from './strict-clock.js';
import type { StrictFold } from './strict-fold.js';
import { unitsOf, wholeTokens } from './strict-quota.js';
import { lifeKey, type StrictClaim, type StrictLife } from './strict-record.js';

/**
 * Holds what one life may spend now: what the log has granted it and it has read back, and what its stream has brought.
 *
 * A return counts from when it is written, an order from when it is read. Nothing is held above what the log lets the
 * life hold, less what it has ordered. A stream is counted up to `LEAD_MS` behind the last record read, and nothing of
 * it that is older than the lag. The life spends nothing from when others may have expired it.
 */
export class StrictWallet {
  /** Units. */
  #balance = 0;
  /** Tokens of the log's sum that are in the balance. */
  #counted = 0;
  /** Log time up to which the stream is counted. */
  #countedToMs: number;
  /** Log time of the last own record read; −Infinity = none. */
  readMs = -Infinity;
  /** Claims written and not read back, in order. */
  inFlight: (StrictClaim & { readonly sentMs: number })[] = [];
  readonly key: string;
  /** Slots that requests hold; of a budget, tokens whose requests are not decided yet. */
  inUse = 0;
  /** Slots above which requests that end leave theirs to others. */
  turnMost = Infinity;
  /** True = its life is over: what it held is others'. */
  isEnded = false;
  readonly #fold: StrictFold;
  readonly #clock: StrictClock;

  constructor(fold: StrictFold, clock: StrictClock, life: StrictLife) {
    this.#fold = fold;
    this.#clock = clock;
    this.key = lifeKey(life);
    this.#countedToMs = fold.nowMs;
  }

  /** False = it may have been expired, or was not read yet. */
  isAlive(nowMs: number): boolean {
    return !this.isEnded && this.#clock.highAt(nowMs) < this.readMs + EXPIRY_MS;
  }

  balanceAt(nowMs: number): number {
    if (this.#fold.quota.slots)
      return unitsOf(Math.max(0, Math.min(this.most, this.turnMost) - this.inUse), this.#fold.quota);
    this.count(nowMs);
    return this.#balance;
  }

  take(tokens: number, nowMs: number): boolean {
    const units = unitsOf(tokens, this.#fold.quota);
    if (!this.isAlive(nowMs) || this.balanceAt(nowMs) < units) return false;
    if (this.#fold.quota.slots) this.inUse += tokens;
    else this.#balance -= units;
    if (this.#fold.quota.budget) this.inUse += tokens;
    return true;
  }

  /** Gives slots back that were taken of this wallet; after its end nothing. */
  release(slots: number): void {
    this.inUse = Math.max(0, this.inUse - slots);
  }

  /** Ends a request that took tokens of a budget: what it did not use is here again. After the end nothing is. */
  endRequest(taken: number, used: number): void {
    const settled = Math.min(taken, this.inUse);
    this.inUse -= settled;
    this.#balance += Math.max(0, settled - used);
    this.#cap();
  }

  /** Tokens that this life may hold: the least of what the log says and of what is on its way there. */
  get hold(): number {
    const held = this.#fold.holders.get(this.key)?.hold ?? 0;
    return Math.min(held, ...this.inFlight.map(({ hold }) => hold));
  }

  /**
   * Tokens that may be in the balance: with what is ordered they must not exceed the hold that comes with it.
   *
   * *Worked:* 2 held of 2. A claim for 2 more that may hold 4 leaves them; one that may hold 3 leaves 1.
   */
  get most(): number {
    const held = this.#fold.holders.get(this.key)?.hold ?? 0;
    let most = held;
    for (const { hold, taken } of this.inFlight) most = Math.min(most, hold - Math.max(0, taken - this.#counted));
    return most;
  }

  /** The log's sum, less returns that are on their way. */
  get taken(): number {
    return this.#counted;
  }

  /** Counts what the stream has brought until now. Call it before each record that is read. */
  count(nowMs: number): void {
    const toMs = Math.min(this.#clock.lowAt(nowMs), this.#fold.nowMs + LEAD_MS);
    if (toMs > this.#countedToMs) {
      const fromMs = this.#countedToMs;
      this.#countedToMs = toMs;
      if (this.canStream(nowMs)) this.pour(this.#fold.streamOf(this.key, fromMs, toMs));
    }
    this.#cap();
  }

  /** Tests if log time is known well enough to count a stream. */
  canStream(nowMs: number): boolean {
    return this.#clock.highAt(nowMs) - this.#clock.lowAt(nowMs) <= this.#fold.lagMs;
  }

  /** Adds units that a stream has brought. */
  pour(units: number): void {
    this.#balance += units;
    this.#cap();
  }

  /** Forfeits what is older than the lag. Call it after each record that is read. */
  settle(nowMs: number): void {
    const oldestMs = this.#clock.highAt(nowMs) - this.#fold.lagMs;
    if (oldestMs < Infinity) this.#countedToMs = Math.max(this.#countedToMs, oldestMs);
  }

  /** Writes a claim: what it returns is gone at once. */
  wrote(claim: StrictClaim, nowMs: number): void {
    this.inFlight.push({ ...claim, sentMs: nowMs });
    this.grant(Math.min(this.#counted, claim.taken));
  }

  /** Reads an own claim back, after the fold has: what it granted counts now. Returns when it was sent, or null. */
  readBack(claim: StrictClaim): number | null {
    const sentMs = this.inFlight.find(({ seq }) => seq === claim.seq)?.sentMs ?? null;
    this.inFlight = this.inFlight.filter(({ seq }) => seq > claim.seq);
    const holder = this.#fold.holders.get(this.key);
    if (holder === undefined || holder.seq !== claim.seq) return sentMs;
    this.readMs = holder.readMs;
    this.grant(Math.min(holder.taken, ...this.inFlight.map(({ taken }) => taken)));
    return sentMs;
  }

  /** Counts so many tokens of the log's sum. */
  grant(taken: number): void {
    this.#balance += unitsOf(taken - this.#counted, this.#fold.quota);
    this.#counted = taken;
    this.#cap();
  }

  /** Tokens that are whole. */
  tokensAt(nowMs: number): number {
    return wholeTokens(this.balanceAt(nowMs), this.#fold.quota);
  }

  #cap(): void {
    const aside = this.#fold.quota.budget ? this.inUse : 0;
    this.#balance = Math.min(this.#balance, unitsOf(Math.max(0, this.most - aside), this.#fold.quota));
  }
}
