import { EventQueue } from '../../sim/event-queue.js';
import { Random } from '../../sim/random.js';
import { AgreedPool } from '../../src/core/pool/agreed-pool.js';
import { OwnClaims } from '../../src/core/pool/own-claims.js';

const ROUND_MS = 20;
const HEARTBEAT_MS = 1000;
const GAP_MS = 50;
const STALENESS_MS = 5000;
const LOST_RATIO = 0.01;
const CHURN_MS = 20_000;
const SETTLE_MS = 15_000;

/** A record of the membership partition, or where its log time gives a silent node up. */
interface Entry {
  readonly kind: 'node' | 'farewell' | 'expired';
  readonly node: number;
  readonly claim: number;
  readonly sequence: number;
}

export interface PoolRun {
  /** The largest Σ 1/divisor over the members that were served, at any moment. */
  readonly largestSum: number;
  /** From the last change of the membership until all divide by the live count. */
  readonly settledMs: number;
  readonly divisors: readonly number[];
  readonly live: number;
  readonly records: number;
}

/**
 * Members of one log around the production pool, in virtual time: they start, leave and die for 20 s, 1 % of what they
 * append is lost, and each reads the log in order but up to 40 ms late. Only membership, so that 10,000 seeds and 1,000
 * members are played in minutes; whole nodes are in agreed-pool.test.ts.
 */
export function runPool(seed: number, most: number): PoolRun {
  const run = new Run(seed, most);
  run.play();
  return run.result();
}

class PoolMember {
  readonly pool = new AgreedPool();
  readonly claims = new OwnClaims();
  readonly alive = new Set<number>();
  readonly id: number;
  isRunning = true;
  sequence = 0;
  sentMs = Number.NEGATIVE_INFINITY;
  position = 0;

  constructor(id: number) {
    this.id = id;
  }

  read({ kind, node, claim, sequence }: Entry): void {
    if (kind === 'node') {
      this.alive.add(node);
      this.pool.heard(node, claim);
    } else {
      this.alive.delete(node);
      this.pool.gone(node);
    }
    if (node === this.id) this.claims.readBack(sequence);
  }

  /** 0 = it waits. */
  get part(): number {
    if (!this.isRunning || !this.pool.isServed(this.id)) return 0;
    return 1 / Math.max(this.pool.divisor, this.claims.largest);
  }
}

class Run {
  readonly #queue = new EventQueue();
  readonly #random: Random;
  readonly #most: number;
  readonly #log: Entry[] = [];
  readonly #heardMs = new Map<number, number>();
  readonly #members: PoolMember[] = [];
  #sum = 0;
  #largestSum = 0;
  #changedMs = 0;
  #settledMs = 0;

  constructor(seed: number, most: number) {
    this.#random = new Random(seed);
    this.#most = most;
  }

  play(): void {
    const first = 1 + Math.floor(this.#random.between(0, this.#most));
    for (let at = 0; at < first; at++) this.#start();
    this.#churn();
    this.#expire();
    this.#queue.runUntil(CHURN_MS + SETTLE_MS);
  }

  result(): PoolRun {
    const running = this.#members.filter(({ isRunning }) => isRunning);
    const divisors = running.map(({ part }) => Math.round(1 / part));
    const settledMs = Math.max(0, this.#settledMs - this.#changedMs);
    return { largestSum: this.#largestSum, settledMs, divisors, live: running.length, records: this.#log.length };
  }

  #churn(): void {
    if (this.#queue.nowMs > CHURN_MS) return;
    const running = this.#members.filter(({ isRunning }) => isRunning);
    const what = this.#random.next();
    const picked = running[Math.floor(this.#random.between(0, running.length))];
    if (what < 0.5 && running.length < this.#most) this.#start();
    else if (picked !== undefined && running.length > 1) this.#end(picked, what < 0.8);
    this.#queue.after(this.#random.exponential(CHURN_MS / (2 * this.#most)), () => this.#churn());
  }

  #start(): void {
    const member = new PoolMember(this.#members.length);
    this.#members.push(member);
    for (const entry of this.#log) member.read(entry);
    member.position = this.#log.length;
    this.#round(member);
  }

  #end(member: PoolMember, isClean: boolean): void {
    this.#changing(member, () => {
      member.isRunning = false;
    });
    if (isClean) this.#append({ kind: 'farewell', node: member.id, claim: 0, sequence: 0 }, 0);
  }

  #round(member: PoolMember): void {
    if (!member.isRunning) return;
    const { nowMs } = this.#queue;
    const claim = member.alive.size + (member.alive.has(member.id) ? 0 : 1);
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
    this.#log.push(entry);
    for (const member of this.#members) {
      if (member.isRunning)
        this.#queue.after(this.#random.between(0.5, 40), () => this.#readTo(member, this.#log.length));
    }
  }

  #isPresent(node: number): boolean {
    return this.#heardMs.has(node) || this.#members[node]?.isRunning === true;
  }

  /** In order: a delivery brings all before it as well. */
  #readTo(member: PoolMember, end: number): void {
    this.#changing(member, () => {
      for (; member.position < end; member.position++) member.read(this.#log[member.position] as Entry);
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
