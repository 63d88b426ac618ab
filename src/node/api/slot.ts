import type { Granted, NotReady, Refused, RequestAmounts, WaitOptions } from './decision.js';

/** Answer to who enters a group. Both forms may stand behind `using`. */
export type Entered = Slot | NoSlot;

/** Bounds of a wait, and whose work it is; without `waitMs` it is decided at once. */
export type EnterOptions = Partial<WaitOptions>;

/** Slots of a group as this node knows them. */
export interface SlotsTold {
  /** Requests that may run at once in the whole cluster. */
  readonly limit: number;
  /** Requests that hold a slot at this node. */
  readonly inUse: number;
  /** Slots that nobody uses: in the log, or held here. */
  readonly free: number;
}

/** Lets one request run. Release it when the request ends. */
export interface Slot {
  readonly granted: true;
  readonly group: string;
  /** lost = others may have it: end the request. Held again if the log says so. */
  readonly state: SlotState;
  /** Null = the group limits no concurrency, and nothing is held. */
  readonly slots: SlotsTold | null;
  /** Answer of the group's quota. */
  readonly decision: Granted;
  /**
   * Gives the slot back; again it does nothing. `spent` says what the request cost of a budget, at most what it was
   * entered with, which is charged without it. Throws AMOUNT_INVALID, and then the slot is held.
   */
  release(spent?: RequestAmounts): SlotEnd;
  [Symbol.dispose](): void;
}

export type SlotState = 'held' | 'lost' | 'released';

/** Result of a release: `lost` slots were others' already, `released-before` is a second release. */
export type SlotEnd = 'released' | 'lost' | 'released-before';

/** Nobody entered, and nothing was charged. */
export interface NoSlot {
  readonly granted: false;
  readonly group: string;
  /** concurrency = all slots are in use; quota, not-ready: as in `decision`, or the node cannot know its slots. */
  readonly reason: 'concurrency' | 'quota' | 'not-ready';
  readonly because: string;
  readonly retryAfterMs: number;
  readonly slots: SlotsTold | null;
  /** Answer of the group's quota; null = it was not asked. */
  readonly decision: Refused | NotReady | null;
  [Symbol.dispose](): void;
}
