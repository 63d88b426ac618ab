import { EventQueue } from '../../cluster/event-queue.js';
import { Random } from '../../cluster/random.js';
import { KeyCluster } from './key-cluster.js';
import { KeyLog } from './key-log.js';

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
  readonly #cluster: KeyCluster;
  readonly #spent = new Map<string, number>();
  readonly #budget: number;

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
    const log = new KeyLog(this.#queue, random, isReplaced ? { ...faults, lost: 0, late: 0 } : faults);
    this.#cluster = new KeyCluster({ queue: this.#queue, random, log, what: 'budget', depth: this.#budget });
    for (const key of KEYS) this.#useKey(key);
    if (isReplaced) this.#queue.at(100_000, () => log.replace());
    else this.#cluster.trouble({ everyMs: pick([3000, 20_000]), untilMs: END_MS, replacedPart: 0 });
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
    this.#cluster.drawn().spend(key, () => this.#spent.set(key, (this.#spent.get(key) ?? 0) + 1));
    this.#queue.after(Math.max(1, Math.round(this.#random.exponential(20))), () => this.#askUntil(key, untilMs));
  }
}
