import type { Clock } from '../../base/ports/clock.js';
import type { ReadRecord, ReportTopic, ReportTopicListener } from '../../base/ports/report-topic.js';
import { StrictNode } from '../../core/strict/strict-node.js';
import type { StrictQuota } from '../../core/strict/strict-quota.js';
import type { StrictWritten } from '../../core/strict/strict-record.js';
import { decodeStrict, encodeStrict, isStrictKeyOf, strictKeyOf } from './strict-codec.js';

export interface StrictBucketOptions {
  readonly topic: ReportTopic;
  /** Name of the bucket in the topic, without slashes. */
  readonly lane: string;
  readonly node: string;
  /** Greater than in earlier processes of this node id. */
  readonly life: number;
  /** Quota with which the bucket begins, if nobody knows it. */
  readonly quota: StrictQuota;
  /** Goes on in suspends. */
  readonly clock: Clock;
  /** Called before each round. */
  readonly beforeRound?: () => void;
}

/** Milliseconds between rounds. */
const ROUND_MS = 20;
/** Milliseconds in which the end of a life is written; without it others wait for the expiry. */
const LEAVE_MS = 1000;
/** Lives that a process may begin in one epoch. */
const LIVES_PER_EPOCH = 1000;

interface Waiter {
  readonly tokens: number;
  readonly untilMs: number;
  readonly done: (granted: boolean) => void;
}

/**
 * Runs this node's part of one strict bucket over a topic. Of all nodes together it admits nothing that one central
 * bucket would not. Requests that wait are served in order.
 *
 * An outage of the topic needs no care: what cannot be read back counts for nothing, and what was held ends by itself.
 */
export class StrictBucket {
  /** Records that no node has written in this format and log; ignored. */
  foreign = 0;
  readonly #options: StrictBucketOptions;
  #node: StrictNode;
  #life: number;
  #epoch = '';
  #offset = -1;
  #waiting: Waiter[] = [];
  #timer: NodeJS.Timeout | null = null;
  #appending: Promise<unknown> = Promise.resolve();

  constructor(options: StrictBucketOptions) {
    this.#options = options;
    this.#life = options.life;
    this.#node = this.#begin();
  }

  /** Opens the topic; the bucket is known some milliseconds later, or after an expiry if nobody else knows it. */
  async open(): Promise<void> {
    await this.#options.topic.open(this.#listener());
    this.#timer = setInterval(() => this.#round(), ROUND_MS);
  }

  /** True = this node knows the bucket. */
  get isKnown(): boolean {
    return this.#node.fold !== null;
  }

  /** Milliseconds from writing the last claim to reading it back. */
  get roundTripMs(): number {
    return this.#node.roundTripMs;
  }

  /** Takes tokens that this node holds. A refusal orders more. */
  tryAcquire(tokens: number): boolean {
    const nowMs = this.#options.clock();
    if (this.#waiting.length > 0) this.#node.asked(tokens, nowMs);
    else if (this.#node.take(tokens, nowMs)) return true;
    this.#write();
    return false;
  }

  /** Takes tokens within so many milliseconds, after those who asked before. */
  acquire(tokens: number, waitMs: number): Promise<boolean> {
    if (this.tryAcquire(tokens)) return Promise.resolve(true);
    if (waitMs <= 0) return Promise.resolve(false);
    return new Promise((done) => {
      this.#waiting.push({ tokens, untilMs: this.#options.clock() + waitMs, done });
      this.#round();
    });
  }

  /** Gives everything back, and closes the topic. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    for (const { done } of this.#waiting.splice(0)) done(false);
    this.#node.leave(this.#options.clock());
    this.#write();
    await Promise.race([this.#appending, new Promise((resolve) => setTimeout(resolve, LEAVE_MS).unref())]);
    await this.#options.topic.close();
  }

  #begin(): StrictNode {
    const { node, quota } = this.#options;
    return new StrictNode({ node, life: this.#life, quota, revision: 1 });
  }

  #listener(): ReportTopicListener {
    const ignore = () => {};
    return {
      onEpoch: (epoch) => this.#beginEpoch(epoch),
      onRecords: (records) => this.#read(records),
      onCaughtUp: ignore,
      onLost: ignore,
      onRecovered: ignore,
      onFailed: ignore,
    };
  }

  /** Begins with another log: what was granted in the former one counts for nothing. */
  #beginEpoch(epoch: string): void {
    this.#epoch = epoch;
    this.#offset = -1;
    this.#life += LIVES_PER_EPOCH;
    this.#node = this.#begin();
  }

  #read(records: readonly ReadRecord[]): void {
    for (const { offset, appendMs, key, value } of records) {
      if (offset <= this.#offset || value === null || !isStrictKeyOf(this.#options.lane, key)) continue;
      this.#offset = offset;
      const record = decodeStrict(value, this.#epoch);
      if (record === null) this.foreign++;
      else this.#node.read({ offset, appendMs: Math.floor(appendMs), record }, this.#options.clock());
    }
    this.#serve();
    this.#write();
  }

  #round(): void {
    this.#options.beforeRound?.();
    this.#serve();
    this.#node.round(this.#options.clock());
    this.#write();
  }

  #serve(): void {
    const waiting = this.#waiting;
    const nowMs = this.#options.clock();
    while (waiting.length > 0) {
      const [{ tokens, untilMs, done }] = waiting;
      const isGranted = untilMs >= nowMs && this.#node.takeWaiting(tokens, nowMs);
      if (!isGranted && untilMs >= nowMs) break;
      waiting.shift();
      done(isGranted);
    }
    this.#node.waiting = waiting.reduce((sum, { tokens }) => sum + tokens, 0);
  }

  #write(): void {
    const written = this.#node.out.splice(0);
    if (written.length === 0) return;
    const { topic, lane } = this.#options;
    const encoded = (each: StrictWritten) => encodeStrict(each, this.#epoch);
    const records = written.map((each) => ({ partition: 0, key: strictKeyOf(lane, each), value: encoded(each) }));
    // The next claim says again what is lost.
    this.#appending = topic.append(records).catch(() => undefined);
  }
}
