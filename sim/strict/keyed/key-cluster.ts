import type { EventQueue } from '../../cluster/event-queue.js';
import type { Random } from '../../cluster/random.js';
import type { KeyLog } from './key-log.js';
import { KeyProcess } from './key-process.js';

interface KeyClusterParts {
  readonly queue: EventQueue;
  readonly random: Random;
  readonly log: KeyLog;
  readonly what: 'slots' | 'budget';
  /** Slots, or tokens of a budget that never ends. */
  readonly depth: number;
  /** Called with each new process. */
  readonly put?: (process: KeyProcess) => void;
}

interface Troubles {
  /** Milliseconds between them, at most. */
  readonly everyMs: number;
  readonly untilMs: number;
  /** Part of them in which the log is made anew. */
  readonly replacedPart: number;
}

/** Runs nodes that are killed, frozen and deafened, and come back. */
export class KeyCluster {
  readonly processes: KeyProcess[] = [];
  readonly #parts: KeyClusterParts;
  #lives = 0;

  constructor(parts: KeyClusterParts) {
    this.#parts = parts;
    const nodes = 2 + Math.floor(parts.random.next() * 4);
    for (let at = 0; at < nodes; at++) this.#start(at);
  }

  /** Starts again who is not running. */
  startAll(): void {
    for (const [at, { isRunning }] of this.processes.entries()) if (!isRunning) this.#start(at);
  }

  drawn(): KeyProcess {
    return this.processes[this.#drawnAt()];
  }

  trouble(troubles: Troubles): void {
    const { queue, random, log } = this.#parts;
    const between = (low: number, high: number) => Math.round(random.between(low, high));
    queue.after(between(100, troubles.everyMs), () => {
      if (queue.nowMs >= troubles.untilMs) return;
      const at = this.#drawnAt();
      const process = this.processes[at];
      const drawn = random.next();
      if (!process.isRunning) this.#start(at);
      else if (drawn < troubles.replacedPart) log.replace();
      else if (drawn < 0.35 && !process.isFrozen) process.freeze(between(50, 9000));
      else if (drawn < 0.5 && !process.isFrozen) process.deafen(between(100, 12_000));
      else if (!process.isFrozen) this.#end(at, drawn < 0.8, between(1, 6000));
      this.trouble(troubles);
    });
  }

  #drawnAt(): number {
    return Math.floor(this.#parts.random.next() * this.processes.length);
  }

  #start(at: number): void {
    const { queue, random, log, what, depth, put } = this.#parts;
    const clock = { aheadMs: random.between(0, 1e6), drift: random.between(-4e-4, 4e-4) };
    const life = 1000 + 100_000_000 * this.#lives++;
    const process = new KeyProcess(queue, log, { node: `n${at}`, life, what, depth, clock });
    put?.(process);
    this.processes[at] = process;
  }

  #end(at: number, isKilled: boolean, afterMs: number): void {
    if (isKilled) this.processes[at].kill();
    else this.processes[at].leave();
    this.#parts.queue.after(afterMs, () => this.processes[at].isRunning || this.#start(at));
  }
}
