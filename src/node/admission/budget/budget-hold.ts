import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { amountOf, type BudgetUnit, countOf } from '../../../core/strict/budget-units.js';
import type { StrictWallet } from '../../../core/strict/strict-wallet.js';
import type { RequestAmounts } from '../../api/decision.js';
import { notCountable } from './spent-amount.js';

/** Holds what a request may cost of a budget until it ends. */
export class BudgetHold {
  #unit: BudgetUnit = 'messages';
  #count = 0;
  #wallet: StrictWallet | null = null;
  #isOpen = false;

  /** Holds parts that were taken of a wallet. */
  begin(unit: BudgetUnit, count: number, wallet: StrictWallet | null): void {
    this.#unit = unit;
    this.#count = count;
    this.#wallet = wallet;
    this.#isOpen = true;
  }

  /**
   * Charges what was used, and gives the rest back; undefined = all of it. A second call does nothing. Throws
   * AMOUNT_INVALID where more was used than was held, and then goes on holding.
   */
  end(spent: RequestAmounts | undefined): void {
    if (!this.#isOpen) return;
    const used = this.#usedOf(spent?.[this.#unit]);
    this.#isOpen = false;
    this.#wallet?.endRequest(this.#count, used);
  }

  #usedOf(amount: unknown): number {
    if (amount === undefined) return this.#count;
    const count = typeof amount === 'number' ? countOf(this.#unit, amount) : Number.NaN;
    if (Number.isNaN(count)) throw notCountable(this.#unit, amount);
    if (count <= this.#count) return count;
    const reason = `must be at most the ${amountOf(this.#unit, this.#count)} that were entered with, got ${amount}`;
    throw new QuotameshError('AMOUNT_INVALID', { field: this.#unit, reason });
  }
}
