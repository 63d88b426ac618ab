import { type BudgetPeriod, type BudgetState, isDue } from './budget-account.js';
import {
  AGAIN_MS,
  BEAT_MS,
  CHECKPOINT_RECORDS,
  CLAIM_GAP_MS,
  EXPIRY_MS,
  KEYED_BEAT_MS,
  KEYED_CHECKPOINT_RECORDS,
  LEAD_MS,
  RANK_MS,
  REST_MS,
} from './constants.js';
import { neededSlots, nextClaim } from './next-claim.js';
import { slotsMost } from './slot-turns.js';
import { StrictCheckpoints } from './strict-checkpoints.js';
import { StrictClock } from './strict-clock.js';
import { StrictDemand } from './strict-demand.js';
import type { StrictFold } from './strict-fold.js';
import { StrictNewcomer } from './strict-newcomer.js';
import type { StrictQuota } from './strict-quota.js';
import {
  lifeKey,
  type StrictClaim,
  type StrictCredit,
  type StrictKnew,
  type StrictPeriod,
  type StrictQuotaChange,
  type StrictRead,
  type StrictWritten,
} from './strict-record.js';
import type { StrictHolder } from './strict-state.js';
import { StrictWallet } from './strict-wallet.js';

export interface StrictNodeSettings {
  readonly node: string;
  /** First life; greater than all lives that this node has had before. */
  readonly life: number;
  /** Quota with which the bucket is founded if nobody knows it. */
  readonly quota: StrictQuota;
  readonly revision: number;
  /** The budget as a former log had it; null = this node has not read that. */
  readonly knew?: BudgetState | null | undefined;
  /** Given = a keyed lane as its rows say; null = they are not read yet. Absent = it is learnt from the log. */
  readonly known?: StrictKnown | null | undefined;
}

/** A lane as the rows say that the log has of it. */
export interface StrictKnown {
  readonly fold: StrictFold;
  /** Rows that the log may still hold. */
  readonly rows: readonly StrictRead[];
  /** Own time at which the last of them was read. */
  readonly readMs: number;
}

/** A record that is written until it has been read back. */
interface Unread<Written> {
  readonly record: Written;
  writtenMs: number;
}

type Said<Written extends { readonly by: string }> = Omit<Written, 'by'>;

/** A change of the quota as this node knows it. */
export interface StrictChanged {
  /** Read = what was granted before may be spent: until all have lowered it, or are expired. */
  readonly state: 'written' | 'read' | 'in-force';
  /** Nodes that hold more than they may by the new quota. */
  readonly waitsFor: readonly string[];
}

/**
 * One node's part in a strict bucket: reads the log, spends what it holds, asks for more, and says what it gives back.
 *
 * `read` takes every record of the lane in order, `round` is called every few milliseconds while it is due, `take` asks
 * for tokens; all of them may leave records in `out`, which the caller appends. A node that has no work gives all back,
 * writes nothing, and needs no rounds.
 */
export class StrictNode {
  fold: StrictFold | null = null;
  wallet: StrictWallet | null = null;
  /** Tokens of the requests that wait at this node. */
  waiting = 0;
  /** Records to append, in order; the caller empties it. */
  readonly out: StrictWritten[] = [];
  /** Quota that a keyed lane is given, where the log says none. */
  firstQuota: Pick<StrictQuota, 'amount' | 'depth'>;
  readonly clock = new StrictClock();
  readonly demand = new StrictDemand();
  readonly #settings: StrictNodeSettings;
  #newcomer: StrictNewcomer | null;
  #life: number;
  #seq = 0;
  readonly #checkpoints: StrictCheckpoints;
  /** A change of the quota that was not read back. */
  #change: Unread<StrictQuotaChange> | null = null;
  /** A period that was not read back. */
  #period: Unread<Said<StrictPeriod>> | null = null;
  /** Budget of a former log, until it is read back. */
  #knew: Unread<StrictKnew> | null = null;
  /** Counts what is written until it is read back. */
  #said = 0;
  /** Gifts that were not read back. */
  readonly #credits = new Map<string, Unread<Said<StrictCredit>>>();
  #askedMs = -Infinity;
  #claimedMs = -Infinity;
  /** Tokens that were refused since the last claim. */
  #short = 0;
  #roundTripMs = 0;
  /** Offsets of joins to answer, and when. */
  readonly #joins = new Map<string, { readonly offset: number; readonly dueMs: number }>();
  /** Lives that were expired here: the last record of theirs, and when. */
  readonly #expired = new Map<string, { readonly seq: number; readonly atMs: number }>();

