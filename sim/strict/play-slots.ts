import type { StrictWallet } from '../../src/core/strict/strict-wallet.js';
import { EventQueue } from '../cluster/event-queue.js';
import { Random } from '../cluster/random.js';
import { ProcessFaults } from './process-faults.js';
import { StrictLog, type StrictLogFaults } from './strict-log.js';
import { type StrictMutation, StrictProcess } from './strict-process.js';

/** A cluster whose nodes share slots, its load and its faults. */
export interface SlotsWorld {
  readonly nodes: number;
  readonly slots: number;
  /** Requests that are asked for, as a multiple of the slots. */
  readonly load: number;
  /** Mean milliseconds for which a request holds its slot. */
  readonly heldMs: number;
  readonly waitMs: number;
  readonly faults: StrictLogFaults;
  /** Milliseconds between faults of processes at most; 0 = none. */
  readonly faultsEveryMs: number;
  readonly endMs: number;
}

export interface SlotsVerdict {
  readonly seed: number;
  readonly slots: number;
  /** Most slots above all of them that were held at one moment. */
  readonly over: number;
  readonly firstOverMs: number | null;
  /** Part of the slots that were held in the mean. */
  readonly used: number;
}

interface Held {
  readonly process: StrictProcess;
  readonly wallet: StrictWallet;
}

const NO_FAULTS = { lost: 0, late: 0, lateMs: 0, repeated: 0 };
/** Milliseconds in which the nodes find each other. */
const QUIET_MS = 7000;
const SAMPLE_MS = 50;
/** Milliseconds for which one node has half of the load. */
const HOT_MS = 3000;

/** Plays random slots under every fault, counted at each moment. */
export function playSlots(seed: number, mutation: StrictMutation | null = null): SlotsVerdict {
  const random = new Random(seed);
  const pick = <T>(values: readonly T[]) => values[Math.floor(random.next() * values.length)];
  const delays = [1, pick([2, 10, 50, 200])] as const;
  const lateMs = pick([300, 3000, 9000]);
  const [lost, late, repeated] = [pick([0, 0, 0.02, 0.2]), pick([0, 0, 0.02, 0.2]), pick([0, 0, 0.05, 0.3])];
  const faults = { appendMs: delays, deliveryMs: delays, lost, late, lateMs, repeated };
  const world = {
    nodes: 2 + Math.floor(random.next() * 8),
    slots: pick([1, 3, 20, 100]),
    load: pick([0.5, 2]),
    heldMs: pick([50, 500, 5000]),
    waitMs: pick([0, 2000]),
    faults,
    faultsEveryMs: pick([1000, 5000]),
    endMs: 25_000,
  };
  return new SlotsPlay(seed, world, random, mutation).run();
}

/** Plays a hot node after the other, without faults: what is used. */
export function calmSlots(
  of: Pick<SlotsWorld, 'nodes' | 'slots' | 'heldMs'> & { readonly delayMs: number },
): SlotsVerdict {
  const delays = [Math.max(1, Math.floor(of.delayMs / 2)), of.delayMs] as const;
  const faults = { ...NO_FAULTS, appendMs: delays, deliveryMs: delays };
  const world = { ...of, load: 2, waitMs: 2000, faults, faultsEveryMs: 0, endMs: 25_000 };
  return new SlotsPlay(1, world, new Random(1), null).run();
}

class SlotsPlay {
  readonly #queue = new EventQueue();
  readonly #seed: number;
  readonly #world: SlotsWorld;
  readonly #random: Random;
  readonly #mutation: StrictMutation | null;
  readonly #log: StrictLog;
  readonly #processes: StrictProcess[] = [];
  readonly #faulty: ProcessFaults;
  readonly #held = new Set<Held>();
  #lives = 0;
  #over = 0;
  #firstOverMs: number | null = null;
  #samples = 0;
  #sum = 0;

