import { RateLimiterCompatibleAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { showSent } from '../../base/input/input-mistakes.js';
import type { QuotaNode } from '../../node/api/quota-node.js';
import { LIMITER_OPTIONS, rejectWrongStore } from './check-store-options.js';
import { type Counted, rejectCall, StoreAccount, type StoreOptions } from './store-account.js';

export interface RateLimiterQuotameshOptions extends StoreOptions {
  /** Quota of the group in its unit of time. The library's wrappers and headers read it. */
  readonly points: number;
  /** Name that RateLimiterUnion tells limiters apart by; the group does not follow from it. */
  readonly keyPrefix?: string;
  /** Seconds for which a refused key is refused in this process; default 0. */
  readonly blockDuration?: number;
}

/**
 * Limits by a quota: `await new RateLimiterQuotamesh(node, { points: 600, group: (key) => `key:${key}`
 * }).consume('alice')`.
 */
export class RateLimiterQuotamesh extends RateLimiterCompatibleAbstract {
  readonly points: number;
  override readonly keyPrefix: string;
  override blockDuration: number;
  /** False: work is not spread over a window. */
  override execEvenly = false;
  readonly #account: StoreAccount;
  /** End of each key's block; the oldest goes when there are too many. */
  readonly #blockedUntilMs = new Map<string, number>();

  constructor(node: QuotaNode, options: RateLimiterQuotameshOptions) {
    super();
    rejectWrongStore(NAME, node, options, LIMITER_OPTIONS);
    this.points = options.points;
    this.keyPrefix = options.keyPrefix ?? '';
    this.blockDuration = options.blockDuration ?? 0;
    this.#account = new StoreAccount(node, options);
  }

  /** Takes points; rejects with a RateLimiterRes when refused, with an error when the node cannot decide. */
  override async consume(key: string | number, points = 1): Promise<RateLimiterRes> {
    rejectPoints(points);
    const blockedMs = this.#blockedMs(`${key}`);
    if (blockedMs > 0) throw this.#blocked(blockedMs);
    // A full bucket would admit it and be in debt; a window never does.
    const isTooMuch = points > this.points;
    const counted = isTooMuch ? this.#tooMuch(`${key}`) : this.#account.take(`${key}`, points, this.points);
    if (counted.granted) return resultOf(counted);
    if (this.blockDuration > 0) return Promise.reject(await this.block(key, this.blockDuration));
    throw resultOf(counted);
  }

  override async penalty(key: string | number, points = 1): Promise<RateLimiterRes> {
    rejectPoints(points);
    this.#account.charge(`${key}`, points);
    return resultOf(this.#account.look(`${key}`, this.points));
  }

  /** Blocks a key; zero seconds are for ever, as in the library. */
  override async block(key: string | number, seconds: number): Promise<RateLimiterRes> {
    this.#blockedUntilMs.delete(`${key}`);
    if (this.#blockedUntilMs.size >= BLOCKED_MAX) {
      const [oldest] = this.#blockedUntilMs.keys();
      this.#blockedUntilMs.delete(oldest);
    }
    const untilMs = seconds === 0 ? Infinity : performance.now() + seconds * 1000;
    this.#blockedUntilMs.set(`${key}`, untilMs);
    return this.#blocked(untilMs - performance.now());
  }

  /** Looks at a key; null = a full bucket, the library's word for an unused key. */
  override async get(key: string | number): Promise<RateLimiterRes | null> {
    const blockedMs = this.#blockedMs(`${key}`);
    if (blockedMs > 0) return this.#blocked(blockedMs);
    const counted = this.#account.look(`${key}`, this.points);
    return counted.isFull ? null : resultOf(counted);
  }

  /** Ends a block; false = there was none. */
  override async delete(key: string | number): Promise<boolean> {
    return this.#blockedUntilMs.delete(`${key}`);
  }

  override async reward(): Promise<never> {
    return rejectCall(NAME, 'reward');
  }

  override async set(): Promise<never> {
    return rejectCall(NAME, 'set');
  }

  #tooMuch(key: string): Counted {
    return { granted: false, hits: this.points + 1, remaining: 0, msLeft: this.#account.look(key, this.points).msLeft };
  }

  /** Returns a block's result; −1 = without an end. */
  #blocked(leftMs: number): RateLimiterRes {
    const msBeforeNext = leftMs === Infinity ? -1 : Math.ceil(leftMs);
    return new RateLimiterRes(0, msBeforeNext, this.points + 1, false);
  }

  #blockedMs(key: string): number {
    const untilMs = this.#blockedUntilMs.get(key);
    if (untilMs === undefined) return 0;
    const leftMs = Math.ceil(untilMs - performance.now());
    if (leftMs <= 0) this.#blockedUntilMs.delete(key);
    return Math.max(0, leftMs);
  }
}

function rejectPoints(points: unknown): void {
  if (Number.isSafeInteger(points) && (points as number) > 0) return;
  throw new QuotameshError('AMOUNT_INVALID', {
    field: 'points',
    reason: `must be a whole number > 0, got ${showSent(points)}`,
  });
}

function resultOf({ hits, remaining, msLeft }: Counted): RateLimiterRes {
  return new RateLimiterRes(remaining, msLeft, hits, false);
}

const NAME = 'rate-limiter-flexible';
const BLOCKED_MAX = 100_000;
