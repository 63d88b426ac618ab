import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { showSent } from '../../../base/input/input-mistakes.js';
import { type BudgetUnit, countable, countOf } from '../../../core/strict/budget-units.js';
import type { RequestAmounts } from '../../api/decision.js';

/** Counts what a request spends, in parts of the unit. Throws BUDGET_AMOUNT_MISSING, AMOUNT_INVALID. */
export function spentOf(group: string, unit: 'tokens' | 'cents', amounts: RequestAmounts): number {
  const amount: unknown = amounts[unit];
  if (amount === undefined) throw new QuotameshError('BUDGET_AMOUNT_MISSING', { group, unit });
  const count = typeof amount === 'number' ? countOf(unit, amount) : Number.NaN;
  if (Number.isNaN(count)) throw notCountable(unit, amount);
  return count;
}

/** Makes the error for an amount that the log could not count. */
export function notCountable(unit: BudgetUnit, amount: unknown): QuotameshError {
  const reason = `must be ${countable(unit)}, got ${showSent(amount)}`;
  return new QuotameshError('AMOUNT_INVALID', { field: unit, reason });
}
