import { StrictFold } from '../../src/core/strict/strict-fold.js';
import type { StrictQuota } from '../../src/core/strict/strict-quota.js';
import type { StrictRead } from '../../src/core/strict/strict-record.js';
import { EventQueue } from '../cluster/event-queue.js';
import { Random } from '../cluster/random.js';
import { CentralBucket } from './central-bucket.js';
import { ProcessFaults } from './process-faults.js';
import { StrictLog } from './strict-log.js';
import { type StrictMutation, StrictProcess } from './strict-process.js';
import { drawStrictWorld, type StrictWorld } from './strict-world.js';

export interface StrictVerdict {
  readonly seed: number;
  readonly plan: string;
  /** Tokens that one central bucket would not have had at some moment. */
  readonly over: number;
  readonly firstOverMs: number | null;
  readonly asked: number;
  readonly admitted: number;
  /** Tokens that one central bucket admits of the same requests. */
  readonly central: number;
  readonly records: number;
}

/** Plays the random world of a seed, judged at every admission. */
export function playStrict(seed: number, mutation: StrictMutation | null = null): StrictVerdict {
  const random = new Random(seed);
  return new StrictPlay(seed, drawStrictWorld(random), random, mutation).run();
}

/** One world in play. */
export class StrictPlay {
  readonly #queue = new EventQueue();
  readonly #seed: number;
  readonly #world: StrictWorld;
  readonly #random: Random;
  readonly #log: StrictLog;
  readonly #mutation: StrictMutation | null;
  readonly #judge: CentralBucket;
  readonly #central: CentralBucket;
  readonly #processes: StrictProcess[] = [];
  readonly #faulty: ProcessFaults;
  readonly #lives: number[] = [];
  /** The fold of all of the log: the quota in force follows from it. */
  #fold: StrictFold | null = null;
  #revision = 1;
  #quota: StrictQuota;
  readonly #verdict = { over: 0, firstOverMs: null as number | null, asked: 0, admitted: 0, central: 0 };

  constructor(seed: number, world: StrictWorld, random: Random, mutation: StrictMutation | null = null) {
    this.#seed = seed;
    this.#world = world;
    this.#random = random;
    this.#mutation = mutation;
    this.#quota = world.quota;
    this.#log = new StrictLog(this.#queue, random, world.faults);
    const start = (at: number) => this.#start(at);
    this.#faulty = new ProcessFaults({ queue: this.#queue, log: this.#log, processes: this.#processes, start });
    this.#judge = new CentralBucket(world.quota);
    this.#central = new CentralBucket(world.quota);
    this.#log.onAppend = (read) => this.#follow(read);
  }

  run(): StrictVerdict {
    const { nodes, endMs } = this.#world;
    for (let at = 0; at < nodes; at++) this.#start(at);
    for (let at = 0; at < nodes; at++) this.#load(at);
    if (this.#world.faultsEveryMs > 0) this.#faults();
    this.#queue.runUntil(endMs);
    return { seed: this.#seed, plan: this.#world.plan, ...this.#verdict, records: this.#log.records };
  }

  #start(at: number): void {
    const life = (this.#lives[at] ?? 0) + 1000;
    this.#lives[at] = life;
    const clock = { aheadMs: this.#random.between(0, 1e6), drift: this.#random.between(-1, 1) / 4000 };
    const { waitMs } = this.#world;
    const own = { node: `n${at}`, life, quota: this.#quota, revision: this.#revision, clock, waitMs };
    const settings = { ...own, mutation: this.#mutation };
    this.#processes[at] = new StrictProcess(this.#queue, this.#log, settings, (tokens) => this.#admit(tokens));
  }

  #admit(tokens: number): void {
    if (this.#isCompared) this.#verdict.admitted += tokens;
    const missing = this.#judge.force(tokens, this.#queue.nowMs) / this.#world.quota.perMs;
    if (missing > 0) this.#verdict.firstOverMs ??= this.#queue.nowMs;
    this.#verdict.over = Math.max(this.#verdict.over, missing);
  }

  #follow(read: StrictRead): void {
    if (this.#fold === null && read.record.kind === 'found') this.#fold = new StrictFold(read.record.state);
    this.#fold?.apply(read);
    if (this.#fold === null) return;
    const { amount, depth } = this.#fold.inForce;
    this.#judge.change(amount, depth, this.#queue.nowMs);
    this.#central.change(amount, depth, this.#queue.nowMs);
  }

  #load(at: number): void {
    const { gapMs, tokensMost, burst } = this.#world.loadOf(at, this.#queue.nowMs);
    this.#queue.after(Math.max(1, Math.round(this.#random.exponential(gapMs))), () => {
      for (let count = 0; count < burst; count++) this.#ask(at, 1 + Math.floor(this.#random.next() * tokensMost));
      this.#load(at);
    });
  }

  #ask(at: number, tokens: number): void {
    if (this.#isCompared) this.#verdict.asked += tokens;
    if (this.#central.take(tokens, this.#queue.nowMs) && this.#isCompared) this.#verdict.central += tokens;
    this.#processes[at].ask(tokens);
  }

  get #isCompared(): boolean {
    return this.#queue.nowMs >= this.#world.comparedFromMs;
  }

  #faults(): void {
    const between = (low: number, high: number) => Math.round(this.#random.between(low, high));
    this.#queue.after(between(100, this.#world.faultsEveryMs), () => {
      const at = Math.floor(this.#random.next() * this.#processes.length);
      const process = this.#processes[at];
      const drawn = this.#random.next();
      if (drawn < 0.17) this.#change(process);
      else if (drawn < 0.19) this.#restartAll(drawn < 0.18);
      else if (drawn < 0.2) this.#replaceLog();
      // No further: what a clock that goes ahead brings, one bucket has not.
      else if (drawn < 0.22) this.#log.aheadMs -= between(1, 3000);
      else if (!process.isRunning) this.#start(at);
      else if (process.isFrozen) process.thaw();
      else if (drawn < 0.5) this.#faulty.freeze(process, between(50, drawn < 0.4 ? 2000 : 9000));
      else if (drawn < 0.65) this.#faulty.deafen(process, between(100, 12_000));
      else if (drawn < 0.85) this.#faulty.end(at, true, drawn < 0.75 ? 0 : between(1, 6000));
      else this.#faulty.end(at, false, between(1, 4000));
      this.#faults();
    });
  }

  /** Ends all processes, and starts them again. */
  #restartAll(isOrderly: boolean): void {
    for (const at of this.#processes.keys()) {
      const afterMs = Math.round(this.#random.between(1, 3000));
      this.#faulty.end(at, !isOrderly || this.#processes[at].isFrozen, afterMs);
    }
  }

  #replaceLog(): void {
    this.#fold = null;
    this.#log.replace();
  }

  #change({ node, isFrozen, clockMs }: StrictProcess): void {
    const { quota } = this.#world;
    const factor = [0.3, 0.5, 1, 2][Math.floor(this.#random.next() * 4)];
    const amount = Math.round(quota.amount * factor);
    const depth = Math.max(1, Math.round(quota.depth * (this.#random.next() < 0.5 ? factor : 1)));
    this.#quota = { ...quota, amount, depth };
    this.#revision++;
    if (!isFrozen) node.change({ revision: this.#revision, amount, depth }, clockMs);
  }
}
