import { type AnswerOf, listOf, number, record, text, yes } from './answer-table.js';
import { BUDGET_NOW } from './node-status.js';

/** Gift to a budget: units beside it in the present period, or all that is gone. */
export type BudgetGift =
  | { readonly id: string; readonly amount: number }
  | { readonly id: string; readonly reset: true };

/** Most characters of an id. */
export const GIFT_ID_MAX = 100;

const GIFT = {
  id: text,
  amount: number.nullable().meta({ description: 'The units that were asked for; null = a reset.' }),
  counts: number.meta({ description: 'The units that it adds to the present period; 0 = it was for an earlier one.' }),
  time: text.meta({ description: 'When the log got it.' }),
  who: text.meta({ description: 'Who gave it, and how that is known.' }),
};

export const BUDGET_GIFTS = {
  group: text,
  budget: BUDGET_NOW,
  gifts: listOf(record(GIFT)).meta({ description: 'The newest last; a thousand are kept.' }),
};
/** A budget, and what it was given. */
export interface BudgetGifts extends AnswerOf<typeof BUDGET_GIFTS> {}

export const GIVEN = {
  group: text,
  id: text,
  isCounted: yes.meta({ description: 'True = it counts now; false = the id had counted before.' }),
  budget: BUDGET_NOW,
};
/** Answer to a gift. */
export interface Given extends AnswerOf<typeof GIVEN> {}
