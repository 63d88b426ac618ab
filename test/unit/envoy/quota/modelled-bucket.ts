import type { Assignment } from '../../../../src/doors/envoy/quota/assignment.js';

/** One bucket as Envoy 1.40 was measured to enforce it. */
export class ModelledBucket {
  allowed = 0;
  denied = 0;
  #inForce: Assignment | null = null;
  #tokens = 0;
  #atMs = 0;
  #endsMs = -Infinity;

  /** @param ttlMs restarts with every answer, an identical one too */
  assign(assignment: Assignment, ttlMs: number, nowMs: number): void {
    this.#pass(nowMs);
    this.#endsMs = nowMs + ttlMs;
    const before = this.#inForce;
    if (assignment.kind === 'bucket') {
      if (before?.kind !== 'bucket') this.#tokens = assignment.depth;
      // Only other seconds: taken for the same bucket.
      else if (before.tokens === assignment.tokens && before.depth === assignment.depth) return;
      else this.#tokens = Math.floor((this.#tokens / before.depth) * assignment.depth);
    }
    this.#inForce = assignment;
  }

  /** Decides about a request. Without an assignment everything passes, after its end nothing. */
  ask(nowMs: number): boolean {
    this.#pass(nowMs);
    const passes = this.#passes();
    if (passes) this.allowed++;
    else this.denied++;
    return passes;
  }

  #passes(): boolean {
    if (this.#inForce === null) return this.#endsMs === -Infinity;
    if (this.#inForce.kind !== 'bucket') return this.#inForce.kind === 'allow';
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  #pass(nowMs: number): void {
    const { depth, tokens, seconds } = this.#inForce?.kind === 'bucket' ? this.#inForce : NOTHING;
    this.#tokens = Math.min(depth, this.#tokens + (tokens / seconds) * ((nowMs - this.#atMs) / 1000));
    this.#atMs = nowMs;
    if (nowMs >= this.#endsMs) this.#inForce = null;
  }
}

const NOTHING = { depth: 0, tokens: 0, seconds: 1 };
