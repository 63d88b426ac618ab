import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { showSent } from '../../../base/input/input-mistakes.js';
import { countable, countOf } from '../../../core/strict/budget-units.js';
import type { RequestAmounts } from '../../api/decision.js';

/** Counts what a request spends, in parts of the unit. Throws BUDGET_AMOUNT_MISSING, AMOUNT_INVALID. */
export function spentOf(group: string, unit: 'tokens' | 'cents', amounts: RequestAmounts): number {
  const amount: unknown = amounts[unit];
  if (amount === undefined) throw new QuotameshError('BUDGET_AMOUNT_MISSING', { group, unit });
  const count = typeof amount === 'number' ? countOf(unit, amount) : Number.NaN;
  if (!Number.isNaN(count)) return count;
  const reason = `must be ${countable(unit)}, got ${showSent(amount)}`;
  throw new QuotameshError('AMOUNT_INVALID', { field: unit, reason });
}
