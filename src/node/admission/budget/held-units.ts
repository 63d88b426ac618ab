import type { BudgetUnit } from '../../../core/strict/budget-units.js';
import type { RequestAmounts, Reservation } from '../../api/decision.js';
import { BudgetHold } from './budget-hold.js';

/** Holds units of a budget and its rate while work runs. */
export class HeldUnits {
  readonly granted = true;
  readonly hold = new BudgetHold();
  rate: Reservation | null = null;
  readonly #unit: BudgetUnit | null;

  constructor(unit: BudgetUnit | null) {
    this.#unit = unit;
  }

  /** Charges units, at most those held; the rest goes back. */
  commit(units: number): void {
    const spent = amountsIn(this.#unit, units);
    this.hold.end(spent);
    this.rate?.commit(spent);
  }

  /** Gives all back. */
  cancel(): void {
    this.hold.end({ messages: 0, bytes: 0, tokens: 0, cents: 0 });
    this.rate?.cancel();
  }
}

/** Says what a request asks for that costs so many units: beside other units it is one message. */
export function amountsIn(unit: BudgetUnit | null, units: number): RequestAmounts {
  return unit === null || unit === 'messages' ? { messages: units } : { messages: 1, [unit]: units };
}
