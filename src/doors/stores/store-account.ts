import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { AcquireOptions, KeyLimit, Refused } from '../../node/api/decision.js';
import type { QuotaNode } from '../../node/api/quota-node.js';

export interface StoreOptions {
  /** Group of a library's key, or one for all; default: the key itself. ``(key) => `key:${key}` `` */
  readonly group?: string | ((key: string) => string);
  /** Quota of a key, where its template has `allowLimits`; undefined = the template's. */
  readonly limit?: KeyLimit | ((key: string) => KeyLimit | undefined);
}

/** Hits of a window as libraries count them, and its length. */
export interface Counted {
  readonly granted: boolean;
  /** Hits, 1 to `limit` where granted, above `limit` where not. */
  readonly hits: number;
  readonly remaining: number;
  /** Milliseconds until the bucket is full, or a retry worth it; 0 = unknown. */
  readonly msLeft: number;
}

/** Hits before anything is taken. */
interface Looked extends Counted {
  /** True = the bucket is full, as far as this node knows. */
  readonly isFull: boolean;
}

/** Does the work of all stores on one node. Hits are what a bucket's quota lacks. */
export class StoreAccount {
  readonly #node: QuotaNode;
  readonly #group: StoreOptions['group'];
  readonly #limit: StoreOptions['limit'];

  constructor(node: QuotaNode, { group, limit }: StoreOptions) {
    this.#node = node;
    this.#group = group;
    this.#limit = limit;
  }

  /** Takes messages. @param limit most hits of a window by the library */
  take(key: string, messages: number, limit: number): Counted {
    const own = typeof this.#limit === 'function' ? this.#limit(key) : this.#limit;
    const options = own === undefined ? TELLING : { ...TELLING, limit: own };
    const decision = this.#node.tryAcquire(this.groupOf(key), { messages }, options);
    if (!decision.granted) {
      if (decision.reason === 'not-ready') {
        throw new QuotameshError('NOT_READY', { node: this.#node.nodeId, reason: decision.because });
      }
      return refused(decision, limit);
    }
    const remaining = decision.remaining?.messages ?? Infinity;
    return granted(remaining, limit, decision.resetMs?.messages ?? 0);
  }

  /** Charges messages that cannot be refused. */
  charge(key: string, messages: number): void {
    this.#node.consume(this.groupOf(key), { messages });
  }

  /** Returns what `take` would count, without taking. */
  look(key: string, limit: number): Looked {
    const group = this.groupOf(key);
    const { remaining, msLeft } = this.#left(group);
    if (remaining === 0) {
      return { granted: false, hits: limit, remaining, msLeft: this.#node.throttleDurationMs(group), isFull: false };
    }
    return { ...granted(remaining, limit, msLeft ?? 0), isFull: msLeft === 0 };
  }

  /** Returns messages left; full without a quota, and for a silent key unused here. */
  #left(group: string): { readonly remaining: number; readonly msLeft: number | null } {
    const local = this.#explain(group)?.directions.publish.local;
    if (local !== undefined) return left(local.remaining.messages, local.resetMs.messages);
    const { used, remaining } = this.#node.keys.show(group);
    return left(used ? (remaining?.publish.messages ?? null) : null, null);
  }

  /** Explains a group; null = a silent key. Computes nothing for a group unused here. */
  #explain(group: string) {
    try {
      const known = this.#node.explain(group);
      if (known.directions.publish.local.served) return known;
    } catch (error) {
      if (!(error instanceof QuotameshError && error.code === 'KEY_SILENT')) throw error;
      if (this.#node.keys.show(group).silent) return null;
    }
    this.#node.containsTokens(group, { messages: 1 });
    return this.#node.explain(group);
  }

  groupOf(key: string): string {
    const group = this.#group;
    return typeof group === 'function' ? group(key) : (group ?? key);
  }
}

const TELLING: AcquireOptions = Object.freeze({ tell: true });

function left(remaining: number | null, msLeft: number | null) {
  return remaining === null ? { remaining: Infinity, msLeft: 0 } : { remaining, msLeft };
}

function granted(remaining: number, limit: number, msLeft: number): Counted {
  const left = Math.max(0, Math.min(limit - 1, remaining));
  return { granted: true, hits: Math.max(1, limit - left), remaining: left, msLeft };
}

function refused({ retryAfterMs }: Refused, limit: number): Counted {
  return { granted: false, hits: limit + 1, remaining: 0, msLeft: retryAfterMs };
}

/** Rejects giving back, setting and forgetting: time alone fills a bucket of the cluster. */
export function rejectCall(store: string, call: string): never {
  throw new QuotameshError('STORE_CALL_UNSUPPORTED', { store, call });
}
