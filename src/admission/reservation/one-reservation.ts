import type { Amounts, Reservation } from '../../api/decision.js';
import { reportCost } from '../../backends/report-cost.js';
import { DIRECTION_COUNT, DIRECTIONS, type Direction } from '../../core/base/vocabulary.js';
import type { JointRequest } from '../../core/limiter/joint-levels.js';
import type { QuotaNode } from '../../node/quota-node.js';
import { rejectUnlessAmounts, rejectUnlessObject } from '../request/request-checks.js';

/** Holds what the levels have granted for `ask` (kept, so not the gate's scratch) until it is committed or cancelled. */
export function reservationOf(node: QuotaNode, ask: JointRequest): Reservation {
  const { gate } = node;
  let open = true;
  const settle = (messages: number, bytes: number) => {
    open = false;
    gate.joint.settle(ask, messages, bytes, node.clock());
  };
  return {
    granted: true,
    commit: (actual, costs) => {
      const { messages, bytes } = amountsOf(actual, ask);
      if (!open) return;
      gate.rejectAboveCommit(ask, { messages, bytes });
      const direction = DIRECTIONS[ask.lane % DIRECTION_COUNT] as Direction;
      if (costs !== undefined) {
        const groups = [ask.lane, ...ask.further].map((lane) => gate.groupOf(lane).name);
        reportCost(node, groups, costs, { direction, messages });
      }
      settle(messages, bytes);
    },
    cancel: () => {
      if (open) settle(0, 0);
    },
  };
}

/** For work that nothing limits: nothing is held, and its cost belongs to no group. */
export function exemptReservation(): Reservation {
  return { granted: true, commit: (actual) => void amountsOf(actual, {}), cancel: () => undefined };
}

/** What is absent was as estimated. Throws AMOUNT_INVALID. */
function amountsOf(actual: Amounts, estimated: Amounts): Required<Amounts> {
  rejectUnlessObject('actual', actual);
  const { messages = estimated.messages ?? 0, bytes = estimated.bytes ?? 0 } = actual;
  rejectUnlessAmounts(messages, bytes);
  return { messages, bytes };
}