  constructor(settings: StrictNodeSettings) {
    this.#settings = settings;
    this.firstQuota = settings.quota;
    this.#life = settings.life;
    const { knew } = settings;
    if (knew) this.#knew = { record: { kind: 'knew', ...this.#own, budget: knew }, writtenMs: -Infinity };
    const { known } = settings;
    this.#newcomer = known === undefined ? new StrictNewcomer(this.#own) : null;
    this.#checkpoints = new StrictCheckpoints(settings.quota.keyed ? KEYED_CHECKPOINT_RECORDS : CHECKPOINT_RECORDS);
    if (known) this.#know(known);
  }

  #know({ fold, rows, readMs }: StrictKnown): void {
    this.fold = fold;
    this.#readTime(fold, readMs, false);
    for (const row of rows) this.#checkpoints.read(row);
  }

  get #own() {
    return { node: this.#settings.node, life: this.#life };
  }

  /** Budget as far as this node has read it; null = nothing of it, or none. */
  get budgetRead(): BudgetState | null {
    return this.fold?.budget ?? this.#newcomer?.budget ?? null;
  }

  /** Milliseconds from writing the last claim to reading it back. */
  get roundTripMs(): number {
    return this.#roundTripMs;
  }

  read(read: StrictRead, nowMs: number): void {
    this.out.push(...this.#checkpoints.read(read));
    if (this.fold === null) this.#learn(read, nowMs);
    else this.#apply(this.fold, read, nowMs);
    const { record } = read;
    if (record.kind === 'credit') this.#credits.delete(record.id);
    if (record.kind === 'period' && this.fold?.budget?.period?.untilMs === record.untilMs) this.#period = null;
    if (record.kind === 'knew' && lifeKey(record) === (this.#knew && lifeKey(this.#knew.record))) this.#knew = null;
    if (record.kind === 'join' && record.node !== this.#settings.node) {
      this.#joins.set(lifeKey(record), { offset: read.offset, dueMs: nowMs + this.#rank * RANK_MS });
    } else if (record.kind === 'state') {
      for (const [key, { offset }] of this.#joins) if (record.at >= offset) this.#joins.delete(key);
    }
  }

  /** Counts a request that waits behind others. */
  asked(tokens: number, nowMs: number): void {
    this.demand.add(tokens);
    this.#askedMs = nowMs;
  }

  /** Takes tokens if this node has them; else asks for them. */
  take(tokens: number, nowMs: number): boolean {
    this.asked(tokens, nowMs);
    if (this.takeWaiting(tokens, nowMs)) return true;
    this.#short += tokens;
    this.#claim(nowMs);
    return false;
  }

  /** Takes tokens for a request that has been asked for before. */
  takeWaiting(tokens: number, nowMs: number): boolean {
    return this.wallet?.take(tokens, nowMs) ?? false;
  }

  /** Own time from which rounds are due; Infinity = not before something is read or asked. */
  get dueMs(): number {
    const knewMs = againMsOf(this.#knew);
    if (this.fold === null) return Math.min(knewMs, this.#newcomer?.dueMs ?? Infinity);
    // Streams flow, and what is held is to be ordered, returned or given back.
    if (this.wallet !== null || this.waiting + this.#short > 0) return -Infinity;
    let dueMs = Math.min(knewMs, againMsOf(this.#change), againMsOf(this.#period));
    for (const credit of this.#credits.values()) dueMs = Math.min(dueMs, againMsOf(credit));
    for (const join of this.#joins.values()) dueMs = Math.min(dueMs, join.dueMs);
    const rank = this.#rank;
    for (const holder of this.fold.holders.values()) {
      const againMs = (this.#expired.get(lifeKey(holder))?.atMs ?? -Infinity) + AGAIN_MS;
      dueMs = Math.min(dueMs, Math.max(againMs, this.clock.reachedAtMs(this.#silentMs(holder, rank))));
    }
    return dueMs;
  }

  round(nowMs: number): void {
    const { quota, revision } = this.#settings;
    const due = this.#newcomer?.due(nowMs, { quota, revision }) ?? null;
    if (due !== null) this.out.push(due);
    if (this.#knew !== null) this.#writeAgain(this.#knew, nowMs);
    if (this.fold === null) return;
    this.#answer(this.fold, nowMs);
    this.#writeChange(this.fold, nowMs);
    if (this.#period !== null) this.#sayAgain(this.#period, nowMs);
    for (const credit of this.#credits.values()) this.#sayAgain(credit, nowMs);
    this.#expireOthers(this.fold, nowMs);
    if (this.wallet !== null) this.#takeTurns(this.fold, this.wallet);
    if (this.wallet !== null && this.waiting + this.wallet.inUse === 0 && nowMs - this.#askedMs > REST_MS)
      this.leave(nowMs);
    else this.#claim(nowMs);
  }

  /** Changes the quota of all nodes. It is written again until it is read back. */
  change({ revision, amount, depth }: Omit<StrictQuotaChange, 'kind'>, nowMs: number): void {
    this.#change = { record: { kind: 'quota', revision, amount, depth }, writtenMs: -Infinity };
    if (this.fold !== null) this.#writeChange(this.fold, nowMs);
  }

  /** Tells the present period of a budget by the wall clock. It is written until the log's clock has begun it, too. */
  beginPeriod(period: BudgetPeriod, carryMost: number, wallMs: number): void {
    const budget = this.fold?.budget ?? null;
    const { fromMs, untilMs } = period;
    if (budget === null || !isDue(budget, period, wallMs)) this.#period = null;
    else if (this.#period?.record.untilMs !== untilMs)
      this.#period = { record: { kind: 'period', fromMs, untilMs, carryMost }, writtenMs: -Infinity };
  }

  /** Gives tokens to the present period of a budget; null = all that is gone. False = no period is known. */
  credit(id: string, tokens: number | null, giver: string): boolean {
    const period = this.fold?.budget?.period ?? null;
    if (period === null) return false;
    const { untilMs } = period;
    this.#credits.set(id, { record: { kind: 'credit', id, tokens, giver, untilMs }, writtenMs: -Infinity });
    return true;
  }

  /** Says how far a change of the quota has come. */
  changed(revision: number): StrictChanged {
    const { fold } = this;
    if (fold === null || fold.revision < revision) return { state: 'written', waitsFor: [] };
    if (!fold.isLowering) return { state: 'in-force', waitsFor: [] };
    const above = [...fold.holders.values()].filter(({ hold }) => hold > fold.wallet);
    return { state: 'read', waitsFor: above.map(({ node }) => node) };
  }

  /** Gives everything back. */
  leave(nowMs: number): void {
    const { wallet } = this;
    if (wallet === null) return;
    const isFree = wallet.isAlive(nowMs) && !this.fold?.quota.slots;
    const left = isFree ? wallet.tokensAt(nowMs) : 0;
    this.out.push({ kind: 'leave', ...this.#own, seq: ++this.#seq, taken: wallet.taken - left });
    this.#endLife();
  }

  #learn(read: StrictRead, nowMs: number): void {
    this.fold = this.#newcomer?.read(read, nowMs) ?? null;
    if (this.fold === null) return;
    this.#newcomer = null;
    this.#readTime(this.fold, nowMs, false);
  }

  /** Follows log time, once it has begun. */
  #readTime(fold: StrictFold, nowMs: number, isWhole: boolean): void {
    if (fold.hasTime) this.clock.read(fold.nowMs, nowMs, isWhole);
  }

  #apply(fold: StrictFold, read: StrictRead, nowMs: number): void {
    const { wallet } = this;
    wallet?.count(nowMs);
    const isFounded = read.record.kind === 'found' && fold.foundedBy(read.record);
    fold.apply(read);
    const isRestart = isFounded || (read.record.kind === 'end' && fold.isUnwritten);
    if (isRestart) this.clock.forget();
    this.#readTime(fold, nowMs, fold.isWhole);
    if (wallet === null) {
      this.#tellEnded(fold, read, nowMs);
      this.#tidyBehind(fold, read, nowMs);
      return;
    }
    if (read.record.kind === 'claim' && lifeKey(read.record) === wallet.key) this.#readOwn(wallet, read.record, nowMs);
    wallet.settle(nowMs);
    this.#takeTurns(fold, wallet);
    const wasRead = wallet.readMs > -Infinity;
    if (isRestart || (wasRead && !fold.holders.has(wallet.key))) this.#endLife();
  }

  /**
   * Writes the bucket after this node has expired a life. Only the last of records that were written again
   * stays in the log, and log time counts two seconds to it at most: who starts would not see that the life has ended.
   */
  #tellEnded(fold: StrictFold, { record }: StrictRead, nowMs: number): void {
    if (record.kind !== 'expire' || fold.holders.has(lifeKey(record))) return;
    if (this.#expired.delete(lifeKey(record))) this.out.push(this.#checkpoints.write(fold, this.#own, nowMs));
  }

  /** Writes a keyed lane whole when its last holder has left. */
  #tidyBehind(fold: StrictFold, { record }: StrictRead, nowMs: number): void {
    const isOwn = record.kind === 'leave' && record.node === this.#settings.node;
    if (isOwn && fold.quota.keyed && fold.isAtRest) this.out.push(this.#checkpoints.write(fold, this.#own, nowMs));
  }

  /** Leaves slots to others who wait, when requests end. */
  #takeTurns(fold: StrictFold, wallet: StrictWallet): void {
    if (!fold.quota.slots) return;
    const short = { waiting: this.waiting, refused: this.#short };
    wallet.turnMost = slotsMost(fold, wallet.key, neededSlots(wallet, short));
  }

  #readOwn(wallet: StrictWallet, claim: StrictClaim, nowMs: number): void {
    const sentMs = wallet.readBack(claim);
    if (sentMs === null) return;
    this.#roundTripMs = nowMs - sentMs;
    this.clock.readOwn(wallet.readMs, sentMs, nowMs);
  }

  /** Begins a life after all that are known: the wall clock, by which processes count, may have been set back. */
  #beginLife(fold: StrictFold): StrictWallet {
    this.#life = Math.max(this.#life, fold.newestLifeOf(this.#settings.node) + 1);
    return new StrictWallet(fold, this.clock, this.#own);
  }

  #endLife(): void {
    if (this.wallet !== null) this.wallet.isEnded = true;
    this.wallet = null;
    this.#life++;
    this.#seq = 0;
    this.#short = 0;
    this.#claimedMs = -Infinity;
  }

  /** Writes what has changed, unless a claim is on its way. */
  #claim(nowMs: number): void {
    const { fold } = this;
    if (fold === null || nowMs - this.#claimedMs < CLAIM_GAP_MS) return;
    if (this.wallet === null && this.#short + this.waiting === 0) return;
    this.wallet ??= this.#beginLife(fold);
    const { wallet } = this;
    const sentMs = wallet.inFlight[wallet.inFlight.length - 1]?.sentMs ?? -Infinity;
    if (nowMs - sentMs < AGAIN_MS) return;
    const claimedAgoMs = nowMs - this.#claimedMs;
    // Streams are counted no further than the last record and the lead.
    const { keyed, slots, budget } = this.#settings.quota;
    const hasStreams = !(keyed && (slots || budget));
    const isSilent = this.clock.lowAt(nowMs) - fold.nowMs >= LEAD_MS / 2 && claimedAgoMs >= LEAD_MS / 2;
    const isDue = hasStreams ? claimedAgoMs >= BEAT_MS || isSilent : claimedAgoMs >= KEYED_BEAT_MS;
    const short = { waiting: this.waiting, refused: this.#short };
    const perSecond = this.demand.perSecond(nowMs);
    const logMs = this.clock.lowAt(nowMs);
    const lagMs = wallet.readMs === -Infinity ? 0 : this.clock.highAt(nowMs) - this.clock.lowAt(nowMs);
    const asked = { perSecond, short, roundTripMs: this.#roundTripMs, restMs: nowMs - this.#askedMs, logMs, lagMs };
    const next = nextClaim(fold, wallet, asked, nowMs, isDue);
    this.#short = 0;
    if (next === null) return;
    if (!fold.hasQuota) this.#writeFirst(nowMs);
    const claim = { kind: 'claim', ...this.#own, seq: ++this.#seq, ...next } as const;
    this.#claimedMs = nowMs;
    this.out.push(claim);
    wallet.wrote(claim, nowMs);
  }

  /** Says before the first claim of a keyed lane what it is. */
  #writeFirst(nowMs: number): void {
    const { amount, depth } = this.firstQuota;
    this.#change ??= { record: { kind: 'quota', revision: 1, amount, depth }, writtenMs: -Infinity };
    this.#change.writtenMs = -Infinity;
    this.#writeAgain(this.#change, nowMs);
    if (this.#period !== null) this.#sayAgain(this.#period, nowMs);
  }

  get #rank(): number {
    const keys = [...(this.fold?.holders.keys() ?? [])];
    const at = this.wallet === null ? -1 : keys.indexOf(this.wallet.key);
    return at === -1 ? keys.length : at;
  }

  /** Writes the bucket whole, for newcomers or to keep the log short. */
  #answer(fold: StrictFold, nowMs: number): void {
    const own = this.#own;
    let isDue = false;
    for (const [key, { dueMs }] of this.#joins) {
      if (nowMs < dueMs) continue;
      this.#joins.delete(key);
      isDue = true;
    }
    if (isDue) this.out.push(this.#checkpoints.write(fold, own, nowMs));
    else if (this.wallet !== null) {
      const due = this.#checkpoints.due(fold, own, this.#rank, nowMs);
      if (due !== null) this.out.push(due);
    }
  }

  #writeChange(fold: StrictFold, nowMs: number): void {
    if (this.#change === null) return;
    if (fold.revision >= this.#change.record.revision) this.#change = null;
    else this.#writeAgain(this.#change, nowMs);
  }

  /** Writes a record that may have been lost. */
  #writeAgain(unread: Unread<StrictQuotaChange | StrictKnew>, nowMs: number): void {
    if (nowMs - unread.writtenMs < AGAIN_MS) return;
    unread.writtenMs = nowMs;
    const isNamed = unread.record.kind === 'quota' && this.#settings.quota.keyed === true;
    this.out.push(isNamed ? { ...unread.record, by: this.#nextName() } : unread.record);
  }

  /** Writes it again under a name of its own. */
  #sayAgain(unread: Unread<Said<StrictPeriod> | Said<StrictCredit>>, nowMs: number): void {
    if (nowMs - unread.writtenMs < AGAIN_MS) return;
    unread.writtenMs = nowMs;
    this.out.push({ ...unread.record, by: this.#nextName() });
  }

  #nextName(): string {
    return `${lifeKey(this.#own)}/${++this.#said}`;
  }

  /** Ends silent lives. A node that holds nothing does so later: their room fills before anybody asks. */
  #expireOthers(fold: StrictFold, nowMs: number): void {
    const rank = this.#rank;
    for (const [key, holder] of fold.holders) {
      if (key === this.wallet?.key || this.clock.lowAt(nowMs) < this.#silentMs(holder, rank)) continue;
      if (nowMs - (this.#expired.get(key)?.atMs ?? -Infinity) < AGAIN_MS) continue;
      this.#expired.set(key, { seq: holder.seq, atMs: nowMs });
      this.out.push({ kind: 'expire', node: holder.node, life: holder.life, seq: holder.seq });
    }
    for (const key of this.#expired.keys()) if (!fold.holders.has(key)) this.#expired.delete(key);
  }

  /**
   * Returns the log time from which a silent life is expired. At rest each record brings log time two seconds further
   * at most, so it is written again until it counts.
   */
  #silentMs(holder: StrictHolder, rank: number): number {
    const silentMs = holder.readMs + EXPIRY_MS + rank * RANK_MS;
    if (this.wallet !== null) return silentMs;
    const isTried = this.#expired.get(lifeKey(holder))?.seq === holder.seq;
    return isTried ? 0 : silentMs + EXPIRY_MS + spreadOf(this.#settings.node) * RANK_MS;
  }
}

/** Spreads nodes without a rank, so that not all of them write. */
function spreadOf(node: string): number {
  let sum = 0;
  for (let at = 0; at < node.length; at++) sum += node.charCodeAt(at);
  return sum % SPREAD_RANKS;
}

const SPREAD_RANKS = 10;

/** Own time from which a record is written again; Infinity = it was read back. */
function againMsOf(unread: { readonly writtenMs: number } | null): number {
  return unread === null ? Infinity : unread.writtenMs + AGAIN_MS;
}
