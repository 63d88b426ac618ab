import { randomUUID } from 'node:crypto';
import { printable } from '../../../base/errors/printable.js';
import { parseQuantity } from '../../../config/setting/quantity.js';
import type { BudgetGift, BudgetGifts, Given } from '../../../node/api/budget-gifts.js';
import type { NodeCommandOptions } from '../../node-client/node-address.js';
import { change, get, nodeAddress } from '../../node-client/node-requests.js';
import { print, usage } from '../../terminal/print.js';
import type { GiftFlags } from './budget-command.js';
import { groupPath } from './change-groups.js';

/** `quotamesh budget show`: prints a budget, and its gifts, the newest last. */
export async function showBudget(group: string, options: NodeCommandOptions): Promise<void> {
  const told = await get<BudgetGifts>(nodeAddress(options), pathOf(group), GIFTS_SAMPLE);
  if (options.json === true) return print(JSON.stringify(told));
  print(budgetLine(group, told.budget));
  for (const { id, amount, counts, time, who } of told.gifts) {
    const what =
      amount === null ? `reset, ${counts} counted` : `${amount} given${counts === 0 ? ', in an earlier period' : ''}`;
    print(printable(`${time} ${who} ${id}: ${what}`));
  }
}

/** `quotamesh budget top-up`. */
export async function topUp(group: string, amount: string, options: GiftFlags): Promise<void> {
  const given = parseQuantity('count', amount);
  if (!(Number.isFinite(given) && given > 0))
    throw usage(`the amount must be a number above 0, like 5000 or 100k, got ${JSON.stringify(amount)}`);
  return give(group, { id: options.id ?? randomUUID(), amount: given }, options);
}

/** `quotamesh budget reset`. */
export async function resetBudget(group: string, options: GiftFlags): Promise<void> {
  return give(group, { id: options.id ?? randomUUID(), reset: true }, options);
}

async function give(group: string, body: BudgetGift, options: GiftFlags): Promise<void> {
  const given = await change<Given>(nodeAddress(options), { method: 'POST', path: pathOf(group), body }, GIVEN_SAMPLE);
  if (given === null) return;
  if (options.json === true) return print(JSON.stringify(given));
  const how = given.isCounted ? 'counts' : 'had counted before';
  print(`${printable(body.id)} ${how}. ${budgetLine(group, given.budget)}`);
}

function budgetLine(group: string, budget: BudgetGifts['budget']): string {
  if (budget === null) return printable(`${group} has no budget`);
  const { unit, per, limit, remaining, spent, held, lost, until, because } = budget;
  const end = until === null ? 'without end' : `until ${until}`;
  const parts = [`${spent} spent`, `${held} held by nodes`, ...(lost > 0 ? [`${lost} lost`] : [])];
  const state = because === '' ? '' : `; ${because}`;
  return printable(`${group}: ${remaining} of ${limit} ${unit} per ${per} left ${end} (${parts.join(', ')})${state}`);
}

function pathOf(group: string): string {
  return `${groupPath(group)}/budget`;
}

const GIFTS_SAMPLE = { group: '', gifts: [{ id: '', counts: 0, time: '', who: '' }] } as const;
const GIVEN_SAMPLE = { group: '', id: '', isCounted: true } as const;
