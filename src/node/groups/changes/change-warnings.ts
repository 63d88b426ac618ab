import { isMapping } from '../../../base/input/mapping.js';
import { BUDGET_UNITS, type BudgetUnit } from '../../../core/strict/budget-units.js';

/** Tells for people what a change does that nobody may expect. Null = the definition is none, before or after. */
export function warningsOf(before: unknown, after: unknown): string[] {
  const [was, is] = [unitOf(before), unitOf(after)];
  if (was === undefined || is === undefined || was === is) return [];
  return [`the budget in ${is} is another one than that in ${was}: it begins full, whatever this period has spent`];
}

function unitOf(definition: unknown): BudgetUnit | undefined {
  const budget = isMapping(definition) ? definition.budget : undefined;
  return isMapping(budget) ? BUDGET_UNITS.find((unit) => (budget[unit] ?? null) !== null) : undefined;
}
