/** The answer to a sync: the one size that all report, or the largest one that is reported. */
export interface PoolAnswer {
  readonly verdict: 'AGREE' | 'DISAGREE';
  readonly size: number;
}

/**
 * The shared store as its scripts were shipped: who is alive, and which pool size each reports. Pods agree when all
 * report the same size, whatever the live count is, so the size grows and never shrinks: when one of 3 pods ends, it
 * stays 3.
 */
export class PoolStore {
  readonly #ttlSec: number;
  /** Member → heartbeat, in whole seconds. */
  readonly #heartbeats = new Map<string, number>();
  readonly #reports = new Map<string, number>();

  constructor(ttlSec: number) {
    this.#ttlSec = ttlSec;
  }

  /**
   * Adds a member, and makes it report the live count. That count includes dead members, because nobody is removed
   * here.
   */
  register(member: string, nowSec: number): number {
    this.#heartbeats.set(member, Math.floor(nowSec));
    this.#reports.set(member, this.#heartbeats.size);
    return this.#heartbeats.size;
  }

  sync(member: string, reported: number, nowSec: number): PoolAnswer {
    this.#heartbeats.set(member, Math.floor(nowSec));
    this.#reports.set(member, reported);
    this.#removeSilent(Math.floor(nowSec));
    const sizes = [...this.#reports.values()];
    const largest = Math.max(0, ...sizes);
    const isAgreed = sizes.length === this.#heartbeats.size && sizes.every((size) => size === largest);
    return { verdict: isAgreed ? 'AGREE' : 'DISAGREE', size: largest };
  }

  deregister(member: string): void {
    this.#heartbeats.delete(member);
    this.#reports.delete(member);
  }

  #removeSilent(nowSec: number): void {
    for (const [member, heartbeatSec] of this.#heartbeats) {
      if (heartbeatSec < nowSec - this.#ttlSec) this.deregister(member);
    }
  }
}
