import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor } from '@fastify/rate-limit';
import type { QuotaNode } from '../../node/api/quota-node.js';
import { rejectWrongStore } from './check-store-options.js';
import { type Counted, StoreAccount, type StoreOptions } from './store-account.js';

export type { StoreOptions };

type Answer = (error: Error | null, result?: { current: number; ttl: number }) => void;

/**
 * Stores hits in a quota: `app.register(rateLimit, { max: 600, timeWindow: '1 minute', store: quotameshStore(node, {
 * group: 'orders' }) })`.
 */
export function quotameshStore(node: QuotaNode, options: StoreOptions = {}): FastifyRateLimitStoreCtor {
  rejectWrongStore('@fastify/rate-limit', node, options);
  const account = new StoreAccount(node, options);

  return class QuotameshStore implements FastifyRateLimitStore {
    incr(key: string, answer: Answer, _timeWindow?: number, max = DEFAULT_MAX): void {
      answered(answer, () => account.take(key, 1, max));
    }

    read(key: string, answer: Answer, _timeWindow?: number, max = DEFAULT_MAX): void {
      answered(answer, () => account.look(key, max));
    }

    /** Returns itself for every route: the group alone decides. */
    child(): this {
      return this;
    }
  };
}

function answered(answer: Answer, count: () => Counted): void {
  let counted: Counted;
  try {
    counted = count();
  } catch (error) {
    answer(error as Error);
    return;
  }
  answer(null, { current: counted.hits, ttl: counted.msLeft });
}

const DEFAULT_MAX = 1000;
