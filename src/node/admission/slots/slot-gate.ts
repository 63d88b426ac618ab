import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Clock } from '../../../base/ports/clock.js';
import { DIRECTION_COUNT } from '../../../core/base/vocabulary.js';
import type { StrictWallet } from '../../../core/strict/strict-wallet.js';
import {
  type AcquireOptions,
  type Decision,
  NOT_READY_RETRY_MS,
  type NotReady,
  type Refused,
  type RequestAmounts,
  type WaitOptions,
} from '../../api/decision.js';
import type { Entered, EnterOptions, NoSlot, SlotsTold } from '../../api/slot.js';
import type { GroupTable } from '../../groups/group-table.js';
import { type KeptSlots, NO_SLOTS, type SlotLane } from '../../strict/slot-lanes.js';
import type { BudgetHold } from '../budget/budget-hold.js';
import { HeldSlot, OpenSlot, RefusedSlot, toldOf } from './one-slot.js';

interface SlotGateParts {
  /** Absent = no group limits concurrency. */
  readonly slotLanes?: KeptSlots;
  readonly groups: GroupTable;
  readonly clock: Clock;
  readonly loop: { readonly isReady: boolean };
  readonly whyNotReady: () => string;
  readonly limits: { readonly maxWaiting: number };
}

/** Asks for tokens of a group, without a look at its slots. */
export interface TokensAsked {
  /** Takes what is granted of a budget, until the slot is released; null = no group has a budget. */
  readonly hold: BudgetHold | null;
  atOnce(options: AcquireOptions): Decision;
  waiting(options: WaitOptions): Promise<Decision>;
}

/** Request that enters, with what holds its part of a budget. */
interface Entering {
  readonly name: string;
  readonly hold: BudgetHold | null;
}

/** Milliseconds until a retry is worth it: nobody knows when a slot is free. */
const RETRY_MS = 1000;

/** Lets requests in: first a slot, then tokens; a refusal keeps neither. */
export class SlotGate {
  readonly #parts: SlotGateParts;
  readonly #lanes: KeptSlots;
  #waiting = 0;

  constructor(parts: SlotGateParts) {
    this.#parts = parts;
    this.#lanes = parts.slotLanes ?? NO_SLOTS;
  }

  /** True = the group of a lane limits concurrency. */
  keeps(lane: number): boolean {
    return !this.#lanes.isEmpty && this.#lanes.keeps(Math.floor(lane / DIRECTION_COUNT));
  }

