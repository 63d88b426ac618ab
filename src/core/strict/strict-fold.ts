import {
  adopted,
  type BudgetState,
  begun,
  beside,
  credited,
  isClosed,
  isDue,
  isNothing,
  isUntold,
  lapsed,
  leftOf,
} from './budget-account.js';
import {
  ENDED_KEPT_MS,
  EXPIRY_MS,
  FULL_PART,
  KEYED_ENDED_KEPT_MS,
  LEAD_MS,
  PLAN_GRID_MS,
  POOL_FILL_MS,
  POOL_LOW_PART,
  STEP_MAX_MS,
} from './constants.js';
import { streamRates } from './stream-rates.js';
import { budgetWalletOf, lagMostOf, type StrictQuota, unitsOf, walletOf, wholeTokens } from './strict-quota.js';
import {
  lifeKey,
  type StrictClaim,
  type StrictCredit,
  type StrictEnd,
  type StrictExpire,
  type StrictFound,
  type StrictLeave,
  type StrictLife,
  type StrictPeriod,
  type StrictQuotaChange,
  type StrictRead,
} from './strict-record.js';
import {
  type FormerQuota,
  type StreamPlan,
  type StrictHolder,
  type StrictState,
  unwrittenState,
} from './strict-state.js';

/**
 * Folds the log of one bucket: who has been granted which tokens, what waits in the pool, which streams flow.
 *
 * All readers of the same records hold the same, in whole numbers. The law: pool + what holders may hold + what streams
 * bring within the lag ≤ depth, at each record; and what flows into all of them in a millisecond ≤ the quota's amount.
 * So no window admits more than one bucket would, whatever is unread: what was granted is counted whole until its
 * holder says that it is lower, leaves, or is expired by a record.
 *
 * *Worked:* 3 tokens, nodes a and b: a orders 2 and may hold 2, b orders 2: gets 1. a lowers to 1 and returns 1: the
 * pool has 1.
 */
export class StrictFold {
  nowMs: number;
  pool: number;
  quota: StrictQuota;
  revision: number;
  /** Null = no budget. */
  budget: BudgetState | null;
  /** True = the last record came after the period of the budget: nothing is granted. */
  isClosed = false;
  /** Plans that end, the one in force, those to come. */
  plans: readonly StreamPlan[] = [];
  /** Tokens that all holders may hold. */
  heldTokens = 0;
  /** Milliseconds after which nobody counts what its stream brought. */
  lagMs = Infinity;
  /** Units that streams may have brought and nobody counts yet. */
  #reserve = 0;
  /** False = log time went less far than the log's clock. */
  isWhole = true;
  readonly holders: Map<string, StrictHolder>;
  #appendMs: number | null;
  #former: readonly FormerQuota[];
  #ended: Map<string, readonly [life: number, endedMs: number]>;
  #lastOffset: number;

  constructor(state: StrictState) {
    this.nowMs = state.nowMs;
    this.pool = state.pool;
    this.quota = state.quota;
    this.revision = state.revision;
    this.budget = state.budget;
    this.#setPlans(state.plans);
    this.holders = new Map(state.holders.map((holder) => [lifeKey(holder), holder]));
    for (const { hold } of state.holders) this.heldTokens += hold;
    this.#appendMs = state.appendMs;
    this.#former = state.former;
    this.#ended = new Map(Object.entries(state.ended));
    this.#lastOffset = state.lastOffset;
  }

