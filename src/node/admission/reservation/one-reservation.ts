import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Clock } from '../../../base/ports/clock.js';
import type { UnpublishedHold } from '../../../core/account/keys/unpublished-holds.js';
import { DIRECTION_COUNT, DIRECTIONS } from '../../../core/base/vocabulary.js';
import type { JointLevels, JointRequest } from '../../../core/limiter/joint-levels.js';
import type { Amounts, Origin, Reservation } from '../../api/decision.js';
import type { CostOptions, ReportedCost } from '../../api/quota-node.js';
import type { GroupTable } from '../../groups/group-table.js';
import type { KeyBook } from '../../groups/keys/key-book.js';
import { rejectUnlessAmounts, rejectUnlessObject } from '../request/request-checks.js';
import type { RequestReader } from '../request/request-reader.js';

/** Counts work's cost for all these groups, or throws, counting nothing. */
export type ChargeCosts = (
  groups: readonly string[],
  costs: ReportedCost | readonly ReportedCost[],
  options: CostOptions,
) => void;

export interface ReservationParts {
  readonly clock: Clock;
  readonly groups: GroupTable;
  readonly joint: JointLevels;
  readonly reader: RequestReader;
  readonly chargeCosts: ChargeCosts;
}

/** Holds what the levels granted until commit or cancel. Keeps the request: never pass scratch space. */
export function reservationOf(parts: ReservationParts, request: JointRequest): Reservation {
  const { clock, groups, joint, reader, chargeCosts } = parts;
  let open = true;
  const settle = (messages: number, bytes: number) => {
    open = false;
    joint.settle(request, messages, bytes, clock());
  };
  return {
    granted: true,
    ...(request.shadow === 'refused' ? { shadow: request.shadow } : {}),
    commit: (actual, costs) => {
      const { messages, bytes } = amountsOf(actual, request);
      if (!open) return;
      reader.rejectAboveCommit(request, { messages, bytes });
      const direction = DIRECTIONS[request.lane % DIRECTION_COUNT];
      if (costs !== undefined) {
        const names = [request.lane, ...request.further].map((lane) => groups.ofLane(lane).name);
        chargeCosts(names, costs, { direction, messages });
      }
      settle(messages, bytes);
    },
    cancel: () => {
      if (open) settle(0, 0);
    },
  };
}

/** Holds nothing: for work without limits, whose cost belongs to no group. */
export function exemptReservation(): Reservation {
  return { granted: true, commit: (actual) => void amountsOf(actual, {}), cancel: () => undefined };
}

/** Returns amounts, absent ones as estimated. Throws AMOUNT_INVALID. */
export function amountsOf(actual: Amounts, estimated: Amounts): Required<Amounts> {
  rejectUnlessObject('actual', actual);
  const { messages = estimated.messages ?? 0, bytes = estimated.bytes ?? 0 } = actual;
  rejectUnlessAmounts(messages, bytes);
  return { messages, bytes };
}

export interface KeyReservationParts {
  readonly clock: Clock;
  readonly groups: GroupTable;
  readonly keys: KeyBook;
  readonly chargeCosts: ChargeCosts;
  readonly consume: (key: string, amounts: Amounts, origin: Origin) => void;
}

/** Holds a silent key's grant until commit or cancel. */
export function unpublishedReservation(parts: KeyReservationParts, hold: UnpublishedHold): Reservation {
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
      settleUnpublished(parts, hold, messages, bytes);
    },
    cancel: () => {
      if (open) settleUnpublished(parts, hold, 0, 0);
      open = false;
    },
  };
}

/** Settles the real cost; what was missing is charged, whatever there is. */
export function settleUnpublished(
  parts: KeyReservationParts,
  hold: UnpublishedHold,
  messages: number,
  bytes: number,
): void {
  const { clock, groups, keys, consume } = parts;
  const { key } = hold;
  const [unusedMessages, unusedBytes] = [Math.max(0, hold.messages - messages), Math.max(0, hold.bytes - bytes)];
  keys.endHold(hold, unusedMessages, unusedBytes, clock());
  const more = { messages: Math.max(0, messages - hold.messages), bytes: Math.max(0, bytes - hold.bytes) };
  if (more.messages + more.bytes === 0) return;
  // Without its template, removed meanwhile, nothing limits it.
  if (groups.numbers.has(key) || keys.isKey(key)) consume(key, more, { direction: DIRECTIONS[hold.direction] });
}

function rejectAboveMost(keys: KeyBook, hold: UnpublishedHold, actual: Required<Amounts>): void {
  const most = keys.kindOf(hold.key)?.most[hold.direction];
  for (const [dimension, field] of (['messages', 'bytes'] as const).entries()) {
    const [amount, max] = [actual[field], Math.max(most?.[dimension] ?? Infinity, hold[field])];
    if (amount > max) throw new QuotameshError('COMMIT_ABOVE_MAX_REQUEST', { field, amount, max, group: hold.key });
  }
}
