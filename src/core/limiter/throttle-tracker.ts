/** Reasons not to read a connection; `counted` = several may hold it for the same one. */
export const THROTTLE_REASONS = {
  inFlightPerConnection: { counted: false },
  ioThreadBytes: { counted: false },
  topicRate: { counted: true },
  groupRate: { counted: true },
  nodeRate: { counted: false },
  outboundBufferFull: { counted: false },
  resumeCooldown: { counted: false },
  clientRate: { counted: true },
  subscribeRate: { counted: false },
  subscriberBehind: { counted: true },
} as const;

export type ThrottleReason = keyof typeof THROTTLE_REASONS;

/**
 * Effect of a mark. `connectionChanged`: reading stopped or started. `typeChanged`: another reason, or holder of it,
 * came or went. `dropped`: nothing changed; a plain reason is marked at most once, and only marks are unmarked.
 */
export type TrackerResult = 'connectionChanged' | 'typeChanged' | 'dropped';

/**
 * Counts the holders of each reason not to read a connection. Reading stops with the first reason and starts when the
 * last goes (PIP-322, ServerCnxThrottleTracker, as #24799 made it). One counter over all reasons failed there: two
 * holders of one reason and a slip of one release left the connection paused for ever, or unpaused while throttled.
 */
export class ThrottleTracker {
  readonly #counts = new Map<ThrottleReason, number>();
  readonly #setReading: (on: boolean) => void;
  #count = 0;
  #isActive = true;
  #sinceMs = 0;
  #throttledMs = 0;

  /** @param setReading called on changes only, never while the connection is inactive */
  constructor(setReading: (on: boolean) => void) {
    this.#setReading = setReading;
  }

  /** Σ over the reasons. */
  get count(): number {
    return this.#count;
  }

  get isThrottled(): boolean {
    return this.#count > 0;
  }

  countOf(reason: ThrottleReason): number {
    return this.#counts.get(reason) ?? 0;
  }

  mark(reason: ThrottleReason, nowMs: number): TrackerResult {
    const count = this.countOf(reason);
    if (count > 0 && !THROTTLE_REASONS[reason].counted) return 'dropped';
    this.#counts.set(reason, count + 1);
    this.#count++;
    if (this.#count > 1) return 'typeChanged';
    this.#sinceMs = nowMs;
    if (this.#isActive) this.#setReading(false);
    return 'connectionChanged';
  }

  unmark(reason: ThrottleReason, nowMs: number): TrackerResult {
    const count = this.countOf(reason);
    if (count === 0) return 'dropped';
    this.#counts.set(reason, count - 1);
    this.#count--;
    if (this.#count > 0) return 'typeChanged';
    this.#throttledMs += Math.max(0, nowMs - this.#sinceMs);
    if (this.#isActive) this.#setReading(true);
    return 'connectionChanged';
  }

  /** Leaves an inactive connection alone. One that becomes active is paused if a reason holds. */
  setActive(isActive: boolean): void {
    const becameActive = isActive && !this.#isActive;
    this.#isActive = isActive;
    if (becameActive && this.isThrottled) this.#setReading(false);
  }

  /** Milliseconds for which the connection has been throttled in all. */
  throttledMs(nowMs: number): number {
    return this.#throttledMs + (this.isThrottled ? Math.max(0, nowMs - this.#sinceMs) : 0);
  }
}