  /** Throws SLOT_NEEDED if any lane's group limits concurrency. */
  refuse(lanes: readonly number[]): void {
    const kept = lanes.find((lane) => this.keeps(lane));
    if (kept !== undefined) throw new QuotameshError('SLOT_NEEDED', { group: this.#parts.groups.ofLane(kept).name });
  }

  /** Enters at once, or not. @param group its number; null = without slots */
  tryEnter(name: string, group: number | null, tokens: TokensAsked, options: AcquireOptions): Entered {
    const lane = this.#laneOf(group);
    const { hold } = tokens;
    const decide = () => tokens.atOnce({ ...options, tell: true, hold } as AcquireOptions);
    if (lane === undefined) return this.#entered({ name, hold }, undefined, null, decide());
    const doubt = this.#doubtOf(lane);
    const wallet = doubt === null ? lane.bucket.tryEnter() : null;
    if (wallet === null) return this.#refused(name, lane, doubt);
    return this.#decided({ name, hold }, lane, wallet, decide);
  }

  /** Enters within `waitMs`, after those who asked before. */
  async enter(name: string, group: number | null, tokens: TokensAsked, options: EnterOptions): Promise<Entered> {
    const { waitMs = 0, signal } = options;
    const lane = this.#laneOf(group);
    const untilMs = this.#parts.clock() + waitMs;
    const { hold } = tokens;
    const inTurn = () =>
      tokens.waiting({ ...options, hold, waitMs: Math.max(0, untilMs - this.#parts.clock()) } as WaitOptions);
    if (lane === undefined) return this.#entered({ name, hold }, undefined, null, await inTurn());
    const doubt = this.#doubtOf(lane);
    const wallet = doubt === null ? await this.#inTurn(lane, waitMs, signal) : null;
    if (wallet === null) return this.#refused(name, lane, doubt ?? this.#doubtOf(lane));
    return this.#later({ name, hold }, lane, wallet, inTurn);
  }

  /** Slots of a group as this node knows them; null = it limits no concurrency. */
  told(group: number): SlotsTold | null {
    const lane = this.#laneOf(group);
    return lane === undefined ? null : toldOf(lane);
  }

  /** Milliseconds that who enters without naming a wait waits; null = the group limits no concurrency. */
  usualWaitMs(group: number): number | null {
    const lane = this.#laneOf(group);
    return lane === undefined ? null : (this.#parts.groups.at(group).waitMs ?? lane.bucket.tripMs);
  }

  #laneOf(group: number | null): SlotLane | undefined {
    return group === null ? undefined : this.#lanes.get(group);
  }

  async #inTurn({ bucket }: SlotLane, waitMs: number, signal?: AbortSignal): Promise<StrictWallet | null> {
    const atOnce = bucket.tryEnter();
    if (atOnce !== null || waitMs === 0) return atOnce;
    const max = this.#parts.limits.maxWaiting;
    if (this.#waiting >= max) throw new QuotameshError('WAITING_FULL', { max });
    this.#waiting++;
    try {
      return await bucket.enter(waitMs, signal);
    } finally {
      this.#waiting--;
    }
  }

  #decided(asked: Entering, lane: SlotLane, wallet: StrictWallet, decide: () => Decision): Entered {
    try {
      return this.#entered(asked, lane, wallet, decide());
    } catch (error) {
      lane.bucket.release(wallet);
      throw error;
    }
  }

  async #later(
    asked: Entering,
    lane: SlotLane,
    wallet: StrictWallet,
    decide: () => Promise<Decision>,
  ): Promise<Entered> {
    try {
      return this.#entered(asked, lane, wallet, await decide());
    } catch (error) {
      lane.bucket.release(wallet);
      throw error;
    }
  }

  #entered(
    { name, hold }: Entering,
    lane: SlotLane | undefined,
    wallet: StrictWallet | null,
    decision: Decision,
  ): Entered {
    const isHeld = lane !== undefined && wallet !== null;
    if (decision.granted) {
      if (!isHeld) return new OpenSlot(name, decision, hold);
      lane.entered(wallet);
      return new HeldSlot({ group: name, lane, wallet, decision, hold });
    }
    if (isHeld) lane.bucket.release(wallet);
    return notEntered(name, lane, decision);
  }

  #refused(name: string, lane: SlotLane, because: string | null): NoSlot {
    lane.counts.refused++;
    const slots = toldOf(lane);
    const common = { group: name, slots, decision: null };
    if (because !== null)
      return new RefusedSlot({ ...common, reason: 'not-ready', because, retryAfterMs: NOT_READY_RETRY_MS });
    const retryAfterMs = Math.ceil(slots.free > 0 ? lane.bucket.tripMs : RETRY_MS);
    const full = slots.free > 0 ? 'no slot is here yet: one is being asked for' : `all ${slots.limit} slots are in use`;
    return new RefusedSlot({ ...common, reason: 'concurrency', because: full, retryAfterMs });
  }

  /** Why the slots are not known here; null = they are. */
  #doubtOf(lane: SlotLane): string | null {
    const { loop, whyNotReady } = this.#parts;
    if (!loop.isReady) return whyNotReady();
    return this.#lanes.because(lane) || null;
  }
}

function notEntered(group: string, lane: SlotLane | undefined, decision: Refused | NotReady): NoSlot {
  const { reason, retryAfterMs } = decision;
  const because = reason === 'quota' ? 'the quota is used up' : decision.because;
  return new RefusedSlot({ group, reason, because, retryAfterMs, decision, slots: lane ? toldOf(lane) : null });
}

/** Asks for one message where no amounts are named. */
export function orOne(amounts: RequestAmounts | undefined): RequestAmounts {
  return amounts ?? ONE;
}

const ONE: RequestAmounts = Object.freeze({ messages: 1 });
