import { randomBytes } from 'node:crypto';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Clock } from '../../../base/ports/clock.js';
import type { HeldHits } from '../ratelimit/held-hits.js';

/** Amount that a bucket holds. */
export interface HeldAmount {
  readonly amount: number;
  readonly held: HeldHits;
}

interface Held {
  /** Bucket → what it holds. */
  readonly holds: ReadonlyMap<string, HeldAmount>;
  readonly untilMs: number;
}

/** Counts since the start; `open` is of now. */
export interface HeldCounts {
  open: number;
  committed: number;
  /** Given back, because nobody has committed them in time. */
  expired: number;
}

/** Keeps reservations by id. One that nobody commits in time is given back: its work has cost nothing. */
export class HeldAmounts {
  readonly counts: HeldCounts = { open: 0, committed: 0, expired: 0 };
  readonly #clock: Clock;
  readonly #max: number;
  readonly #held = new Map<string, Held>();
  readonly #sweep: NodeJS.Timeout;

  /** @param max most at once, as over HTTP (limits.maxReservations) */
  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
    this.#sweep = setInterval(() => this.expire(), SWEEP_MS);
    this.#sweep.unref();
  }

  /** Throws RESERVATIONS_FULL where there is no room for one more. */
  checkRoom(): void {
    if (this.#held.size >= this.#max) throw new QuotameshError('RESERVATIONS_FULL', { max: this.#max });
  }

  keep(holds: ReadonlyMap<string, HeldAmount>, validMs: number): string {
    const id = randomBytes(16).toString('base64url');
    this.#held.set(id, { holds, untilMs: this.#clock() + validMs });
    this.counts.open = this.#held.size;
    return id;
  }

  /** Takes a reservation out; null = unknown, ended, or given back. */
  take(id: string): ReadonlyMap<string, HeldAmount> | null {
    this.expire();
    const held = this.#held.get(id);
    if (held === undefined) return null;
    this.#held.delete(id);
    this.counts.open = this.#held.size;
    this.counts.committed++;
    return held.holds;
  }

  /** Gives back what is over; all are looked at, as each has a time of its own. */
  expire(): void {
    const nowMs = this.#clock();
    for (const [id, { holds, untilMs }] of this.#held) {
      if (untilMs > nowMs) continue;
      this.#held.delete(id);
      this.counts.expired++;
      for (const { held } of holds.values()) held.cancel();
    }
    this.counts.open = this.#held.size;
  }

  close(): void {
    clearInterval(this.#sweep);
    for (const { holds } of this.#held.values()) for (const { held } of holds.values()) held.cancel();
    this.#held.clear();
    this.counts.open = 0;
  }
}

/** Milliseconds; a reservation is given back so much late at most. */
const SWEEP_MS = 250;
