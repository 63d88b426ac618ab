import type { StrictRecord } from '../../src/core/strict/strict-record.js';
import { EventQueue } from '../cluster/event-queue.js';
import { Random } from '../cluster/random.js';
import { ProcessFaults } from './process-faults.js';
import { StrictLog, type StrictLogFaults } from './strict-log.js';
import { StrictProcess } from './strict-process.js';

/** A cluster that spends a budget, its load and its faults. */
export interface BudgetWorld {
  readonly nodes: number;
  readonly budget: number;
  readonly monthMs: number;
  /** Tokens that are asked for, as a multiple of the budget. */
  readonly load: number;
  readonly waitMs: number;
  readonly faults: StrictLogFaults;
  /** Milliseconds between faults of processes at most; 0 = none. */
  readonly faultsEveryMs: number;
  /** True = the clocks of the log and of nodes jump. */
  readonly jumps: boolean;
  /** True = the log is replaced while nodes run that know it. */
  readonly replaced: boolean;
  readonly endMs: number;
  /** Records that the log loses always: a fault for the judge to find. */
  readonly without: StrictRecord['kind'] | null;
}

export interface BudgetVerdict {
  readonly seed: number;
  /** Most tokens above the budget that were spent in one month. */
  readonly over: number;
  readonly firstOverMs: number | null;
  readonly spent: number;
  /** Part of the budget that was spent in the first month. */
  readonly used: number;
}

/** Milliseconds between looks of nodes at their wall clocks. */
const LOOK_MS = 100;
/** Milliseconds in which those who knew a former log go on. */
const SURVIVE_MS = 12_000;

/** Plays a random budget under every fault, counted by a month’s account. */
export function playBudget(seed: number, without: BudgetWorld['without'] = null): BudgetVerdict {
  const random = new Random(seed);
  const pick = <T>(values: readonly T[]) => values[Math.floor(random.next() * values.length)];
  const delays = [1, pick([2, 10, 50, 200])] as const;
  const trouble = pick(['jumps', 'replaced', 'neither'] as const);
  const isSafe = trouble === 'replaced';
  const [lost, late, repeated] = [pick([0, 0.02, 0.2]), pick([0, 0.02, 0.2]), pick([0, 0.05, 0.3])];
  const faults = {
    appendMs: delays,
    deliveryMs: delays,
    lost: isSafe ? 0 : lost,
    late: isSafe ? 0 : late,
    lateMs: pick([300, 3000, 9000]),
    repeated,
  };
  const world = {
    nodes: 2 + Math.floor(random.next() * 6),
    budget: pick([3, 30, 1000, 20_000]),
    monthMs: pick([9000, 15_000, 60_000]),
    load: pick([0.7, 2, 5]),
    waitMs: pick([0, 500]),
    faults,
    faultsEveryMs: pick([1000, 5000]),
    jumps: trouble === 'jumps',
    replaced: isSafe,
    endMs: 45_000,
    without,
  };
  return new BudgetPlay(seed, world, random).run();
}

/** Plays a month without faults: what can be spent. */
export function calmBudget(of: Pick<BudgetWorld, 'nodes' | 'budget'> & { readonly delayMs: number }): BudgetVerdict {
  const delays = [Math.max(1, Math.floor(of.delayMs / 2)), of.delayMs] as const;
  const faults = { appendMs: delays, deliveryMs: delays, lost: 0, late: 0, lateMs: 0, repeated: 0 };
  const calm = { faultsEveryMs: 0, jumps: false, replaced: false, without: null };
  const world = { ...of, ...calm, monthMs: 60_000, load: 3, waitMs: 500, faults, endMs: 55_000 };
  return new BudgetPlay(1, world, new Random(1)).run();
}

class BudgetPlay {
  readonly #queue = new EventQueue();
  readonly #seed: number;
  readonly #world: BudgetWorld;
  readonly #random: Random;
  readonly #log: StrictLog;
  readonly #processes: StrictProcess[] = [];
  readonly #wallAheadMs: number[] = [];
  readonly #faulty: ProcessFaults;
  /** The month’s account. */
  readonly #spent = new Map<number, number>();
  #months = 1;
  #sum = 0;
  #lives = 0;
  #over = 0;
  #firstOverMs: number | null = null;
  #troubleFromMs = 0;

  constructor(seed: number, world: BudgetWorld, random: Random) {
    this.#seed = seed;
    this.#world = world;
    this.#random = random;
    this.#log = new StrictLog(this.#queue, random, world.faults);
    this.#log.drops = world.without;
    const start = (at: number) => this.#start(at);
    this.#faulty = new ProcessFaults({ queue: this.#queue, log: this.#log, processes: this.#processes, start });
  }

