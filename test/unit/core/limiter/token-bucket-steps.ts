import { expect } from 'vitest';
import { BYTES, MESSAGES } from '../../../../src/core/base/vocabulary.js';
import { Buckets } from '../../../../src/core/limiter/buckets.js';
import { Producer, PublishThrottle } from '../../../../src/core/limiter/publish-throttle.js';
import { type ThrottleReason, ThrottleTracker } from '../../../../src/core/limiter/throttle-tracker.js';
import { readVectors } from '../../../vectors/read-vectors.js';

/** One step of test/vectors/token-bucket.json; which members it has follows from `op`. */
export interface Step {
  readonly op: string;
  readonly [member: string]: unknown;
}

export interface VectorCase {
  readonly id: string;
  readonly kind: string;
  readonly beyondSafeInteger?: true;
  readonly params: Readonly<Record<string, unknown>>;
  readonly steps: readonly Step[];
}

export const CASES = readVectors<{ readonly cases: readonly VectorCase[] }>('token-bucket.json').cases;

/** A publish limiter and its producers, each on a connection of its own. Debts are kept through a change of limits. */
export class PublishScene {
  readonly #buckets = new Buckets(1);
  #throttle: PublishThrottle;
  #producers = new Map<string, Producer>();
  #released: string[] = [];
  #nowMs = 0;
  readonly #runsWakeups: boolean;

  constructor({ msgsPerSec, bytesPerSec, runWakeups }: VectorCase['params']) {
    this.#runsWakeups = runWakeups === true;
    this.#throttle = this.#create();
    this.#limit(MESSAGES, msgsPerSec);
    this.#limit(BYTES, bytesPerSec);
    this.#buckets.fill(0, 0);
  }

  perform(step: Step): void {
    switch (step.op) {
      case 'advanceMs':
        this.#advance(step.ms as number);
        return;
      case 'publish':
        this.#throttle.publish(
          this.#producer(step.producer as string),
          Number(step.msgs),
          Number(step.bytes),
          this.#nowMs,
        );
        return;
      case 'expectThrottledCount':
        // Debts are kept: where the file has a second answer for that, it is ours.
        expect(this.#throttle.waiting).toBe(step.ifDebtKept ?? step.value);
        return;
      case 'expectReleased':
        if (step.ifDebtKeptWithinMs !== undefined) this.#advance(step.ifDebtKeptWithinMs as number);
        expect(this.#released).toEqual(step.order);
        this.#released = [];
        return;
      case 'expectNextWakeupMs':
        expect(Math.abs(this.#throttle.nextWakeMs - this.#nowMs - (step.value as number))).toBeLessThanOrEqual(1);
        return;
      case 'expectNextWakeupAtLeastMs':
        expect(this.#throttle.nextWakeMs - this.#nowMs).toBeGreaterThanOrEqual(step.value as number);
        return;
      case 'setLimits':
        this.#limit(MESSAGES, step.msgsPerSec);
        this.#limit(BYTES, step.bytesPerSec);
        if (this.#runsWakeups) this.#throttle.wake(this.#nowMs);
        return;
      case 'clearMarks':
        this.#throttle = this.#create();
        this.#producers = new Map();
        return;
      default:
        throw new Error(`unknown operation "${step.op}"`);
    }
  }

  #create(): PublishThrottle {
    return new PublishThrottle({
      buckets: this.#buckets,
      row: 0,
      reason: 'groupRate',
      debtMs: 1e12,
      wakes: 'all',
      onReleased: (producer) => {
        const [name] = [...this.#producers].find(([, one]) => one === producer)!;
        this.#released.push(name);
      },
    });
  }

  #producer(name: string): Producer {
    const producer = this.#producers.get(name) ?? new Producer(new ThrottleTracker(() => undefined));
    this.#producers.set(name, producer);
    return producer;
  }

  #limit(dimension: number, perSecond: unknown): void {
    const rate = perSecond === null ? Infinity : (perSecond as number);
    this.#buckets.setLimit(0, dimension, rate, rate, this.#nowMs);
  }

  #advance(ms: number): void {
    const endMs = this.#nowMs + ms;
    while (this.#runsWakeups && this.#throttle.nextWakeMs <= endMs) {
      this.#nowMs = Math.max(this.#nowMs, this.#throttle.nextWakeMs);
      this.#throttle.wake(this.#nowMs);
    }
    this.#nowMs = endMs;
  }
}

/** A connection with its tracker. */
export class TrackerScene {
  #reads = true;
  readonly #tracker = new ThrottleTracker((on) => {
    this.#reads = on;
  });

  perform(step: Step): void {
    if (step.op === 'setChannelActive') {
      this.#tracker.setActive(step.value as boolean);
      return;
    }
    if (step.op !== 'mark' && step.op !== 'unmark') throw new Error(`unknown operation "${step.op}"`);
    const result = this.#tracker[step.op](step.type as ThrottleReason, 0);
    expect({ result, readsEnabled: this.#reads, count: this.#tracker.count }).toEqual({
      result: step.result,
      readsEnabled: step.readsEnabled,
      count: step.count,
    });
  }
}