  get state(): StrictState {
    const { nowMs, pool, quota, revision, budget, plans } = this;
    const ended = Object.fromEntries(this.#ended);
    const holders = [...this.holders.values()];
    const own = { appendMs: this.#appendMs, former: this.#former, lastOffset: this.#lastOffset };
    return { nowMs, pool, quota, revision, budget, plans, holders, ended, ...own };
  }

  /** The quota by which the cluster may be judged: the larger one while a lowered one waits for its holders. */
  get inForce(): Pick<StrictQuota, 'amount' | 'depth'> {
    const all = [this.quota, ...this.#former];
    return { amount: Math.max(...all.map((each) => each.amount)), depth: Math.max(...all.map((each) => each.depth)) };
  }

  apply(read: StrictRead): void {
    const { record } = read;
    this.#advance(read.appendMs);
    this.isClosed = this.budget !== null && isClosed(this.budget, read.appendMs);
    if (this.quota.keyed) this.#forgetEnded(KEYED_ENDED_KEPT_MS);
    if (record.kind === 'end') {
      if (this.#isOverAt(record)) this.#begin(unwrittenState(this.quota));
      else this.#lastOffset = read.offset;
      return;
    }
    if (record.kind === 'claim') this.#claim(record);
    else if (record.kind === 'leave') this.#leave(record);
    else if (record.kind === 'expire') this.#expire(record);
    else if (record.kind === 'quota') this.#change(record);
    else if (record.kind === 'period') this.#beginPeriod(record, read.appendMs);
    else if (record.kind === 'credit') this.#credit(record, read.appendMs);
    else if (record.kind === 'knew') this.budget &&= adopted(this.budget, record.budget);
    else if (record.kind === 'found' && this.foundedBy(record)) this.#restart(record.state, read.appendMs);
    if (record.kind !== 'join') this.#lastOffset = read.offset;
    this.#settle();
    this.#plan();
    if (this.budget !== null) {
      this.isClosed = isClosed(this.budget, read.appendMs);
      this.pool = this.isClosed ? 0 : unitsOf(leftOf(this.budget, this.quota.depth), this.quota);
    } else this.pool = this.quota.slots ? this.poolMost : Math.min(this.pool, this.poolMost);
  }

  /** True if nobody has written after what the founder had read. */
  foundedBy({ since }: StrictFound): boolean {
    return this.#lastOffset <= since;
  }

  /** False = log time begins with the next record. */
  get hasTime(): boolean {
    return this.#appendMs !== null;
  }

  /** True = nobody can hold anything. */
  get isAtRest(): boolean {
    return this.holders.size === 0;
  }

  /** False = nobody has said the quota of a keyed lane. */
  get hasQuota(): boolean {
    return this.revision > 0;
  }

  /** True = it is as if nothing had ever been written. */
  get isUnwritten(): boolean {
    const isKnown = this.hasQuota || this.#ended.size > 0 || (this.budget !== null && !isUntold(this.budget));
    return this.isAtRest && !isKnown;
  }

  /** True = an end may be written: nothing is lost with what the log has. */
  isSpent(appendMs: number): boolean {
    const isForgotten = this.#former.length === 0 && this.#endedAt(appendMs) === 0;
    return this.isAtRest && isForgotten && (this.budget === null || isNothing(this.budget, appendMs));
  }

  /** True = a lowered quota waits for its holders. */
  get isLowering(): boolean {
    return this.#former.length > 0;
  }

  /** Units of depth that are neither held, nor on their way. */
  get poolMost(): number {
    const depth = this.quota.depth + (this.budget === null ? 0 : beside(this.budget));
    return Math.max(0, unitsOf(depth - this.heldTokens, this.quota) - this.#reserve);
  }

  /** Greatest life of a node that is known; −1 = none. */
  newestLifeOf(node: string): number {
    let newest = this.#ended.get(node)?.[0] ?? -1;
    for (const holder of this.holders.values()) if (holder.node === node) newest = Math.max(newest, holder.life);
    return newest;
  }

  /** Units below which streams leave more to the pool. */
  get poolLow(): number {
    return Math.floor(POOL_LOW_PART * this.poolMost);
  }

  /** Tokens that each node aims to hold; 0 = each token is ordered when it is needed. */
  get wallet(): number {
    if (this.budget !== null) return budgetWalletOf(this.quota.depth, this.holders.size, this.budget.lost);
    return walletOf(this.quota, this.holders.size, this.#lagNeeded);
  }

  /** Finds the most that holders need who want a stream; all that there may be, if none does. */
  get #lagNeeded(): number {
    const most = lagMostOf(this.quota);
    let needed = 0;
    for (const { want, lagMs } of this.holders.values()) if (want > 0) needed = Math.max(needed, lagMs);
    return needed === 0 ? most : Math.min(most, needed);
  }

  /** Adds up what a life's stream brings in this log time. */
  streamOf(key: string, fromMs: number, toMs: number): number {
    let units = 0;
    for (const [at, plan] of this.plans.entries()) {
      const endMs = plan.endMs ?? this.plans[at + 1]?.fromMs ?? Infinity;
      const forMs = Math.min(toMs, endMs) - Math.max(fromMs, plan.fromMs);
      if (forMs > 0) units += (plan.rates[key] ?? 0) * forMs;
    }
    return units;
  }

  /** Computes the pool at this log time, if nobody orders. */
  poolAt(atMs: number): number {
    const sum = this.plans.find(({ endMs }) => endMs === null)?.sum ?? 0;
    const flows = Math.max(0, this.quota.amount - sum) * Math.max(0, atMs - this.nowMs);
    return Math.min(this.poolMost, this.pool + flows);
  }

  /** Units per millisecond of a life at this log time. */
  rateAt(key: string, atMs: number): number {
    return this.streamOf(key, atMs, atMs + 1);
  }

  #setPlans(plans: readonly StreamPlan[]): void {
    this.plans = plans;
    this.lagMs = Math.min(...plans.map((plan) => plan.lagMs));
    this.#reserve = Math.max(...plans.map(({ sum, lagMs }) => sum * lagMs));
  }

  #set(holder: StrictHolder): void {
    const key = lifeKey(holder);
    this.heldTokens += holder.hold - (this.holders.get(key)?.hold ?? 0);
    this.holders.set(key, holder);
  }

  /**
   * Goes on to the log's clock. It may be set back or jump: a step counts at most `STEP_MAX_MS` while anybody may hold
   * tokens, and what lies behind the greatest time counts nothing.
   */
  #advance(appendMs: number): void {
    const before = this.#appendMs ?? appendMs;
    const step = appendMs - before;
    const counted = Math.max(0, this.holders.size === 0 ? step : Math.min(step, STEP_MAX_MS));
    this.isWhole = counted === step;
    if (this.#appendMs === null || step > 0 || step < -STEP_MAX_MS) this.#appendMs = appendMs;
    this.#flow(this.nowMs + counted);
  }

  #flow(toMs: number): void {
    this.pool = Math.min(this.pool, this.poolMost);
    while (this.nowMs < toMs) {
      const at = this.plans.findIndex(({ endMs }) => endMs === null);
      const untilMs = Math.min(toMs, this.plans[at + 1]?.fromMs ?? Infinity);
      const left = Math.max(0, this.quota.amount - this.plans[at].sum);
      this.pool = Math.min(this.poolMost, this.pool + left * (untilMs - this.nowMs));
      this.nowMs = untilMs;
      if (untilMs === this.plans[at + 1]?.fromMs)
        this.#setPlans(this.plans.with(at, { ...this.plans[at], endMs: untilMs }));
      const isOver = ({ endMs, lagMs }: StreamPlan) => endMs !== null && endMs + lagMs <= this.nowMs;
      if (this.plans.some(isOver)) this.#setPlans(this.plans.filter((plan) => !isOver(plan)));
    }
  }

  #claim(claim: StrictClaim): void {
    const before = this.#holderOf(claim);
    // A life that was never granted anything has nothing to give back.
    if (before === null || claim.seq <= before.seq || (before.seq === 0 && claim.taken < 0)) return;
    const { node, life, seq, want, lagMs } = claim;
    const lowered = Math.min(before.hold, claim.hold);
    const renewed = { node, life, seq, want, lagMs, readMs: this.nowMs };
    if (this.budget !== null) {
      this.#set({ ...renewed, ...this.#ordered(before, claim) });
      return;
    }
    this.#set({ ...renewed, taken: before.taken, hold: lowered });
    if (this.quota.slots) {
      // Slots that nobody holds are free: none is ever spent.
      const free = Math.max(0, this.quota.depth - this.heldTokens);
      this.#set({ ...renewed, taken: 0, hold: lowered + Math.min(free, claim.hold - lowered) });
      return;
    }
    const spare = wholeTokens(Math.max(0, this.poolMost - this.pool), this.quota);
    const granted = this.#take(claim.taken - before.taken);
    // Beyond what it is granted, nobody holds room that others could fill.
    const beyond = Math.min(spare, Math.max(0, this.wallet - lowered));
    const raised = Math.min(claim.hold - lowered, Math.max(0, granted) + beyond);
    this.#set({ ...renewed, taken: before.taken + granted, hold: lowered + raised });
  }

  /** Orders from a budget. Nobody holds more of it than granted; after the period nothing changes. */
  #ordered(before: StrictHolder, claim: StrictClaim): Pick<StrictHolder, 'taken' | 'hold'> {
    if (this.isClosed) return before;
    const granted = this.#take(Math.max(claim.taken - before.taken, -before.hold));
    const lowered = Math.min(before.hold + Math.min(0, granted), claim.hold);
    const hold = lowered + Math.min(claim.hold - lowered, Math.max(0, granted));
    return { taken: before.taken + granted, hold };
  }

