import type { Ask } from '../core/limiter/levels.js';
import { DIRECTION_COUNT, DIRECTIONS, type Direction } from '../core/vocabulary.js';
import type { QuotaNode } from '../runtime/quota-node.js';
import { reportCost } from '../runtime/target/report-cost.js';
import { rejectUnlessAmounts } from './asked.js';
import type { Reservation } from './decision.js';

/** Holds what the levels have granted for `ask` (kept, so not the gate's scratch) until it is committed or cancelled. */
export function reservationOf(node: QuotaNode, ask: Ask): Reservation {
  const { gate } = node;
  const { name, debtMs } = gate.groupOf(ask.lane);
  let open = true;
  const settle = (messages: number, bytes: number) => {
    open = false;
    gate.levels.settle(ask, messages, bytes, debtMs, node.clock());
  };
  return {
    granted: true,
    commit: ({ messages = 0, bytes = 0 }, costs) => {
      rejectUnlessAmounts(messages, bytes);
      if (!open) return;
      const direction = DIRECTIONS[ask.lane % DIRECTION_COUNT] as Direction;
      if (costs !== undefined) reportCost(node, name, costs, { direction, messages });
      settle(messages, bytes);
    },
    cancel: () => {
      if (open) settle(0, 0);
    },
  };
}