  run(): BudgetVerdict {
    const { nodes, endMs, faultsEveryMs, budget } = this.#world;
    for (let at = 0; at < nodes; at++) this.#start(at);
    for (let at = 0; at < nodes; at++) this.#load(at);
    this.#look();
    if (faultsEveryMs > 0) this.#trouble();
    this.#queue.runUntil(endMs);
    const used = (this.#spent.get(0) ?? 0) / budget;
    return { seed: this.#seed, over: this.#over, firstOverMs: this.#firstOverMs, spent: this.#sum, used };
  }

  #start(at: number): void {
    const quota = { amount: 0, perMs: 1, depth: this.#world.budget, budget: true } as const;
    const clock = { aheadMs: this.#random.between(0, 1e6), drift: this.#random.between(-4e-4, 4e-4) };
    const own = { node: `n${at}`, life: 1000 + 100_000 * this.#lives++, quota, revision: 1, clock };
    const settings = { ...own, waitMs: this.#world.waitMs, mutation: null };
    this.#processes[at] = new StrictProcess(this.#queue, this.#log, settings, (tokens) => this.#spend(tokens));
    this.#wallAheadMs[at] = this.#jump(300);
  }

  #jump(usualMs: number): number {
    const { jumps, monthMs } = this.#world;
    const mostMs = jumps && this.#random.next() < 0.3 ? 1.5 * monthMs : usualMs;
    return Math.round(this.#random.between(-mostMs, mostMs));
  }

  /** A month counts once the log and a node have it; where clocks jump, all that has begun counts as one. */
  #spend(tokens: number): void {
    const { budget, monthMs, jumps } = this.#world;
    this.#sum += tokens;
    const month = Math.floor(this.#queue.nowMs / monthMs);
    this.#spent.set(month, (this.#spent.get(month) ?? 0) + tokens);
    const over = jumps ? this.#sum - budget * this.#months : (this.#spent.get(month) as number) - budget;
    if (over > 0) this.#firstOverMs ??= this.#queue.nowMs;
    this.#over = Math.max(this.#over, over);
  }

  #look(): void {
    const { monthMs } = this.#world;
    for (const [at, { node, isRunning, isFrozen }] of this.#processes.entries()) {
      const wallMs = Math.max(0, this.#queue.nowMs + this.#wallAheadMs[at]);
      const month = Math.floor(wallMs / monthMs);
      if (!isRunning || isFrozen) continue;
      this.#months = Math.max(this.#months, 1 + month);
      node.beginPeriod({ fromMs: month * monthMs, untilMs: (month + 1) * monthMs }, 0, wallMs);
    }
    this.#queue.after(LOOK_MS, () => this.#look());
  }

  #load(at: number): void {
    const { nodes, budget, load, monthMs } = this.#world;
    const most = Math.max(1, Math.round(budget / 200));
    const gapMs = (monthMs * nodes * most) / (2 * load * budget);
    this.#queue.after(Math.max(1, Math.round(this.#random.exponential(Math.min(2000, gapMs)))), () => {
      this.#processes[at].ask(1 + Math.floor(this.#random.next() * most));
      this.#load(at);
    });
  }

  #trouble(): void {
    const between = (low: number, high: number) => Math.round(this.#random.between(low, high));
    this.#queue.after(between(100, this.#world.faultsEveryMs), () => {
      if (this.#queue.nowMs >= this.#troubleFromMs) this.#act(between);
      this.#trouble();
    });
  }

  #act(between: (low: number, high: number) => number): void {
    const at = Math.floor(this.#random.next() * this.#processes.length);
    const process = this.#processes[at];
    const drawn = this.#random.next();
    if (!process.isRunning) this.#start(at);
    else if (process.isFrozen) process.thaw();
    else if (drawn < 0.1 && this.#world.jumps) this.#log.aheadMs = this.#jump(0);
    else if (drawn < 0.2 && this.#world.jumps) this.#wallAheadMs[at] = this.#jump(300);
    else if (drawn < 0.2 && this.#world.replaced) this.#replace();
    else if (drawn < 0.25) for (const each of this.#processes.keys()) this.#end(each, drawn < 0.22, between(1, 3000));
    else if (drawn < 0.5) this.#faulty.freeze(process, between(50, 9000));
    else if (drawn < 0.65) this.#faulty.deafen(process, between(100, 12_000));
    else this.#end(at, drawn < 0.85, between(1, 6000));
  }

  #end(at: number, isKilled: boolean, afterMs: number): void {
    const process = this.#processes[at];
    if (process.isRunning) this.#faulty.end(at, isKilled || process.isFrozen, afterMs);
  }

  /** Begins another log, if a running node has read this one. */
  #replace(): void {
    const knows = (process: StrictProcess) =>
      process.isRunning && !process.isFrozen && process.node.fold !== null && this.#log.hasRead(process);
    if (!this.#processes.some(knows)) return;
    this.#log.replace();
    this.#troubleFromMs = this.#queue.nowMs + SURVIVE_MS;
  }
}
