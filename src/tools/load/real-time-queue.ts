import { EventQueue } from '../../../sim/cluster/event-queue.js';
import { epochNow } from './epoch-now.js';

/** Runs the simulator's queue by the real clock; late events see their due time as `nowMs`. */
export class RealTimeQueue {
  readonly #events = new EventQueue();
  readonly #sinceMs: number;
  #timer: NodeJS.Timeout | undefined;
  #wakesAtMs = Infinity;
  #isStopped = false;

  /** @param sinceMs epoch milliseconds of time 0 */
  constructor(sinceMs: number) {
    this.#sinceMs = sinceMs;
  }

  get nowMs(): number {
    return this.#events.nowMs;
  }

  get clockMs(): number {
    return epochNow() - this.#sinceMs;
  }

  at(atMs: number, run: () => void): void {
    this.#events.at(atMs, run);
    this.#wakeAt(this.#events.nextAtMs);
  }

  after(delayMs: number, run: () => void): void {
    this.at(this.nowMs + delayMs, run);
  }

  /** Stops; the rest will not happen. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #wakeAt(atMs: number): void {
    if (this.#isStopped || atMs >= this.#wakesAtMs) return;
    clearTimeout(this.#timer);
    this.#wakesAtMs = atMs;
    this.#timer = setTimeout(() => this.#runDue(), atMs - this.clockMs);
  }

  #runDue(): void {
    // Events added while events run need no timer.
    this.#wakesAtMs = -Infinity;
    this.#events.runUntil(Math.max(this.nowMs, this.clockMs));
    this.#wakesAtMs = Infinity;
    if (this.#events.nextAtMs < Infinity) this.#wakeAt(this.#events.nextAtMs);
  }
}
