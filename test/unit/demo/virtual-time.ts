import { setImmediate as turn } from 'node:timers/promises';
import { EventQueue } from '../../../sim/cluster/event-queue.js';

const REAL = {
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  performanceNow: performance.now,
  dateNow: Date.now,
};

interface VirtualTimer {
  isCleared: boolean;
  ref(): VirtualTimer;
  unref(): VirtualTimer;
}

/**
 * The global timers and clocks over a heap of events, in whole milliseconds as Node's are. Those of vitest look for the next timer among
 * all that wait, which was nine tenths of the demonstration's time.
 */
export class VirtualTime {
  readonly #queue = new EventQueue();
  readonly #beganMs = Date.now();

  constructor() {
    Object.assign(globalThis, {
      setTimeout: (run: (...args: unknown[]) => void, afterMs?: number, ...args: unknown[]) => {
        return this.#start(() => run(...args), afterMs, false);
      },
      setInterval: (run: () => void, everyMs?: number) => this.#start(run, everyMs, true),
      clearTimeout: clear,
      clearInterval: clear,
    });
    performance.now = () => this.#queue.nowMs;
    Date.now = () => this.#beganMs + this.#queue.nowMs;
  }

  /** What is awaited goes on after each millisecond in which a timer ran; setImmediate is Node's own, and a round may set it once more. */
  async advance(milliseconds: number): Promise<void> {
    const endMs = this.#queue.nowMs + milliseconds;
    while (this.#queue.nowMs < endMs) {
      this.#queue.runUntil(
        Math.min(endMs, Math.max(Math.floor(this.#queue.nowMs) + 1, Math.ceil(this.#queue.nextAtMs))),
      );
      await turn();
      await turn();
    }
  }

  end(): void {
    const { performanceNow, dateNow, ...timers } = REAL;
    Object.assign(globalThis, timers);
    performance.now = performanceNow;
    Date.now = dateNow;
  }

  #start(run: () => void, milliseconds = 1, isRepeated: boolean): VirtualTimer {
    const timer: VirtualTimer = { isCleared: false, ref: () => timer, unref: () => timer };
    const wait = () => {
      this.#queue.after(Math.max(1, Math.trunc(milliseconds)), () => {
        if (timer.isCleared) return;
        if (isRepeated) wait();
        run();
      });
    };
    wait();
    return timer;
  }
}

function clear(timer: VirtualTimer | undefined): void {
  if (timer !== undefined && timer !== null) timer.isCleared = true;
}
