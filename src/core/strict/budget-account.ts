import { CREDITS_KEPT } from './constants.js';

/** Calendars of budgets. */
export const BUDGET_PERS = ['day', 'week', 'month', 'year', 'total'] as const;
export type BudgetPer = (typeof BUDGET_PERS)[number];

/** A period of a budget, by append time of the log. */
export interface BudgetPeriod {
  readonly fromMs: number;
  /** Null = it never ends: a total. */
  readonly untilMs: number | null;
}

/** A budget as the log has it, beside its holders. Whole tokens. */
export interface BudgetState {
  /** Null = none has begun. */
  readonly period: BudgetPeriod | null;
  /** Tokens that have left the pool in this period, net: held, spent or void. */
  readonly gone: number;
  /** Part of `gone` that a former log says. */
  readonly former: number;
  /** Tokens of lives that ended after the period: they count to the next one. */
  readonly late: number;
  /** Tokens that expired lives held: nobody knows if they were spent. */
  readonly lost: number;
  /** Tokens that the period before left. */
  readonly carried: number;
  /** Gifts, the newest last. */
  readonly credits: readonly BudgetCredit[];
}

/** A gift to a budget, once for each id. */
export interface BudgetCredit {
  readonly id: string;
  /** Tokens beside the budget in the present period; 0 = the gift was for an earlier one. */
  readonly tokens: number;
  /** Tokens as they were asked for; null = a reset. */
  readonly asked: number | null;
  /** Append time. */
  readonly atMs: number;
  /** Giver, for people. */
  readonly giver: string;
}

export const NEW_BUDGET: BudgetState = {
  period: null,
  gone: 0,
  former: 0,
  late: 0,
  lost: 0,
  carried: 0,
  credits: [],
};

export function endOf({ untilMs }: BudgetPeriod): number {
  return untilMs ?? Infinity;
}

/** Tokens that a period has beside the budget. */
export function beside({ carried, credits }: BudgetState): number {
  return credits.reduce((sum, { tokens }) => sum + tokens, carried);
}

/** Tokens that are left for orders. */
export function leftOf(state: BudgetState, depth: number): number {
  return state.period === null ? 0 : Math.max(0, depth + beside(state) - state.gone);
}

/** True = no period is on at this append time: nothing is granted. */
export function isClosed({ period }: BudgetState, appendMs: number): boolean {
  return period === null || appendMs >= endOf(period);
}

/** True = nothing is lost if the budget is forgotten: its period is over, or unused. */
export function isNothing(state: BudgetState, appendMs: number): boolean {
  const { gone, former, late, lost, carried, credits } = state;
  if (late > 0 || credits.length > 0) return false;
  return isClosed(state, appendMs) || gone + former + lost + carried === 0;
}

/** True = nobody has said anything of it. */
export function isUntold({ period, gone, late, credits }: BudgetState): boolean {
  return period === null && gone + late + credits.length === 0;
}

/** True = this period follows the present one, which is over then. */
export function isDue({ period }: BudgetState, next: BudgetPeriod, timeMs: number): boolean {
  if (timeMs < next.fromMs) return false;
  return period === null || (endOf(next) > endOf(period) && timeMs >= endOf(period));
}

/**
 * Begins a period: all is there again, less what is held, which may be spent in it. One that overlaps the present
 * period only goes on with it, so a changed calendar fills nothing.
 *
 * *Worked:* 1,000 a month, 5 are held: in January 995 may be ordered. `per: day` until the 15th, `per: month` then: the
 * month that began on the 1st goes on with what the day has used.
 *
 * @param carryMost tokens of the former period that stay, at most
 */
export function begun(state: BudgetState, next: BudgetPeriod, held: number, carry: CarryOver): BudgetState {
  const { period } = state;
  if (period !== null && next.fromMs < endOf(period)) return { ...state, period: next };
  const left = period === null ? 0 : leftOf(state, carry.depth);
  const credits = state.credits.map((credit) => ({ ...credit, tokens: 0 }));
  return { ...NEW_BUDGET, period: next, gone: held + state.late, carried: Math.min(carry.most, left), credits };
}

export interface CarryOver {
  readonly depth: number;
  readonly most: number;
}

/** Ends a life that may hold so many tokens. @param isOver true = its period has ended */
export function lapsed(state: BudgetState, held: number, isOver: boolean): BudgetState {
  return { ...state, late: state.late + (isOver ? held : 0), lost: state.lost + held };
}

/**
 * Gives tokens to the present period, once for each name. Null = all that is gone and not held, as far as no reset has
 * brought it back; other gifts stay.
 *
 * *Worked:* 1,000, of which 700 are gone and 5 of them held: null gives 695, so 995 are left.
 */
export function credited(state: BudgetState, gift: Omit<BudgetCredit, 'tokens'>, held: number): BudgetState {
  if (state.credits.some(({ id }) => id === gift.id)) return state;
  const tokens = gift.asked ?? Math.max(0, state.gone - held - comeBackBy(state));
  const oldest = state.credits.length < CREDITS_KEPT ? -1 : state.credits.findIndex((each) => each.tokens === 0);
  if (state.credits.length >= CREDITS_KEPT && oldest === -1) return state;
  return { ...state, credits: [...state.credits.filter((_, at) => at !== oldest), { ...gift, tokens }] };
}

/** Tokens that resets have made spendable again. */
function comeBackBy({ credits }: BudgetState): number {
  return credits.reduce((sum, { asked, tokens }) => sum + (asked === null ? tokens : 0), 0);
}

/**
 * Takes over what a reader of a former log knew: what was gone there is gone here, too, whoever says it, how often and
 * in which order.
 *
 * *Worked:* 700 were gone, and 50 are here: 750. Another reader says 690: still 750. One says 710: 760.
 */
export function adopted(state: BudgetState, knew: BudgetState): BudgetState {
  if (knew.period === null) return state;
  const { period } = state;
  if (period !== null && endOf(knew.period) <= period.fromMs) return state;
  const known = new Set(state.credits.map(({ id }) => id));
  const credits = [...state.credits, ...knew.credits.filter(({ id }) => !known.has(id))];
  return {
    period: period === null || endOf(knew.period) > endOf(period) ? knew.period : period,
    gone: state.gone + Math.max(0, knew.gone - state.former),
    former: Math.max(knew.gone, state.former),
    late: Math.max(knew.late, state.late),
    lost: Math.max(knew.lost, state.lost),
    carried: Math.max(knew.carried, state.carried),
    credits,
  };
}