  constructor(seed: number, world: SlotsWorld, random: Random, mutation: StrictMutation | null) {
    this.#seed = seed;
    this.#world = world;
    this.#random = random;
    this.#mutation = mutation;
    this.#log = new StrictLog(this.#queue, random, world.faults);
    const start = (at: number) => this.#start(at);
    this.#faulty = new ProcessFaults({ queue: this.#queue, log: this.#log, processes: this.#processes, start });
  }

  run(): SlotsVerdict {
    const { nodes, endMs, slots, faultsEveryMs } = this.#world;
    for (let at = 0; at < nodes; at++) this.#start(at);
    for (let at = 0; at < nodes; at++) this.#load(at);
    if (faultsEveryMs > 0) this.#trouble();
    for (let ms = QUIET_MS; ms < endMs; ms += SAMPLE_MS) this.#queue.at(ms, () => this.#sample());
    this.#queue.runUntil(endMs);
    const used = this.#sum / Math.max(1, this.#samples) / slots;
    return { seed: this.#seed, slots, over: this.#over, firstOverMs: this.#firstOverMs, used };
  }

  #sample(): void {
    this.#samples++;
    this.#sum += this.#count();
  }

  #start(at: number): void {
    const quota = { amount: 0, perMs: 1, depth: this.#world.slots, slots: true } as const;
    const clock = { aheadMs: this.#random.between(0, 1e6), drift: this.#random.between(-4e-4, 4e-4) };
    const own = { node: `n${at}`, life: 1000 + 100_000 * this.#lives++, quota, revision: 1, clock };
    const settings = { ...own, waitMs: this.#world.waitMs, mutation: this.#mutation };
    const process: StrictProcess = new StrictProcess(this.#queue, this.#log, settings, () => this.#acquired(process));
    this.#processes[at] = process;
  }

  /** Counts slots whose holders may go on: a process that was killed or has stopped itself does nothing. */
  #count(): number {
    let count = 0;
    for (const { process, wallet } of this.#held) {
      if (process.isRunning && wallet.isAlive(process.clockMs)) count++;
    }
    return count;
  }

  #acquired(process: StrictProcess): void {
    const { wallet } = process.node;
    if (wallet === null) return;
    const held = { process, wallet };
    this.#held.add(held);
    const over = this.#count() - this.#world.slots;
    if (over > 0) this.#firstOverMs ??= this.#queue.nowMs;
    this.#over = Math.max(this.#over, over);
    this.#queue.after(Math.max(1, Math.round(this.#random.exponential(this.#world.heldMs))), () => this.#release(held));
  }

  /** Ends a request; a frozen process ends none. */
  #release(held: Held): void {
    const { process, wallet } = held;
    if (process.isRunning && process.isFrozen) {
      this.#queue.after(SAMPLE_MS, () => this.#release(held));
      return;
    }
    this.#held.delete(held);
    wallet.release(1);
  }

  #load(at: number): void {
    const { nodes, slots, load, heldMs } = this.#world;
    const isHot = Math.floor(this.#queue.nowMs / HOT_MS) % nodes === at;
    const part = 0.5 / nodes + (isHot ? 0.5 : 0);
    const gapMs = heldMs / (slots * load * part);
    this.#queue.after(Math.max(1, Math.round(this.#random.exponential(Math.min(2000, gapMs)))), () => {
      this.#processes[at].ask(1);
      this.#load(at);
    });
  }

  #trouble(): void {
    const between = (low: number, high: number) => Math.round(this.#random.between(low, high));
    this.#queue.after(between(100, this.#world.faultsEveryMs), () => {
      const at = Math.floor(this.#random.next() * this.#processes.length);
      const process = this.#processes[at];
      const drawn = this.#random.next();
      if (!process.isRunning) this.#start(at);
      else if (process.isFrozen) process.thaw();
      else if (drawn < 0.05) this.#log.replace();
      else if (drawn < 0.5) this.#faulty.freeze(process, between(50, 9000));
      else if (drawn < 0.65) this.#faulty.deafen(process, between(100, 12_000));
      else this.#faulty.end(at, drawn < 0.85, between(1, 6000));
      this.#trouble();
    });
  }
}
