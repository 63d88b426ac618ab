import type { Span } from '../verdict/steadiness.js';

/** Tracks serving nodes and lasting faults. */
export class Presence {
  readonly faults: Span[] = [];
  /** Set by changes, cleared by who has looked. */
  isMoved = true;
  readonly #running: Uint8Array;
  readonly #stalledUntilMs: Float64Array;

  constructor(nodes: number) {
    this.#running = new Uint8Array(nodes);
    this.#stalledUntilMs = new Float64Array(nodes);
  }

  canServe(node: number, nowMs: number): boolean {
    return this.#running[node] === 1 && nowMs >= this.#stalledUntilMs[node];
  }

  runs(node: number, isRunning: boolean): void {
    this.#running[node] = isRunning ? 1 : 0;
    this.#stalledUntilMs[node] = 0;
    this.isMoved = true;
  }

  stalls(node: number, untilMs: number): void {
    this.#stalledUntilMs[node] = untilMs;
    this.isMoved = true;
  }
}
