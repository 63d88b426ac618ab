import { EventQueue } from '../../sim/cluster/event-queue.js';
import { Random } from '../../sim/cluster/random.js';
import { OwnClaims } from '../../src/core/usage-map/pool/own-claims.js';
import { type Entry, type OwnEntry, PoolLog } from './pool-log.js';

const ROUND_MS = 20;
const HEARTBEAT_MS = 1000;
const GAP_MS = 50;
const STALENESS_MS = 5000;
const LOST_RATIO = 0.01;
/** Two starts or ends a second, whatever the size: a rolling update of 1,000 nodes in a quarter of an hour. */
const CHANGE_EVERY_MS = 500;
const CHURN_MS = 20_000;
const SETTLE_MS = 15_000;

export interface PoolRun {
  /** The largest Σ 1/divisor over the members that were served, at any moment. */
  readonly largestSum: number;
  /** From the last change of the membership until all divide by the live count. */
  readonly settledMs: number;
  /** `settledMs` in rounds of 20 ms. */
  readonly rounds: number;
  readonly divisors: readonly number[];
  readonly live: number;
  readonly recordsPerNodeAndSecond: number;
}

/**
 * Members of one log around the production pool, in virtual time: they start, leave and die for 20 s, 1 % of what they
 * append is lost and not told, and each reads the log in order but up to 40 ms late. Only membership, so that 10,000
 * seeds and 1,000 members are played in minutes; whole nodes are in agreed-pool.test.ts.
 *
 * @param least nodes at the beginning
 * @param most nodes at any time
 */
export function runPool(seed: number, most: number, least = 1): PoolRun {
  const run = new Run(seed, most, least);
  run.play();
  return run.result();
}

class PoolMember {
  readonly claims = new OwnClaims();
  readonly id: number;
  readonly #log: PoolLog;
  isRunning = true;
  isReading = false;
  sequence = 0;
  sentMs = -Infinity;
  #position = 0;
  #own: OwnEntry | undefined;
  #nextOwn = 0;

  constructor(id: number, log: PoolLog) {
    this.id = id;
    this.#log = log;
  }

  read(): void {
    this.#position = this.#log.length;
    const own = this.#log.of(this.id);
    for (; this.#nextOwn < own.length; this.#nextOwn++) {
      this.#own = own[this.#nextOwn];
      this.claims.readBack(this.#own.sequence);
    }
  }

  /** The members it knows, itself among them. */
  get claim(): number {
    return this.#log.liveAt(this.#position) + (this.#own?.isAlive === true ? 0 : 1);
  }

  /** 0 = it waits. */
  get part(): number {
    if (!this.isRunning || this.#own?.isServed !== true) return 0;
    return 1 / Math.max(this.#log.divisorAt(this.#position), this.claims.largest);
  }
}

class Run {
  readonly #queue = new EventQueue();
  readonly #random: Random;
  readonly #most: number;
  readonly #least: number;
  readonly #log = new PoolLog();
  readonly #heardMs = new Map<number, number>();
  readonly #members: PoolMember[] = [];
  readonly #running = new Set<PoolMember>();
  #sum = 0;
  #largestSum = 0;
  #changedMs = 0;
  #settledMs = 0;
  #nodeSeconds = 0;

  constructor(seed: number, most: number, least: number) {
    this.#random = new Random(seed);
    this.#most = most;
    this.#least = least;
  }

  play(): void {
    const first = Math.floor(this.#random.between(this.#least, this.#most + 1));
    for (let at = 0; at < first; at++) this.#start();
    this.#churn();
    this.#expire();
    this.#queue.runUntil(CHURN_MS + SETTLE_MS);
  }

  result(): PoolRun {
    const divisors = [...this.#running].map(({ part }) => Math.round(1 / part));
    const settledMs = Math.max(0, this.#settledMs - this.#changedMs);
    return {
      largestSum: this.#largestSum,
      settledMs,
      rounds: Math.ceil(settledMs / ROUND_MS),
      divisors,
      live: divisors.length,
      recordsPerNodeAndSecond: this.#log.length / this.#nodeSeconds,
    };
  }

  #churn(): void {
    if (this.#queue.nowMs > CHURN_MS) return;
    const running = [...this.#running];
    const what = this.#random.next();
    const picked = running[Math.floor(this.#random.between(0, running.length))];
    if (what < 0.5 && running.length < this.#most) this.#start();
    else if (picked !== undefined && running.length > 1) this.#end(picked, what < 0.8);
    this.#queue.after(this.#random.exponential(CHANGE_EVERY_MS), () => this.#churn());
  }

  #start(): void {
    const member = new PoolMember(this.#members.length, this.#log);
    this.#members.push(member);
    this.#running.add(member);
    member.read();
    this.#round(member);
  }

  #end(member: PoolMember, isClean: boolean): void {
    this.#changing(member, () => {
      member.isRunning = false;
    });
    this.#running.delete(member);
    if (isClean) this.#append({ kind: 'farewell', node: member.id, claim: 0, sequence: 0 }, 0);
  }

  #round(member: PoolMember): void {
    if (!member.isRunning) return;
    const { nowMs } = this.#queue;
    this.#nodeSeconds += ROUND_MS / 1000;
    const { claim } = member;
    const everyMs = claim === member.claims.newest ? HEARTBEAT_MS : GAP_MS;
    if (nowMs - member.sentMs >= everyMs) {
      member.sentMs = nowMs;
      this.#changing(member, () => member.claims.wrote(++member.sequence, claim));
      this.#append({ kind: 'node', node: member.id, claim, sequence: member.sequence }, LOST_RATIO);
    }
    this.#queue.after(ROUND_MS, () => this.#round(member));
  }

  #append(entry: Entry, lostRatio: number): void {
    if (this.#random.next() < lostRatio) return;
    this.#queue.after(this.#random.between(0.5, 20), () => this.#arrive(entry));
  }

  #arrive(entry: Entry): void {
    const { node, kind } = entry;
    // A late record of one that has left changes nothing in the real log either: its life is over.
    if (kind === 'node' && !this.#isPresent(node)) return;
    const { nowMs } = this.#queue;
    if (kind !== 'node' || !this.#heardMs.has(node)) this.#changedMs = nowMs;
    if (kind === 'node') this.#heardMs.set(node, nowMs);
    else this.#heardMs.delete(node);
    this.#log.append(entry);
    for (const member of this.#running) this.#readSoon(member);
  }

  #isPresent(node: number): boolean {
    return this.#heardMs.has(node) || this.#members[node]?.isRunning === true;
  }

  /** In order: a delivery brings all that is there by then. */
  #readSoon(member: PoolMember): void {
    if (member.isReading) return;
    member.isReading = true;
    this.#queue.after(this.#random.between(0.5, 40), () => {
      member.isReading = false;
      this.#changing(member, () => member.read());
    });
  }

  #changing(member: PoolMember, change: () => void): void {
    const before = member.part;
    change();
    const { part } = member;
    if (part === before) return;
    this.#sum += part - before;
    this.#largestSum = Math.max(this.#largestSum, this.#sum);
    this.#settledMs = this.#queue.nowMs;
  }

  #expire(): void {
    const { nowMs } = this.#queue;
    for (const [node, heardMs] of this.#heardMs) {
      if (nowMs - heardMs > STALENESS_MS) this.#arrive({ kind: 'expired', node, claim: 0, sequence: 0 });
    }
    this.#queue.after(100, () => this.#expire());
  }
}
