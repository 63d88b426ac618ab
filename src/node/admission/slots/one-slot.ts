import type { StrictWallet } from '../../../core/strict/strict-wallet.js';
import type { Granted, RequestAmounts } from '../../api/decision.js';
import type { NoSlot, Slot, SlotEnd, SlotState, SlotsTold } from '../../api/slot.js';
import type { SlotLane } from '../../strict/slot-lanes.js';
import type { BudgetHold } from '../budget/budget-hold.js';

interface HeldParts {
  readonly group: string;
  readonly lane: SlotLane;
  readonly wallet: StrictWallet;
  readonly decision: Granted;
  /** Null = no group has a budget. */
  readonly hold: BudgetHold | null;
}

/** Holds one slot of the life that took it: a later life's is never given back for it. */
export class HeldSlot implements Slot {
  readonly granted = true;
  readonly #parts: HeldParts;
  #isReleased = false;

  constructor(parts: HeldParts) {
    this.#parts = parts;
  }

  get group(): string {
    return this.#parts.group;
  }

  get decision(): Granted {
    return this.#parts.decision;
  }

  get slots(): SlotsTold {
    return toldOf(this.#parts.lane);
  }

  get state(): SlotState {
    if (this.#isReleased) return 'released';
    const { lane, wallet } = this.#parts;
    return lane.bucket.isAlive(wallet) ? 'held' : 'lost';
  }

  release(spent?: RequestAmounts): SlotEnd {
    if (this.#isReleased) return 'released-before';
    const { lane, wallet, hold } = this.#parts;
    hold?.end(spent);
    const end = this.state === 'lost' ? 'lost' : 'released';
    this.#isReleased = true;
    lane.bucket.release(wallet);
    return end;
  }

  [Symbol.dispose](): void {
    this.release();
  }
}

/** Enters a group that limits no concurrency. */
export class OpenSlot implements Slot {
  readonly granted = true;
  readonly slots = null;
  readonly group: string;
  readonly decision: Granted;
  readonly #hold: BudgetHold | null;
  #isReleased = false;

  constructor(group: string, decision: Granted, hold: BudgetHold | null) {
    this.group = group;
    this.decision = decision;
    this.#hold = hold;
  }

  get state(): SlotState {
    return this.#isReleased ? 'released' : 'held';
  }

  release(spent?: RequestAmounts): SlotEnd {
    if (!this.#isReleased) this.#hold?.end(spent);
    const end = this.#isReleased ? 'released-before' : 'released';
    this.#isReleased = true;
    return end;
  }

  [Symbol.dispose](): void {
    this.release();
  }
}

/** Counts the slots of a group as this node knows them. */
export function toldOf({ bucket, inUse }: SlotLane): SlotsTold {
  const { depth } = bucket.quota;
  return { limit: depth, inUse, free: Math.min(depth, bucket.left) };
}

type RefusedFacts = Omit<NoSlot, 'granted' | typeof Symbol.dispose>;

export class RefusedSlot implements NoSlot {
  readonly granted = false;
  readonly group: string;
  readonly reason: NoSlot['reason'];
  readonly because: string;
  readonly retryAfterMs: number;
  readonly slots: SlotsTold | null;
  readonly decision: NoSlot['decision'];

  constructor({ group, reason, because, retryAfterMs, slots, decision }: RefusedFacts) {
    this.group = group;
    this.reason = reason;
    this.because = because;
    this.retryAfterMs = retryAfterMs;
    this.slots = slots;
    this.decision = decision;
  }

  /** Ends nothing: nobody has entered. */
  [Symbol.dispose](): void {}
}
