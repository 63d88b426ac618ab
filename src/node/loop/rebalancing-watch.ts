import { DIMENSION_COUNT, slotOf } from '../../core/base/vocabulary.js';
import type { Coordinator } from '../../core/machine/coordinator.js';

/** Part of a share below which it does not count as moving. */
const MOVED_RATIO = 0.05;
const REST_MS = 300;

/** Measures a rebalancing: from the first share that moved to the last, ended by 300 ms of rest. */
export class RebalancingWatch {
  readonly #shares = new Map<number, number>();
  #beganMs = 0;
  #lastMs = 0;
  #movedMs = -Infinity;

  /** Milliseconds of the last rebalancing that is over. */
  lastMs(nowMs: number): number {
    if (nowMs - this.#movedMs > REST_MS) this.#end();
    return this.#lastMs;
  }

  sharesMoved(lanes: readonly number[], coordinator: Coordinator, nowMs: number): void {
    let moved = false;
    for (const lane of lanes) {
      for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
        if (this.#hasMoved(slotOf(lane, dimension), coordinator.shares.applied)) moved = true;
      }
    }
    if (!moved) return;
    if (nowMs - this.#movedMs > REST_MS) {
      this.#end();
      this.#beganMs = nowMs - coordinator.reportRoundTripMs;
    }
    this.#movedMs = nowMs;
  }

  #end(): void {
    if (this.#movedMs !== -Infinity) this.#lastMs = this.#movedMs - this.#beganMs;
  }

  #hasMoved(slot: number, applied: Float64Array): boolean {
    const share = applied[slot];
    const before = this.#shares.get(slot);
    if (before !== undefined && Math.abs(share - before) <= MOVED_RATIO * Math.max(share, before)) return false;
    this.#shares.set(slot, share);
    return before !== undefined && Number.isFinite(share);
  }
}
