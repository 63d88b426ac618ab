/** Answers a sync: with the size that all report, or the largest. */
export interface PoolAnswer {
  readonly verdict: 'AGREE' | 'DISAGREE';
  readonly size: number;
}

/**
 * Keeps live members and reported sizes, as its scripts were shipped. Pods agree on equal reports, whatever the live
 * count: of 3 pods the size stays 3 when one ends.
 */
export class PoolStore {
  readonly #ttlSec: number;
  /** Member → heartbeat, whole seconds. */
  readonly #heartbeats = new Map<string, number>();
  readonly #reports = new Map<string, number>();

  constructor(ttlSec: number) {
    this.#ttlSec = ttlSec;
  }

  /** Adds a member, which reports how many seem alive, dead ones included. */
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