  /** Takes tokens from the pool, as many as there are; less than 0 = gives them back. Returns how many. */
  #take(ordered: number): number {
    const granted = Math.min(ordered, wholeTokens(this.pool, this.quota));
    if (this.budget !== null) this.budget = { ...this.budget, gone: this.budget.gone + granted };
    this.pool = Math.min(this.poolMost, this.pool - unitsOf(granted, this.quota));
    return granted;
  }

  /** Finds or makes the holder; null = its life has ended, or a later one of its node is known. */
  #holderOf({ node, life }: StrictLife): StrictHolder | null {
    const known = this.holders.get(lifeKey({ node, life }));
    if (known !== undefined) return known;
    if (life <= (this.#ended.get(node)?.[0] ?? -1)) return null;
    for (const other of this.holders.values()) if (other.node === node && other.life > life) return null;
    return { node, life, seq: 0, readMs: this.nowMs, want: 0, lagMs: 0, taken: 0, hold: 0 };
  }

  #leave({ node, life, seq, taken }: StrictLeave): void {
    const holder = this.holders.get(lifeKey({ node, life }));
    if (holder === undefined || seq <= holder.seq) return;
    this.#end(holder);
    const returned = Math.min(0, taken - holder.taken);
    if (!this.isClosed) this.#take(this.budget === null ? returned : Math.max(returned, -holder.hold));
    else if (this.budget !== null) this.budget = { ...this.budget, late: this.budget.late + holder.hold };
  }

  #expire({ node, life, seq }: StrictExpire): void {
    const holder = this.holders.get(lifeKey({ node, life }));
    if (holder === undefined || seq !== holder.seq || this.nowMs - holder.readMs < EXPIRY_MS) return;
    this.#end(holder);
    if (this.budget !== null) this.budget = lapsed(this.budget, holder.hold, this.isClosed);
  }

  #end(holder: StrictHolder): void {
    this.holders.delete(lifeKey(holder));
    this.heldTokens -= holder.hold;
    const life = Math.max(holder.life, this.#ended.get(holder.node)?.[0] ?? -1);
    this.#ended.set(holder.node, [life, this.nowMs]);
    this.#forgetEnded(ENDED_KEPT_MS);
  }

  #forgetEnded(keptMs: number): void {
    for (const [node, [, endedMs]] of this.#ended) {
      if (this.nowMs - endedMs > keptMs) this.#ended.delete(node);
    }
  }

  /** Counts ended lives that are still remembered at this append time. */
  #endedAt(appendMs: number): number {
    const stepMs = Math.max(0, appendMs - (this.#appendMs ?? appendMs));
    const remembered = [...this.#ended.values()].filter(([, endedMs]) => {
      return this.nowMs + stepMs - endedMs <= KEYED_ENDED_KEPT_MS;
    });
    return remembered.length;
  }

  #isOverAt({ at }: StrictEnd): boolean {
    return this.quota.keyed === true && this.#lastOffset <= at && this.isSpent(this.#appendMs ?? 0);
  }

  #change({ revision, amount, depth }: StrictQuotaChange): void {
    if (revision <= this.revision) return;
    const streamsEndMs = this.nowMs + LEAD_MS + PLAN_GRID_MS + Math.max(...this.plans.map(({ lagMs }) => lagMs));
    const before = this.quota;
    if (amount < before.amount || depth < before.depth) {
      this.#former = [...this.#former, { amount: before.amount, depth: before.depth, streamsEndMs }];
    }
    this.quota = { ...before, amount, depth };
    this.revision = revision;
    this.pool = Math.min(this.pool, this.poolMost);
  }

  #beginPeriod({ fromMs, untilMs, carryMost }: StrictPeriod, appendMs: number): void {
    if (this.budget === null || !isDue(this.budget, { fromMs, untilMs }, appendMs)) return;
    const carry = { depth: this.quota.depth, most: carryMost };
    this.budget = begun(this.budget, { fromMs, untilMs }, this.heldTokens, carry);
  }

  #credit({ id, untilMs, tokens: asked, giver }: StrictCredit, atMs: number): void {
    if (this.budget === null || this.isClosed || this.budget.period?.untilMs !== untilMs) return;
    this.budget = credited(this.budget, { id, asked, atMs, giver }, this.heldTokens);
  }

  #restart(state: StrictState, appendMs: number): void {
    this.#begin(state);
    this.#appendMs = appendMs;
  }

  #begin(state: StrictState): void {
    const { nowMs, pool, quota, revision, budget } = state;
    Object.assign(this, { nowMs, pool, quota, revision, budget });
    this.#setPlans(state.plans);
    this.holders.clear();
    this.heldTokens = 0;
    this.#ended = new Map(Object.entries(state.ended));
    this.#former = state.former;
    this.#appendMs = state.appendMs;
    this.#lastOffset = state.lastOffset;
    this.isClosed = budget !== null;
  }

  /** Forgets a former quota once no stream follows it and holders fit. */
  #settle(): void {
    const fits = unitsOf(this.heldTokens, this.quota) + this.#reserve <= unitsOf(this.quota.depth, this.quota);
    if (fits && this.#former.every(({ streamsEndMs }) => this.nowMs >= streamsEndMs)) this.#former = [];
  }

  /** Lets streams follow what is known now, `LEAD_MS` later. */
  #plan(): void {
    const fromMs = Math.ceil((this.nowMs + LEAD_MS) / PLAN_GRID_MS) * PLAN_GRID_MS;
    const plan = { fromMs, endMs: null, lagMs: this.#lagNeeded, ...this.#streams() };
    const last = this.plans[this.plans.length - 1];
    if (isSame(last, plan)) return;
    this.#setPlans(last.fromMs === fromMs ? this.plans.with(-1, plan) : [...this.plans, plan]);
  }

  #streams(): Pick<StreamPlan, 'sum' | 'rates'> {
    if (this.wallet === 0) return { sum: 0, rates: {} };
    const { amount, depth } = this.quota;
    const lagMs = this.#lagNeeded;
    const most = Math.floor(Math.max(0, unitsOf(depth - this.heldTokens, this.quota)) / lagMs);
    const lacking = Math.ceil(Math.max(0, this.poolLow - this.pool) / POOL_FILL_MS);
    const rate = Math.max(0, Math.min(most, amount - lacking));
    const holders = [...this.holders.values()];
    const rates = streamRates(holders, rate, this.pool >= FULL_PART * this.poolMost);
    const flowing = holders.flatMap((holder, at) => (rates[at] > 0 ? [[lifeKey(holder), rates[at]] as const] : []));
    return { sum: rates.reduce((sum, each) => sum + each, 0), rates: Object.fromEntries(flowing) };
  }
}

function isSame(last: StreamPlan, plan: StreamPlan): boolean {
  if (last.lagMs !== plan.lagMs || last.sum !== plan.sum) return false;
  const keys = Object.keys(plan.rates);
  return keys.length === Object.keys(last.rates).length && keys.every((key) => plan.rates[key] === last.rates[key]);
}
