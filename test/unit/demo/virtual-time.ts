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

  /** Goes from timer to timer; what is awaited goes on between two of them. */
  async advance(milliseconds: number): Promise<void> {
    const endMs = this.#queue.nowMs + milliseconds;
    await settled();
    while (this.#queue.nowMs < endMs) {
      const dueMs = Math.max(Math.floor(this.#queue.nowMs) + 1, Math.ceil(this.#queue.nextAtMs));
      this.#queue.runUntil(Math.min(endMs, dueMs));
      await settled();
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

/** More would let whoever waits in turns for a later time wait longer. */
const TURNS_MAX = 50;

/** Waits for files, and for Node's own setImmediate, which needs turns and no time. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 2 || isBusy(turns); turns++) await turn();
}

function isBusy(turns: number): boolean {
  return process
    .getActiveResourcesInfo()
    .some((kind) => kind.startsWith('FSReq') || (kind === 'Immediate' && turns < TURNS_MAX));
}

function clear(timer: VirtualTimer | undefined): void {
  if (timer !== undefined && timer !== null) timer.isCleared = true;
}
