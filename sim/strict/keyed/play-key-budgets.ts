import { EventQueue } from '../../cluster/event-queue.js';
import { Random } from '../../cluster/random.js';
import { KeyLog } from './key-log.js';
import { KeyProcess } from './key-process.js';

export interface KeyBudgetsVerdict {
  readonly seed: number;
  /** Tokens of one key above its budget. */
  readonly over: number;
  /** Part of all budgets that was spent. */
  readonly used: number;
}

const END_MS = 240_000;
const KEYS = ['a', 'b', 'c'];

/** Plays budgets of keys that never end. @param isReplaced true = the log is made anew, and nothing is lost */
export function playKeyBudgets(seed: number, isReplaced = false): KeyBudgetsVerdict {
  return new KeyBudgetsPlay(seed, isReplaced).run();
}

class KeyBudgetsPlay {
  readonly #queue = new EventQueue();
  readonly #seed: number;
  readonly #random: Random;
  readonly #log: KeyLog;
  readonly #processes: KeyProcess[] = [];
  readonly #spent = new Map<string, number>();
  readonly #budget: number;
  #lives = 0;

  constructor(seed: number, isReplaced: boolean) {
    const random = new Random(seed);
    const pick = <T>(values: readonly T[]) => values[Math.floor(random.next() * values.length)];
    const delayMs = [1, pick([2, 10, 50, 200])] as const;
    const lateMs = pick([300, 3000, 90_000]);
    const faults = {
      delayMs,
      lateMs,
      lost: pick([0, 0.02, 0.2]),
      late: pick([0, 0.02, 0.2]),
      repeated: pick([0, 0.3]),
    };
    this.#seed = seed;
    this.#random = random;
    this.#budget = pick([5, 100, 2000]);
    this.#log = new KeyLog(this.#queue, random, isReplaced ? { ...faults, lost: 0, late: 0 } : faults);
    const nodes = 2 + Math.floor(random.next() * 4);
    for (let at = 0; at < nodes; at++) this.#start(at);
    for (const key of KEYS) this.#useKey(key);
    if (isReplaced) this.#queue.at(100_000, () => this.#log.replace());
    else this.#trouble(pick([3000, 20_000]));
  }

  run(): KeyBudgetsVerdict {
    this.#queue.runUntil(END_MS);
    const spent = KEYS.map((key) => this.#spent.get(key) ?? 0);
    const over = Math.max(0, ...spent.map((tokens) => tokens - this.#budget));
    return {
      seed: this.#seed,
      over,
      used: spent.reduce((sum, tokens) => sum + tokens, 0) / KEYS.length / this.#budget,
    };
  }

  #start(at: number): void {
    const clock = { aheadMs: this.#random.between(0, 1e6), drift: this.#random.between(-4e-4, 4e-4) };
    const life = 1000 + 100_000_000 * this.#lives++;
    const facts = { node: `n${at}`, life, what: 'budget', depth: this.#budget, clock } as const;
    this.#processes[at] = new KeyProcess(this.#queue, this.#log, facts);
  }

  /** Uses a key for seconds, and then not, for seconds or minutes. */
  #useKey(key: string): void {
    const untilMs = this.#queue.nowMs + this.#random.between(500, 15_000);
    this.#askUntil(key, untilMs);
    const idleMs =
      this.#random.next() < 0.5 ? this.#random.between(1000, 30_000) : this.#random.between(60_000, 90_000);
    this.#queue.at(Math.round(untilMs + idleMs), () => this.#useKey(key));
  }

  #askUntil(key: string, untilMs: number): void {
    if (this.#queue.nowMs > untilMs) return;
    const at = Math.floor(this.#random.next() * this.#processes.length);
    this.#processes[at].spend(key, () => this.#spent.set(key, (this.#spent.get(key) ?? 0) + 1));
    this.#queue.after(Math.max(1, Math.round(this.#random.exponential(20))), () => this.#askUntil(key, untilMs));
  }

  #trouble(everyMs: number): void {
    const between = (low: number, high: number) => Math.round(this.#random.between(low, high));
    this.#queue.after(between(100, everyMs), () => {
      const at = Math.floor(this.#random.next() * this.#processes.length);
      const process = this.#processes[at];
      const drawn = this.#random.next();
      if (!process.isRunning) this.#start(at);
      else if (!process.isFrozen && drawn < 0.35) process.freeze(between(50, 9000));
      else if (!process.isFrozen && drawn < 0.5) process.deafen(between(100, 12_000));
      else if (!process.isFrozen) this.#end(at, drawn < 0.8, between(1, 6000));
      this.#trouble(everyMs);
    });
  }

  #end(at: number, isKilled: boolean, afterMs: number): void {
    if (isKilled) this.#processes[at].kill();
    else this.#processes[at].leave();
    this.#queue.after(afterMs, () => this.#processes[at].isRunning || this.#start(at));
  }
}
