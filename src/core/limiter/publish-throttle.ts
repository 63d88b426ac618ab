import { BYTES, MESSAGES, slotOf } from '../base/vocabulary.js';
import { bucketMsOf } from './bucket-wait.js';
import type { Buckets } from './buckets.js';
import type { ThrottleReason, ThrottleTracker } from './throttle-tracker.js';
import { WakeOwner, WakeQueue } from './wake-queue.js';

/** A publish over the limit with its waiting producer. */
interface Throttled {
  readonly producer: Producer;
  readonly messages: number;
  readonly bytes: number;
}

/** A producer on a connection. Several may share one connection and its tracker. */
export class Producer {
  readonly tracker: ThrottleTracker;
  readonly owner: WakeOwner<Throttled>;
  /** Counts the marks that it has on its connection. */
  marks = 0;

  constructor(tracker: ThrottleTracker, weight = 1) {
    this.tracker = tracker;
    this.owner = new WakeOwner(weight);
  }
}

export interface PublishThrottleOptions {
  readonly buckets: Buckets;
  readonly row: number;
  readonly reason: ThrottleReason;
  /** Milliseconds of the limit that accepted work may leave as debt (buckets.ts). */
  readonly debtMs: number;
  /**
   * `expected` (ours): wakes as many producers as the bucket can serve if each publishes the same amount again.
   * `all` (PIP-322's own rule): a woken producer costs nothing, so one useful amount of tokens wakes them all (a herd).
   */
  readonly wakes: 'expected' | 'all';
  readonly onReleased: (producer: Producer) => void;
}

/**
 * Limits publishes that a broker has already read and must accept. Each is charged. If no tokens are left afterwards,
 * the producer's connection is not read until its turn comes (PIP-322, PublishRateLimiterImpl). There is no timer:
 * `nextWakeMs` is the time for the next `wake`.
 */
export class PublishThrottle {
  readonly #options: PublishThrottleOptions;
  readonly #queue = new WakeQueue<Throttled>();
  #waiting = 0;
  #nextWakeMs = Infinity;

  constructor(options: PublishThrottleOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Time of the next `wake`; Infinity while nobody waits, and while the limit is 0. */
  get nextWakeMs(): number {
    return this.#nextWakeMs;
  }

  /** Charges an accepted publish. Returns true if its connection is to be read on. */
  publish(producer: Producer, messages: number, bytes: number, nowMs: number): boolean {
    const { buckets, row, debtMs, reason, wakes } = this.#options;
    buckets.charge(row, messages, bytes, debtMs, nowMs);
    // Taking the last token throttles already (PIP-322).
    if (buckets.available(row, MESSAGES, nowMs) > 0 && buckets.available(row, BYTES, nowMs) > 0) return true;
    producer.marks++;
    producer.tracker.mark(reason, nowMs);
    const cost = wakes === 'all' ? 0 : bucketMsOf(buckets, row, messages, bytes);
    this.#queue.add(producer.owner, { producer, messages, bytes }, cost);
    this.#waiting++;
    if (this.#waiting === 1) this.#plan(0, nowMs);
    return false;
  }

  /**
   * Releases as many producers in turn as the bucket can serve. Plans the next call. Call it after a change of the
   * limit, too: a producer slept for hours after its limit had been raised (#25502).
   */
  wake(nowMs: number): void {
    const { buckets, row, wakes } = this.#options;
    let messages = 0;
    let bytes = 0;
    while (this.#waiting > 0 && buckets.throttleMs(row, nowMs) === 0 && this.#carries(messages, bytes)) {
      const owner = this.#queue.peek() as WakeOwner<Throttled>;
      const released = this.#queue.take(owner);
      if (wakes === 'expected') {
        messages += released.messages;
        bytes += released.bytes;
      }
      this.#release(released.producer, nowMs);
      this.#options.onReleased(released.producer);
    }
    this.#plan(bucketMsOf(buckets, row, messages, bytes), nowMs);
  }

  /** Removes a producer with its marks on its connection (#24799). */
  close(producer: Producer, nowMs: number): void {
    this.#queue.leave(producer.owner);
    producer.owner.items.length = 0;
    producer.owner.head = 0;
    while (producer.marks > 0) this.#release(producer, nowMs);
    if (this.#waiting === 0) this.#nextWakeMs = Infinity;
  }

  #release(producer: Producer, nowMs: number): void {
    this.#waiting--;
    producer.marks--;
    producer.tracker.unmark(this.#options.reason, nowMs);
  }

  /** Tests if tokens remain beside the expected publishes of woken producers. */
  #carries(messages: number, bytes: number): boolean {
    const { tokens } = this.#options.buckets;
    const first = slotOf(this.#options.row, 0);
    return tokens.at(first + MESSAGES) - messages > 0 && tokens.at(first + BYTES) - bytes > 0;
  }

  #plan(expectedMs: number, nowMs: number): void {
    const { buckets, row } = this.#options;
    const waitMs = this.#waiting === 0 ? Infinity : buckets.throttleMs(row, nowMs);
    this.#nextWakeMs = nowMs + Math.max(waitMs, expectedMs);
  }
}
