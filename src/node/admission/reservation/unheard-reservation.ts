import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Clock } from '../../../base/ports/clock.js';
import type { UnheardHold } from '../../../core/account/keys/unheard-holds.js';
import { DIRECTIONS } from '../../../core/base/vocabulary.js';
import type { Amounts, Origin, Reservation } from '../../api/decision.js';
import type { GroupTable } from '../../groups/group-table.js';
import type { KeyBook } from '../../groups/keys/key-book.js';
import { amountsOf, type ChargeCosts } from './one-reservation.js';

export interface KeyReservationParts {
  readonly clock: Clock;
  readonly groups: GroupTable;
  readonly keys: KeyBook;
  readonly chargeCosts: ChargeCosts;
  readonly consume: (key: string, amounts: Amounts, origin: Origin) => void;
}

/** Holds a silent key's grant until commit or cancel. */
export function unheardReservation(parts: KeyReservationParts, hold: UnheardHold): Reservation {
  const direction = DIRECTIONS[hold.direction];
  let open = true;
  return {
    granted: true,
    commit: (actual, costs) => {
      const { messages, bytes } = amountsOf(actual, hold);
      if (!open) return;
      rejectAboveMost(parts.keys, hold, { messages, bytes });
      if (costs !== undefined) parts.chargeCosts([hold.key], costs, { direction, messages });
      open = false;
      settleUnheard(parts, hold, messages, bytes);
    },
    cancel: () => {
      if (open) settleUnheard(parts, hold, 0, 0);
      open = false;
    },
  };
}

/** Settles the real cost; what was missing is charged, whatever there is. */
export function settleUnheard(parts: KeyReservationParts, hold: UnheardHold, messages: number, bytes: number): void {
  const { clock, groups, keys, consume } = parts;
  const { key } = hold;
  const [unusedMessages, unusedBytes] = [Math.max(0, hold.messages - messages), Math.max(0, hold.bytes - bytes)];
  keys.endHold(hold, unusedMessages, unusedBytes, clock());
  const more = { messages: Math.max(0, messages - hold.messages), bytes: Math.max(0, bytes - hold.bytes) };
  if (more.messages + more.bytes === 0) return;
  // Without its template, removed meanwhile, nothing limits it.
  if (groups.numbers.has(key) || keys.isKey(key)) consume(key, more, { direction: DIRECTIONS[hold.direction] });
}

function rejectAboveMost(keys: KeyBook, hold: UnheardHold, actual: Required<Amounts>): void {
  const most = keys.kindOf(hold.key)?.most[hold.direction];
  for (const [dimension, field] of (['messages', 'bytes'] as const).entries()) {
    const [amount, max] = [actual[field], Math.max(most?.[dimension] ?? Infinity, hold[field])];
    if (amount > max) throw new QuotameshError('COMMIT_ABOVE_MAX_REQUEST', { field, amount, max, group: hold.key });
  }
}
