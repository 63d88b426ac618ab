import { type BudgetState, lapsed, NEW_BUDGET } from './budget-account.js';
import type { StrictQuota } from './strict-quota.js';
import type { StrictLife } from './strict-record.js';

/** A life that may hold tokens of the lane. */
export interface StrictHolder extends StrictLife {
  readonly seq: number;
  /** Log time of its last record. */
  readonly readMs: number;
  readonly want: number;
  readonly lagMs: number;
  /** Tokens that the log has granted it, net. */
  readonly taken: number;
  /** Tokens that it may hold at most. */
  readonly hold: number;
}

/** Streams from a log time on: units per millisecond of each life. */
export interface StreamPlan {
  readonly fromMs: number;
  /** Log time at which the next plan began; null = it is in force, or to come. */
  readonly endMs: number | null;
  readonly lagMs: number;
  readonly sum: number;
  readonly rates: Readonly<Record<string, number>>;
}

/** A quota that was lowered, until no holder can act by it. */
export interface FormerQuota {
  readonly amount: number;
  readonly depth: number;
  /** Log time from which none of it is on its way. */
  readonly streamsEndMs: number;
}

/** Everything that a reader of the log knows of a bucket. Whole numbers and plain values: it travels in a record. */
export interface StrictState {
  /** Log time. */
  readonly nowMs: number;
  /** Greatest append time that counted; null = no record yet. */
  readonly appendMs: number | null;
  readonly quota: StrictQuota;
  readonly revision: number;
  /** Null = no budget. */
  readonly budget: BudgetState | null;
  readonly former: readonly FormerQuota[];
  /** Units that wait for orders. */
  readonly pool: number;
  /** In the order of their first claims. */
  readonly holders: readonly StrictHolder[];
  /** Plans that end, the one in force, those to come. */
  readonly plans: readonly StreamPlan[];
  /** Node → greatest life that has ended, and when. */
  readonly ended: Readonly<Record<string, readonly [life: number, endedMs: number]>>;
  /** Offset of the last record that was no join; −1 = none. */
  readonly lastOffset: number;
}

/** Makes the bucket of a log that has none: empty. */
export function emptyState(quota: StrictQuota, revision: number): StrictState {
  const plans = [{ fromMs: 0, endMs: null, lagMs: 1, sum: 0, rates: {} }];
  const begun = {
    nowMs: 0,
    appendMs: null,
    budget: quota.budget ? NEW_BUDGET : null,
    pool: 0,
    holders: [],
    plans,
    former: [],
    ended: {},
    lastOffset: -1,
  };
  return { ...begun, quota, revision };
}

/** Makes the bucket of a keyed lane without records: nobody has said its quota. */
export function unwrittenState({ perMs, slots, budget }: StrictQuota): StrictState {
  return emptyState({ amount: 0, perMs, depth: 0, slots, budget, keyed: true }, 0);
}

/** Makes what is left when all lives have ended: the pool. Time and streams begin anew. */
export function abandonedState(state: StrictState): StrictState {
  const ended: Record<string, readonly [life: number, endedMs: number]> = {};
  for (const [node, [life]] of Object.entries(state.ended)) ended[node] = [life, 0];
  for (const { node, life } of state.holders) ended[node] = [Math.max(life, ended[node]?.[0] ?? -1), 0];
  const held = state.holders.reduce((sum, { hold }) => sum + hold, 0);
  // They may have ended after the period did.
  const budget = state.budget && lapsed(state.budget, held, true);
  return { ...emptyState(state.quota, state.revision), budget, pool: state.pool, ended };
}
