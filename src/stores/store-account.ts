import type { Refused } from '../api/decision.js';
import type { QuotaNode } from '../api/quota-node.js';
import { QuotameshError } from '../errors/quotamesh-error.js';

export interface StoreOptions {
  /** The group of a library's key, or one group for all. A key as it is where absent: ``(key) => `key:${key}` ``. */
  readonly group?: string | ((key: string) => string);
}

/** What a library with counted windows wants to know: hits of a window that has so many, and how long it lasts. */
export interface Counted {
  readonly granted: boolean;
  /** At least 1 and at most `limit` where it was granted, more than `limit` where not. */
  readonly hits: number;
  readonly remaining: number;
  /** Until the bucket is full; after a refusal, until asking again is worth it. */
  readonly msLeft: number;
}

/** The calls of all stores, on one node. A bucket counts no hits: they are what its quota lacks. */
export class StoreAccount {
  readonly #node: QuotaNode;
  readonly #group: StoreOptions['group'];

  constructor(node: QuotaNode, { group }: StoreOptions) {
    this.#node = node;
    this.#group = group;
  }

  /** @param limit what the library takes for the number of hits of a window: more hits are refused by it */
  take(key: string, messages: number, limit: number): Counted {
    const decision = this.#node.tryAcquire(this.groupOf(key), { messages }, { tell: true });
    if (!decision.granted) {
      if (decision.reason === 'not-ready') {
        throw new QuotameshError('NOT_READY', { node: this.#node.nodeId, reason: decision.because });
      }
      return refused(decision, limit);
    }
    const remaining = decision.remaining?.messages ?? Number.POSITIVE_INFINITY;
    return granted(remaining, limit, decision.resetMs?.messages ?? 0);
  }

  /** Charges what cannot be refused. */
  charge(key: string, messages: number): void {
    this.#node.consume(this.groupOf(key), { messages });
  }

  /** What `take` would count, without taking. A key that is used so little that nobody tells of it counts as unused. */
  look(key: string, limit: number): Counted {
    const group = this.groupOf(key);
    const known = this.#explain(group);
    if (known === null) return granted(Number.POSITIVE_INFINITY, limit, 0);
    const { local, inForce } = known.directions.publish;
    const tokens = local.tokens.messages;
    if (tokens === null || inForce.messagesPerSecond === null) return granted(Number.POSITIVE_INFINITY, limit, 0);
    const remaining = Math.max(0, Math.floor(tokens));
    if (remaining === 0) {
      return { granted: false, hits: limit, remaining: 0, msLeft: this.#node.throttleDurationMs(group) };
    }
    const perSecond = inForce.messagesPerSecond ?? 0;
    const missing = Math.max(0, limit - tokens);
    return granted(remaining, limit, perSecond === 0 ? 0 : Math.ceil((missing * 1000) / perSecond));
  }

  #explain(group: string) {
    try {
      return this.#node.explain(group);
    } catch (error) {
      if (error instanceof QuotameshError && error.code === 'KEY_SILENT') return null;
      throw error;
    }
  }

  groupOf(key: string): string {
    const group = this.#group;
    return typeof group === 'function' ? group(key) : (group ?? key);
  }
}

function granted(remaining: number, limit: number, msLeft: number): Counted {
  const left = Math.max(0, Math.min(limit - 1, remaining));
  return { granted: true, hits: Math.max(1, limit - left), remaining: left, msLeft };
}

function refused({ retryAfterMs }: Refused, limit: number): Counted {
  return { granted: false, hits: limit + 1, remaining: 0, msLeft: retryAfterMs };
}

/** A bucket of the cluster is filled by time alone, so nothing is given back, set or forgotten by hand. */
export function rejectCall(store: string, call: string): never {
  throw new QuotameshError('STORE_CALL_UNSUPPORTED', { store, call });
}
