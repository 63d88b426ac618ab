import type { ClientRateLimitInfo, Options, Store } from 'express-rate-limit';
import type { QuotaNode } from '../../node/api/quota-node.js';
import { rejectWrongStore } from './check-store-options.js';
import { type Counted, rejectCall, StoreAccount, type StoreOptions } from './store-account.js';

export type { StoreOptions };

/**
 * Stores hits in a quota: `rateLimit({ limit: 600, windowMs: 60_000, store: new QuotameshStore(node, { group: (key) =>
 * `key:${key}` }) })`.
 */
export class QuotameshStore implements Store {
  /** False: all processes see the same counts, as far as one bucket tells. */
  readonly localKeys = false;
  readonly #account: StoreAccount;
  /** Null = a function, which the library calls after the store. */
  #limit: number | null = null;
  #givesBack = false;

  constructor(node: QuotaNode, options: StoreOptions = {}) {
    rejectWrongStore(NAME, node, options);
    this.#account = new StoreAccount(node, options);
  }

  /** Rejects wrong options; some versions of the library log that and go on, so every request reports it. */
  init({ limit, skipFailedRequests, skipSuccessfulRequests }: Options): void {
    this.#givesBack = skipFailedRequests || skipSuccessfulRequests;
    this.#rejectGivingBack();
    if (typeof limit === 'number') this.#limit = limit;
  }

  increment(key: string): ClientRateLimitInfo {
    this.#rejectGivingBack();
    return this.#infoOf(this.#account.take(key, 1, this.#limit ?? 1));
  }

  get(key: string): ClientRateLimitInfo {
    return this.#infoOf(this.#account.look(key, this.#limit ?? 1));
  }

  decrement(): never {
    return rejectCall(NAME, 'decrement');
  }

  resetKey(): never {
    return rejectCall(NAME, 'resetKey');
  }

  #rejectGivingBack(): void {
    if (this.#givesBack) rejectCall(NAME, 'skipFailedRequests and skipSuccessfulRequests');
  }

  #infoOf({ granted, hits, msLeft }: Counted): ClientRateLimitInfo {
    const told = this.#limit === null ? (granted ? 1 : Number.MAX_SAFE_INTEGER) : hits;
    return { totalHits: told, resetTime: new Date(Date.now() + msLeft) };
  }
}

const NAME = 'express-rate-limit';
