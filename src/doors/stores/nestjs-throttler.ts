import type { ThrottlerStorage } from '@nestjs/throttler';
import type { QuotaNode } from '../../node/api/quota-node.js';
import { rejectWrongStore } from './check-store-options.js';
import { StoreAccount, type StoreOptions } from './store-account.js';

export type { StoreOptions };

/**
 * Stores hits in a quota: `ThrottlerModule.forRoot({ throttlers: [{ limit: 600, ttl: 60_000 }], storage: new
 * QuotameshStorage(node, { group }) })`. Keys come hashed, unless `generateKey: (_context, tracker) => tracker`.
 */
export class QuotameshStorage implements ThrottlerStorage {
  readonly #account: StoreAccount;

  constructor(node: QuotaNode, options: StoreOptions = {}) {
    rejectWrongStore('@nestjs/throttler', node, options);
    this.#account = new StoreAccount(node, options);
  }

  /** Counts hits; blocks no longer than until asking again is worth it, whatever `blockDuration`. */
  async increment(key: string, _ttl: number, limit: number) {
    const { granted, hits, msLeft } = this.#account.take(key, 1, limit);
    const seconds = Math.ceil(msLeft / 1000);
    return { totalHits: hits, timeToExpire: seconds, isBlocked: !granted, timeToBlockExpire: granted ? 0 : seconds };
  }
}
