/** Lists what budgets count. Tokens and cents are named by the request, for the budget alone. */
export const BUDGET_UNITS = ['messages', 'bytes', 'tokens', 'cents'] as const;
export type BudgetUnit = (typeof BUDGET_UNITS)[number];

/** Parts of a unit that the log counts. *Why:* a token at 0.02 of a currency a million costs two of a cent's. */
const PARTS: Readonly<Record<BudgetUnit, number>> = { messages: 1, bytes: 1, tokens: 1, cents: 1_000_000 };

/** Counts the largest amount of a unit. Above it a double may be no longer nearest to one part. */
export function largestCount(unit: BudgetUnit): number {
  return PARTS[unit] === 1 ? Number.MAX_SAFE_INTEGER : FRACTIONS_MAX;
}

/** Parts of which each has a double, after a multiplication, too. */
const FRACTIONS_MAX = 2 ** 51;

/** Largest amount of a unit, in whole ones. */
export function largestAmount(unit: BudgetUnit): number {
  return Math.floor(largestCount(unit) / PARTS[unit]);
}

/** Smallest amount of a unit that can be counted. */
export function smallestAmount(unit: BudgetUnit): number {
  return 1 / PARTS[unit];
}

/**
 * Counts an amount in whole parts of its unit. NaN = it has none, is below 0, or above the largest. A price that was
 * multiplied is off by the rounding of doubles; that is no part.
 *
 * *Worked:* 0.42 cents are 420,000 parts, and so are 0.1 + 0.32, which is 0.42000000000000004; 0.0000005 are none.
 */
export function countOf(unit: BudgetUnit, amount: number): number {
  const exact = amount * PARTS[unit];
  const count = Math.round(exact);
  const isWhole = Math.abs(exact - count) <= ROUNDING_PART * count;
  return amount >= 0 && isWhole && count <= largestCount(unit) ? count : Number.NaN;
}

/** Says for people which amounts can be counted. */
export function countable(unit: BudgetUnit): string {
  return `a ${unit === 'cents' ? 'number of at most six decimals' : 'whole number'} from 0 to ${largestAmount(unit)}`;
}

/** Part of an amount that a few roundings may take. */
const ROUNDING_PART = 8 * Number.EPSILON;

/** Returns the amount of so many parts. */
export function amountOf(unit: BudgetUnit, count: number): number {
  return count / PARTS[unit];
}
