import type { Clock } from '../../../base/ports/clock.js';
import { DIRECTION_COUNT, DIRECTIONS } from '../../../core/base/vocabulary.js';
import type { JointLevels, JointRequest } from '../../../core/limiter/joint-levels.js';
import type { Amounts, Reservation } from '../../api/decision.js';
import type { CostOptions, ReportedCost } from '../../api/quota-node.js';
import type { GroupTable } from '../../groups/group-table.js';
import { rejectUnlessAmounts, rejectUnlessObject } from '../request/request-checks.js';
import type { RequestReader } from '../request/request-reader.js';

/** Counts work's cost for all of these groups, or throws and counts nothing. */
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
