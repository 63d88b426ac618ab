import type { EventQueue } from '../cluster/event-queue.js';

/** Repeats tasks in virtual time; may be frozen or ended. */
export class SimulatedProcess {
  readonly node: string;
  isRunning = true;
  readonly #queue: EventQueue;
  #frozenUntilMs = 0;
  #backlog: (() => void)[] = [];

  constructor(node: string, queue: EventQueue) {
    this.node = node;
    this.#queue = queue;
  }

  get nowMs(): number {
    return this.#queue.nowMs;
  }

  get isServing(): boolean {
    return this.isRunning && this.nowMs >= this.#frozenUntilMs;
  }

  end(): void {
    this.isRunning = false;
  }

  freeze(durationMs: number): void {
    this.#frozenUntilMs = Math.max(this.#frozenUntilMs, this.nowMs + durationMs);
    this.#queue.at(this.#frozenUntilMs, () => this.#wake());
  }

  /** Runs a task now, or at waking; never after the end. */
  perform(task: () => void): void {
    if (!this.isRunning) return;
    if (this.isServing) task();
    else this.#backlog.push(task);
  }

  after(delayMs: number, task: () => void): void {
    this.#queue.after(delayMs, () => this.perform(task));
  }

  /** Repeats a task; a frozen process runs it once for all misses. */
  every(periodMs: number, firstAfterMs: number, task: () => void): void {
    let isOwed = false;
    const tick = () => {
      if (!this.isRunning) return;
      this.#queue.after(periodMs, tick);
      if (isOwed) return;
      isOwed = true;
      this.perform(() => {
        isOwed = false;
        task();
      });
    };
    this.#queue.after(firstAfterMs, tick);
  }

  #wake(): void {
    if (!this.isServing) return;
    for (const task of this.#backlog.splice(0)) this.perform(task);
  }
}
