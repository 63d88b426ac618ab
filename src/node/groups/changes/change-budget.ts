import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { showSent } from '../../../base/input/input-mistakes.js';
import { isMapping } from '../../../base/input/mapping.js';
import type { Telemetry } from '../../../base/ports/telemetry.js';
import type { ChangedBy } from '../../../core/beside/registry/registry-record.js';
import { type BudgetGift, GIFT_ID_MAX } from '../../api/budget-gifts.js';

interface Budgets<Lane> {
  /** Undefined = the group has no budget. Opens that of a key. */
  get(group: number): Lane | undefined;
  /** Null = the log has not answered. */
  credit(lane: Lane, id: string, amount: number | null, giver: string): Promise<boolean | null>;
  /** Returns null, or why the present period cannot have so much beside. */
  refusalOf(lane: Lane, amount: number): string | null;
  because(lane: Lane): string;
}

interface GivingParts<Lane> {
  readonly config: { readonly nodeId: string };
  readonly budgets: Budgets<Lane>;
  readonly telemetry: Telemetry;
}

/**
 * Raises the present period of a budget, or resets it. Each id counts once. Resolves to whether it counts now.
 * Rejects with FIELD_INVALID, NOT_READY.
 */
export async function giveBudget<Lane>(
  { config, budgets, telemetry }: GivingParts<Lane>,
  { lane, name }: { readonly lane: Lane; readonly name: string },
  gift: BudgetGift,
  { name: who, how, requestId }: ChangedBy,
): Promise<boolean> {
  const { id, amount } = readGift(gift);
  const refusal = amount === null ? null : budgets.refusalOf(lane, amount);
  if (refusal !== null) throw invalid('amount', refusal);
  const isCounted = await budgets.credit(lane, id, amount, `${who.slice(0, NAME_LENGTH_MAX)} (${how})`);
  if (isCounted === null) {
    const reason = budgets.because(lane) || 'the log has not answered';
    throw new QuotameshError('NOT_READY', { node: config.nodeId, reason });
  }
  const what = amount === null ? 'reset' : `given ${amount}`;
  const facts = {
    audit: true,
    outcome: 'accepted',
    who: { name: who, how, requestId },
    what,
    kind: 'budget',
    name,
    id,
  };
  telemetry.log('info', isCounted ? 'budget is raised for its period' : 'gift was counted before', facts);
  return isCounted;
}

/** Returns the budget of a group; opens that of a key. Throws FIELD_INVALID. */
export function budgetLaneOf<Lane>(budgets: Pick<Budgets<Lane>, 'get'>, number: number): Lane {
  const lane = budgets.get(number);
  if (lane === undefined) throw invalid('group', 'has no budget');
  return lane;
}

function readGift(gift: unknown): { readonly id: string; readonly amount: number | null } {
  if (!isMapping(gift)) throw invalid('gift', `must be an object, got ${showSent(gift)}`);
  const { id, amount, reset = false } = gift;
  if (typeof id !== 'string' || id === '' || id.length > GIFT_ID_MAX)
    throw invalid('id', `must be a text of 1 to ${GIFT_ID_MAX} characters, got ${showSent(id)}`);
  if (reset === true && amount === undefined) return { id, amount: null };
  if (reset === false && typeof amount === 'number' && amount > 0) return { id, amount };
  throw invalid('amount', `must be a number above 0, or absent beside reset: true, got ${showSent(amount)}`);
}

function invalid(field: string, reason: string): QuotameshError {
  return new QuotameshError('FIELD_INVALID', { field, reason });
}

/** Most characters of a giver's name in the log. */
const NAME_LENGTH_MAX = 60;
