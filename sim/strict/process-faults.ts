import type { EventQueue } from '../cluster/event-queue.js';
import type { StrictLog } from './strict-log.js';
import type { StrictProcess } from './strict-process.js';

interface FaultsParts {
  readonly queue: EventQueue;
  readonly log: StrictLog;
  readonly processes: readonly StrictProcess[];
  readonly start: (at: number) => void;
}

/** Troubles processes for a time, and lets them go on after it. */
export class ProcessFaults {
  readonly #parts: FaultsParts;

  constructor(parts: FaultsParts) {
    this.#parts = parts;
  }

  freeze(process: StrictProcess, forMs: number): void {
    process.freeze();
    this.#parts.queue.after(forMs, () => process.isFrozen && process.thaw());
  }

  deafen(process: StrictProcess, forMs: number): void {
    const { queue, log } = this.#parts;
    log.deafen(process, true);
    queue.after(forMs, () => process.isFrozen || log.deafen(process, false));
  }

  /** Kills a process, or lets it say farewell, and starts it again. */
  end(at: number, isKilled: boolean, afterMs: number): void {
    const { queue, processes, start } = this.#parts;
    if (isKilled) processes[at].kill();
    else processes[at].leave();
    queue.after(afterMs, () => processes[at].isRunning || start(at));
  }
}
