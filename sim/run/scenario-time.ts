import type { EventQueue } from '../cluster/event-queue.js';

export class ScenarioTime implements Pick<EventQueue, 'nowMs' | 'at' | 'after'> {
  readonly #queue: EventQueue;
  readonly #warmMs: number;

  constructor(queue: EventQueue, warmMs: number) {
    this.#queue = queue;
    this.#warmMs = warmMs;
  }

  get nowMs(): number {
    return this.#queue.nowMs - this.#warmMs;
  }

  at(atMs: number, run: () => void): void {
    this.#queue.at(atMs + this.#warmMs, run);
  }

  after(delayMs: number, run: () => void): void {
    this.#queue.after(delayMs, run);
  }
}
