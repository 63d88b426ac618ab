import { EventQueue } from '../../cluster/event-queue.js';
import { Random } from '../../cluster/random.js';
import { KeyCluster } from './key-cluster.js';
import { KeyLog } from './key-log.js';
import type { EnteredKey, KeyProcess } from './key-process.js';

export interface KeysVerdict {
  readonly seed: number;
  /** Most slots of a key above its limit, at one moment. */
  readonly over: number;
  readonly firstOverMs: number | null;
  readonly entered: number;
  /** Times that a key was used after its rows had ended. */
  readonly begunAgain: number;
  /** Rows and open lanes left when no key is used for minutes. */
  readonly left: number;
}

/** Milliseconds of troubles; then of rest, in which all rows have to end. */
const TROUBLE_MS = 300_000;
const REST_MS = 300_000;
/** Milliseconds between requests of a key, and that one takes: means. */
const GAP_MS = 150;
const HELD_MS = 400;

/** Plays slots of keys that come and go, under every fault. */
export function playKeys(seed: number, put: (process: KeyProcess) => void = () => {}): KeysVerdict {
  return new KeysPlay(seed, put).run();
}

class KeysPlay {
  readonly #queue = new EventQueue();
  readonly #seed: number;
  readonly #random: Random;
  readonly #log: KeyLog;
  readonly #cluster: KeyCluster;
  readonly #held = new Map<string, Set<EnteredKey>>();
  readonly #slots: number;
  readonly #waitMs: number;
  #over = 0;
  #firstOverMs: number | null = null;
  #entered = 0;
  #begunAgain = 0;

  constructor(seed: number, put: (process: KeyProcess) => void) {
    const random = new Random(seed);
    const pick = <T>(values: readonly T[]) => values[Math.floor(random.next() * values.length)];
    const delayMs = [1, pick([2, 10, 50, 200])] as const;
    const lateMs = pick([300, 3000, 9000, 90_000]);
    const faults = { delayMs, lateMs, lost: pick([0, 0, 0.02, 0.2]), late: pick([0, 0, 0.02, 0.2]) };
    this.#seed = seed;
    this.#random = random;
    this.#slots = pick([1, 2, 5]);
    this.#waitMs = pick([0, 2000]);
    this.#log = new KeyLog(this.#queue, random, { ...faults, repeated: pick([0, 0, 0.05, 0.3]) });
    const parts = { queue: this.#queue, random, log: this.#log, what: 'slots', depth: this.#slots, put } as const;
    this.#cluster = new KeyCluster(parts);
    for (const key of ['a', 'b', 'c'].slice(0, 1 + Math.floor(random.next() * 3))) this.#useKey(key);
    this.#cluster.trouble({ everyMs: pick([3000, 20_000]), untilMs: TROUBLE_MS, replacedPart: 0.03 });
  }

  run(): KeysVerdict {
    this.#queue.runUntil(TROUBLE_MS);
    this.#log.faults = { ...this.#log.faults, lost: 0, late: 0, repeated: 0 };
    this.#cluster.startAll();
    this.#queue.runUntil(TROUBLE_MS + REST_MS);
    const open = this.#cluster.processes.reduce((sum, { openKeys }) => sum + openKeys, 0);
    const left = open + this.#log.kept.filter((key) => key.startsWith('strict/')).length;
    const told = { over: this.#over, firstOverMs: this.#firstOverMs, entered: this.#entered };
    return { seed: this.#seed, ...told, begunAgain: this.#begunAgain, left };
  }

  get #isOver(): boolean {
    return this.#queue.nowMs >= TROUBLE_MS;
  }

  /** Uses a key for seconds, and then not, for seconds or minutes. */
  #useKey(key: string): void {
    const untilMs = this.#queue.nowMs + this.#random.between(500, 15_000);
    if (this.#isOver) return;
    if (this.#entered > 0 && !this.#log.kept.some((row) => row.includes(`,${key},`))) this.#begunAgain++;
    this.#askUntil(key, untilMs);
    const idleMs =
      this.#random.next() < 0.5 ? this.#random.between(1000, 30_000) : this.#random.between(60_000, 120_000);
    this.#queue.at(Math.round(untilMs + idleMs), () => this.#useKey(key));
  }

  #askUntil(key: string, untilMs: number): void {
    if (this.#queue.nowMs > untilMs || this.#isOver) return;
    this.#cluster.drawn().enter(key, this.#waitMs, (held) => this.#enteredKey(key, held));
    this.#queue.after(Math.max(1, Math.round(this.#random.exponential(GAP_MS))), () => this.#askUntil(key, untilMs));
  }

  #enteredKey(key: string, held: EnteredKey): void {
    this.#entered++;
    const all = this.#held.get(key) ?? new Set();
    this.#held.set(key, all.add(held));
    const over = this.#count(all) - this.#slots;
    if (over > 0) this.#firstOverMs ??= this.#queue.nowMs;
    this.#over = Math.max(this.#over, over);
    this.#queue.after(Math.max(1, Math.round(this.#random.exponential(HELD_MS))), () => this.#release(all, held));
  }

  /** Counts slots whose holders may go on: a process that was killed or has stopped itself does nothing. */
  #count(all: ReadonlySet<EnteredKey>): number {
    let count = 0;
    for (const { process, bucket, wallet } of all) if (process.isRunning && bucket.isAlive(wallet)) count++;
    return count;
  }

  /** Ends a request; a frozen process ends none. */
  #release(all: Set<EnteredKey>, held: EnteredKey): void {
    if (held.process.isRunning && held.process.isFrozen) {
      this.#queue.after(50, () => this.#release(all, held));
      return;
    }
    all.delete(held);
    held.bucket.release(held.wallet);
  }
}
