import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  adopted,
  type BudgetState,
  begun,
  credited,
  isDue,
  lapsed,
  leftOf,
  NEW_BUDGET,
} from '../../../../src/core/strict/budget-account.js';
import { CREDITS_KEPT } from '../../../../src/core/strict/constants.js';
import { budgetWalletOf } from '../../../../src/core/strict/strict-quota.js';
import '../../../property/seed.js';

const DEPTH = 1000;
const gift = (id: string, asked: number | null) => ({ id, asked, atMs: 1, giver: 'anna (token)' });
const JANUARY = { fromMs: 0, untilMs: 31 };
const FEBRUARY = { fromMs: 31, untilMs: 59 };
const TOTAL = { fromMs: 0, untilMs: null };
const used = (gone: number, more: Partial<BudgetState> = {}) => ({ ...NEW_BUDGET, period: JANUARY, gone, ...more });
const begin = (state: BudgetState, next: { fromMs: number; untilMs: number | null }, held = 0, most = 0) =>
  begun(state, next, held, { depth: DEPTH, most });

describe('1,000 a month', () => {
  test.each([
    { says: 'no period has begun: nothing', state: NEW_BUDGET, left: 0 },
    { says: 'the first period: all', state: begin(NEW_BUDGET, JANUARY), left: 1000 },
    { says: '700 are gone', state: used(700), left: 300 },
    { says: 'more is gone than a lowered budget has', state: used(1200), left: 0 },
    { says: 'the next month fills it, less the 5 that are held', state: begin(used(700), FEBRUARY, 5), left: 995 },
    {
      says: 'what ended after the month counts to the next',
      state: begin(used(700, { late: 3 }), FEBRUARY),
      left: 997,
    },
    {
      says: 'what was lost in January is there again',
      state: begin(lapsed(used(700), 4, false), FEBRUARY),
      left: 1000,
    },
    { says: 'a week that began before goes on', state: begin(used(700), { fromMs: 28, untilMs: 35 }), left: 300 },
    { says: 'a total goes on with the month', state: begin(used(700), TOTAL), left: 300 },
    { says: '200 of the 300 that are left stay', state: begin(used(700), FEBRUARY, 0, 200), left: 1200 },
    { says: 'all 300 that are left stay', state: begin(used(700), FEBRUARY, 0, 1000), left: 1300 },
    { says: '50 were given', state: credited(used(700), gift('a', 50), 0), left: 350 },
    { says: '50 were given twice by one name', state: repeat(used(700), ['a', 'a']), left: 350 },
    { says: '50 were given by two names', state: repeat(used(700), ['a', 'b']), left: 400 },
    { says: 'a gift of January is none of February', state: begin(repeat(used(700), ['a']), FEBRUARY), left: 1000 },
    { says: 'nor given again by its name', state: repeat(begin(repeat(used(0), ['a']), FEBRUARY), ['a']), left: 1000 },
    { says: 'reset, while 5 are held', state: credited(used(700), gift('r', null), 5), left: 995 },
    {
      says: 'reset, and what was given stays',
      state: credited(repeat(used(700), ['a']), gift('r', null), 0),
      left: 1050,
    },
    {
      says: 'reset twice, which brings nothing back twice',
      state: credited(credited(repeat(used(700), ['a']), gift('r', null), 0), gift('s', null), 0),
      left: 1050,
    },
    { says: 'a new log: 700 were gone', state: adopted(NEW_BUDGET, used(700)), left: 300 },
    { says: 'and 50 are gone there', state: adopted(used(50), used(700)), left: 250 },
    { says: 'and another says the same', state: adopted(adopted(used(50), used(700)), used(700)), left: 250 },
    { says: 'and another knows more', state: adopted(adopted(used(50), used(700)), used(710)), left: 240 },
    { says: 'with its gifts', state: adopted(NEW_BUDGET, repeat(used(700), ['a'])), left: 350 },
    { says: 'but none of January in February', state: adopted(begin(NEW_BUDGET, FEBRUARY), used(700)), left: 1000 },
  ])('$says: $left', ({ state, left }) => {
    expect(leftOf(state, DEPTH)).toBe(left);
  });

  function repeat(state: BudgetState, ids: readonly string[]): BudgetState {
    return ids.reduce((each, id) => credited(each, gift(id, 50), 0), state);
  }
});

describe('a period begins', () => {
  test.each([
    { says: 'where none has', state: NEW_BUDGET, next: JANUARY, timeMs: 0, due: true },
    { says: 'not before its time', state: NEW_BUDGET, next: FEBRUARY, timeMs: 30, due: false },
    { says: 'after the one before', state: used(0), next: FEBRUARY, timeMs: 31, due: true },
    { says: 'not twice', state: begin(used(0), FEBRUARY), next: FEBRUARY, timeMs: 40, due: false },
    { says: 'not backwards', state: begin(used(0), FEBRUARY), next: JANUARY, timeMs: 70, due: false },
    {
      says: 'not within another calendar’s',
      state: used(0),
      next: { fromMs: 10, untilMs: 11 },
      timeMs: 10,
      due: false,
    },
    { says: 'not while a longer one is on', state: used(0), next: { fromMs: 0, untilMs: 365 }, timeMs: 10, due: false },
    { says: 'never after a total', state: begin(used(0), TOTAL), next: FEBRUARY, timeMs: 40, due: false },
  ])('$says: $due', ({ state, next, timeMs, due }) => {
    expect(isDue(state, next, timeMs)).toBe(due);
  });
});

test('what is taken over does not depend on who says it, how often, and in which order', () => {
  const says = fc.array(fc.nat(1000), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(says, fc.nat(100), (all, gone) => {
      const state = all.reduce((each, knew) => adopted(each, used(knew)), used(gone) as BudgetState);
      expect(state.gone).toBe(gone + Math.max(...all));
    }),
  );
});

test('gifts are no more than a checkpoint bears, and none is forgotten while it counts', () => {
  let state: BudgetState = used(0);
  for (let at = 0; at < CREDITS_KEPT + 5; at++) state = credited(state, gift(`gift ${at}`, 1), 0);
  expect(leftOf(state, DEPTH)).toBe(DEPTH + CREDITS_KEPT);
  state = credited(begin(state, FEBRUARY), gift('next', 1), 0);
  expect(state.credits).toHaveLength(CREDITS_KEPT);
  expect(leftOf(state, DEPTH)).toBe(DEPTH + 1);
});

test.each([
  { depth: 1000, nodes: 1, lost: 0, wallet: 2 },
  { depth: 1000, nodes: 3, lost: 0, wallet: 0 },
  { depth: 10_000, nodes: 2, lost: 0, wallet: 12 },
  { depth: 10_000, nodes: 2, lost: 12, wallet: 6 },
  { depth: 10_000, nodes: 2, lost: 24, wallet: 0 },
  { depth: 5_000_000, nodes: 5, lost: 0, wallet: 2500 },
])('of $depth, $lost lost, each of $nodes nodes holds $wallet', ({ depth, nodes, lost, wallet }) => {
  expect(budgetWalletOf(depth, nodes, lost)).toBe(wallet);
});
