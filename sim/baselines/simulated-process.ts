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

  /** Runs a task: now, or when the process wakes. After its end, never. */
  perform(task: () => void): void {
    if (!this.isRunning) return;
    if (this.isServing) task();
    else this.#backlog.push(task);
  }

  after(delayMs: number, task: () => void): void {
    this.#queue.after(delayMs, () => this.perform(task));
  }

  /** Repeats a task. A process that was frozen runs it once for all turns missed. */
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
