import type { Clock } from '../../base/ports/clock.js';
import { type BudgetPeriod, type BudgetState, leftOf } from '../../core/strict/budget-account.js';
import { AGAIN_MS } from '../../core/strict/constants.js';
import type { StrictFold } from '../../core/strict/strict-fold.js';
import { type StrictKnown, StrictNode } from '../../core/strict/strict-node.js';
import { type StrictQuota, wholeTokens } from '../../core/strict/strict-quota.js';
import type { StrictRead, StrictWritten } from '../../core/strict/strict-record.js';
import type { StrictWallet } from '../../core/strict/strict-wallet.js';
import type { StrictLaneState } from '../api/node-status.js';

interface StrictBucketOptions {
  readonly node: string;
  /** Greater than in earlier processes of this node id. */
  readonly life: number;
  /** Quota with which the bucket begins, if nobody knows it. */
  readonly quota: StrictQuota;
  /** Goes on in suspends. */
  readonly clock: Clock;
  /** Appends records; what is lost is told again by the next claim. */
  readonly write: (records: readonly StrictWritten[]) => void;
  /** Called when rounds may be due that were not before. */
  readonly onDue: () => void;
}

/** Reason of a node that cannot know what it may spend. */
export type StrictDoubt = Exclude<StrictLaneState, 'kept' | 'between-periods'>;

/** Lives that a process may begin in one epoch. */
const LIVES_PER_EPOCH = 1000;
/** Milliseconds that an order waits for those before it. */
const ORDER_MS = 40;
/** Milliseconds: bounds of the wait for one round trip. */
const TRIP_LEAST_MS = 50;
const TRIP_MOST_MS = 1000;

interface Waiter {
  readonly tokens: number;
  readonly untilMs: number;
  /** Takes what holds the tokens; null = refused. */
  readonly done: (wallet: StrictWallet | null) => void;
}

/**
 * Runs this node's part of one strict bucket. Of all nodes together it admits nothing that one central bucket would not.
 * Requests that wait are served in order.
 *
 * An outage of the topic needs no care: what cannot be read back counts for nothing, and what was held ends by itself.
 */
export class StrictBucket {
  readonly #options: StrictBucketOptions;
  #node: StrictNode;
  #life: number;
  #waiting: Waiter[] = [];
  /** Quota that the log shall have; null = it has it. */
  #proposed: StrictQuota | null;
  #proposedMs = -Infinity;
  /** Quota by the newest configuration here. */
  #given: StrictQuota;
  #isWaitingForRows: boolean;
  /** Time of the last request or gift; of the begin, before any. */
  #askedMs: number;
  /** The budget as the last log that was known had it. */
  #knew: BudgetState | null = null;

  constructor(options: StrictBucketOptions) {
    this.#options = options;
    this.#life = options.life;
    this.#askedMs = options.clock();
    this.#proposed = isKnownBy(options.quota) ? options.quota : null;
    this.#given = options.quota;
    this.#isWaitingForRows = options.quota.keyed === true;
    this.#node = this.#begin(this.#isWaitingForRows ? null : undefined);
  }

  /** True = this node knows the bucket. */
  get isKnown(): boolean {
    return this.#node.fold !== null;
  }

  /** Quota by the newest record of the log; until it is known, the one given. */
  get quota(): StrictQuota {
    const { fold } = this.#node;
    return fold === null || !fold.hasQuota ? this.#given : fold.quota;
  }

  /** True = it is a key's, and its rows are not known. */
  get isWaitingForRows(): boolean {
    return this.#isWaitingForRows;
  }

  /** Says what the log has of a key's lane: from now on it reads on. */
  know(known: StrictKnown): void {
    this.#isWaitingForRows = false;
    this.#node = this.#begin(known);
    this.#options.onDue();
  }

  /** Learns a key's lane as groups are learnt: its rows may not be in the order that counted. */
  learn(reads: readonly StrictRead[]): void {
    this.#isWaitingForRows = false;
    this.#node = this.#begin(undefined);
    for (const read of reads) this.read(read);
    this.#options.onDue();
  }

  /** True = nothing here needs the lane, for so long. */
  isIdleFor(forMs: number): boolean {
    return this.wallet === null && this.#waiting.length === 0 && this.#options.clock() - this.#askedMs > forMs;
  }

  /** Milliseconds from writing the last claim to reading it back. */
  get roundTripMs(): number {
    return this.#node.roundTripMs;
  }

  /** Milliseconds in which tokens that others do not need are here. */
  get tripMs(): number {
    return Math.min(TRIP_MOST_MS, Math.max(TRIP_LEAST_MS, 2 * this.roundTripMs + ORDER_MS));
  }

  /** Why this node cannot know what it may spend; null = it can. */
  get doubt(): StrictDoubt | null {
    const { wallet, clock } = this.#node;
    if (!this.isKnown) return 'learning';
    if (wallet === null) return null;
    const nowMs = this.#options.clock();
    const [oldest] = wallet.inFlight;
    if (oldest !== undefined && nowMs - oldest.sentMs > AGAIN_MS) return 'echo-missing';
    const isSure = wallet.readMs === -Infinity || clock.highAt(nowMs) < Infinity;
    return isSure ? null : 'clock-unsure';
  }

  /** Takes tokens that this node holds. A refusal orders more. */
  tryAcquire(tokens: number): boolean {
    const nowMs = this.#options.clock();
    this.#askedMs = nowMs;
    if (this.#waiting.length > 0) this.#node.asked(tokens, nowMs);
    else if (this.#node.take(tokens, nowMs)) return true;
    this.#write();
    return false;
  }

  /** Takes tokens within so many milliseconds, after those who asked before; an abort ends the wait. */
  async acquire(tokens: number, waitMs: number, signal?: AbortSignal): Promise<boolean> {
    if (this.tryAcquire(tokens)) return true;
    return waitMs > 0 && (await this.#wait(tokens, waitMs, signal)) !== null;
  }

  /** Takes a slot that this node holds; null = it holds none that is free, and asks for one. */
  tryEnter(): StrictWallet | null {
    return this.tryAcquire(1) ? this.#node.wallet : null;
  }

  /** Takes a slot within so many milliseconds, after those who asked before. */
  async enter(waitMs: number, signal?: AbortSignal): Promise<StrictWallet | null> {
    return this.tryEnter() ?? (waitMs > 0 ? this.#wait(1, waitMs, signal) : null);
  }

  /** Waits for a slot, after those who asked before. @param done takes what holds it; null = none came */
  enterLater(waitMs: number, done: (wallet: StrictWallet | null) => void): void {
    this.#waiting.push({ tokens: 1, untilMs: this.#options.clock() + waitMs, done });
    this.round();
  }

  /** Gives a slot back; who waits here has it at once. */
  release(wallet: StrictWallet): void {
    wallet.release(1);
    if (this.#waiting.length > 0) this.#serve();
  }

  /** Tests if a wallet's slots are this node's own by now: nobody may have expired it. */
  isAlive(wallet: StrictWallet): boolean {
    return wallet.isAlive(this.#options.clock());
  }

  /** Wallet of the life that holds the slots; null = none does. */
  get wallet(): StrictWallet | null {
    return this.#node.wallet;
  }

  #wait(tokens: number, waitMs: number, signal?: AbortSignal): Promise<StrictWallet | null> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting = this.#waiting.filter((each) => each !== waiter);
        reject(signal?.reason as Error);
      };
      const done = (wallet: StrictWallet | null) => {
        signal?.removeEventListener('abort', onAbort);
        resolve(wallet);
      };
      const waiter: Waiter = { tokens, untilMs: this.#options.clock() + waitMs, done };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(waiter);
      this.round();
    });
  }

  /** Budget by the newest record of the log; null = it is not known, or none. */
  get budget(): BudgetState | null {
    return this.#node.fold?.budget ?? null;
  }

  /** Tokens that all nodes may hold, by the log. */
  get heldByAll(): number {
    return this.#node.fold?.heldTokens ?? 0;
  }

  /** True = no period of the budget is on. */
  get isClosed(): boolean {
    return this.#node.fold?.isClosed ?? false;
  }

  /** Tells the present period of a budget by the wall clock. */
  beginPeriod(period: BudgetPeriod, carryMost: number, wallMs: number): void {
    this.#node.beginPeriod(period, carryMost, wallMs);
    if (this.dueMs < Infinity) this.#options.onDue();
  }

  /** Gives tokens to the present period of a budget; null = all that is gone. It is in the log when `budget` has its id. */
  credit(id: string, tokens: number | null, giver: string): boolean {
    this.#askedMs = this.#options.clock();
    const isWritten = this.#node.credit(id, tokens, giver);
    this.round();
    return isWritten;
  }

  /** Tests if tokens are held here now, and nobody waits for them; takes and orders nothing. */
  contains(tokens: number): boolean {
    return this.#waiting.length === 0 && this.held >= tokens;
  }

  /** Whole tokens that this node may spend now. */
  get held(): number {
    const nowMs = this.#options.clock();
    const { wallet } = this.#node;
    return wallet?.isAlive(nowMs) ? wallet.tokensAt(nowMs) : 0;
  }

  /** Counts whole tokens in the pool and those held here. */
  get left(): number {
    const { fold } = this.#node;
    const { depth } = this.#given;
    if (fold?.hasQuota === false) return fold.budget?.period == null ? depth : leftOf(fold.budget, depth);
    return fold === null ? 0 : this.#pool(fold, this.#options.clock()) + this.held;
  }

  /** Returns milliseconds until so many tokens may be here; Infinity = never. */
  msUntil(tokens: number): number {
    const missing = tokens - this.left;
    const { fold } = this.#node;
    if (missing <= 0 || fold === null) return this.tripMs;
    const { amount, perMs, depth } = this.quota;
    return amount === 0 || tokens > depth ? Infinity : Math.max(this.tripMs, (missing * perMs) / amount);
  }

  /** Milliseconds until the bucket is full, if nobody takes anything. */
  get msUntilFull(): number {
    const { fold } = this.#node;
    return fold === null ? Infinity : this.msUntil(fold.quota.depth);
  }

  /** Proposes a quota, in the order of the log: it counts for all from its record on. */
  propose(quota: StrictQuota): void {
    this.#given = quota;
    this.#node.firstQuota = quota;
    this.#proposed = quota;
    this.#proposedMs = -Infinity;
    this.#options.onDue();
  }

  /** True = the log does not have the newest quota proposed here. */
  get isProposing(): boolean {
    return this.#proposed !== null;
  }

  /** Nodes that hold more than they may by a lowered quota. */
  get waitsFor(): readonly string[] {
    const { fold } = this.#node;
    return fold === null ? [] : this.#node.changed(fold.revision).waitsFor;
  }

  /** True = nobody acts by another quota than the newest proposed here. */
  get isInForce(): boolean {
    const { fold } = this.#node;
    return fold !== null && this.#proposed === null && isSameQuota(fold.inForce, fold.quota);
  }

  /** Describes for people what the log says, and what this node holds. */
  describe() {
    const { fold, wallet } = this.#node;
    const nowMs = this.#options.clock();
    const perSecond = (units: number) => (1000 * units) / (fold?.quota.perMs ?? 1);
    return {
      pool: fold === null ? 0 : this.#pool(fold, nowMs),
      held: this.held,
      holdMost: wallet?.most ?? 0,
      streamPerSecond: fold === null || wallet === null ? 0 : perSecond(fold.rateAt(wallet.key, fold.nowMs)),
      depth: fold === null ? 0 : this.quota.depth,
      quotaPerSecond: fold === null ? 0 : perSecond(fold.quota.amount),
      isInForce: this.isInForce,
      waitsFor: this.waitsFor,
      waiting: this.#waiting.length,
      roundTripMs: this.roundTripMs,
      holders: [...(fold?.holders.values() ?? [])].map(({ node, hold, want }) => {
        return { nodeId: node, hold, wantPerSecond: perSecond(want) };
      }),
    };
  }

  read(read: StrictRead): void {
    this.#node.read(read, this.#options.clock());
  }

  /** Own time from which rounds are due; Infinity = not before something is read or asked. */
  get dueMs(): number {
    if (this.#waiting.length > 0) return -Infinity;
    const isProposing = this.#proposed !== null && this.isKnown;
    return Math.min(this.#node.dueMs, isProposing ? this.#proposedMs + AGAIN_MS : Infinity);
  }

  /** Serves those who wait, and writes what is due. Call it while due, and after what was read. */
  round(): void {
    this.#serve();
    this.#node.round(this.#options.clock());
    this.#proposeAgain();
    this.#write();
  }

  /** Writes the proposed quota until the log has it. */
  #proposeAgain(): void {
    const { fold } = this.#node;
    if (fold === null || this.#proposed === null || !fold.hasQuota) return;
    const nowMs = this.#options.clock();
    const { amount, depth } = this.#proposed;
    if (isSameQuota(fold.quota, this.#proposed)) this.#proposed = null;
    else if (nowMs - this.#proposedMs > AGAIN_MS) {
      this.#proposedMs = nowMs;
      this.#node.change({ revision: fold.revision + 1, amount, depth }, nowMs);
    }
  }

  /** Begins with another log: what was granted in the former one counts for nothing. */
  beginEpoch(): void {
    this.#life += LIVES_PER_EPOCH;
    this.#proposed ??= this.#node.fold?.quota ?? this.#options.quota;
    this.#knew = this.#node.budgetRead ?? this.#knew;
    this.#isWaitingForRows = this.#options.quota.keyed === true;
    this.#node = this.#begin(this.#isWaitingForRows ? null : undefined);
  }

  /**
   * Gives everything back, and refuses those who wait. Slots in use are kept until they expire: requests go on. Of a
   * budget what they may cost is spent.
   */
  leave(): void {
    for (const { done } of this.#waiting.splice(0)) done(null);
    const isKept = this.quota.slots && (this.wallet?.inUse ?? 0) > 0;
    if (!isKept) this.#node.leave(this.#options.clock());
    this.#write();
  }

  /** @param known null = it waits for rows; undefined = it learns from the log */
  #begin(known: StrictKnown | null | undefined): StrictNode {
    const { node } = this.#options;
    return new StrictNode({ node, life: this.#life, quota: this.#given, revision: 1, knew: this.#knew, known });
  }

  #pool(fold: StrictFold, nowMs: number): number {
    return wholeTokens(fold.poolAt(Math.max(fold.nowMs, this.#node.clock.lowAt(nowMs))), fold.quota);
  }

  #serve(): void {
    const waiting = this.#waiting;
    const nowMs = this.#options.clock();
    let served = 0;
    for (const { tokens, untilMs, done } of waiting) {
      const isGranted = untilMs >= nowMs && this.#node.takeWaiting(tokens, nowMs);
      if (!isGranted && untilMs >= nowMs) break;
      served++;
      done(isGranted ? this.#node.wallet : null);
    }
    if (served > 0) this.#waiting = waiting.slice(served);
    this.#node.waiting = this.#waiting.reduce((sum, { tokens }) => sum + tokens, 0);
  }

  #write(): void {
    const written = this.#node.out.splice(0);
    if (written.length > 0) this.#options.write(written);
    this.#options.onDue();
  }
}

/** False = who opened the lane knows nothing of its quota. */
function isKnownBy({ keyed, depth }: StrictQuota): boolean {
  return !keyed || depth > 0;
}

function isSameQuota(
  one: Pick<StrictQuota, 'amount' | 'depth'>,
  other: Pick<StrictQuota, 'amount' | 'depth'>,
): boolean {
  return one.amount === other.amount && one.depth === other.depth;
}
