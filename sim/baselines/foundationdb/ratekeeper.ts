import { type BaselineEnvironment, type Quota, rateOf } from '../baseline.js';
import type { MessageBus } from '../message-bus.js';
import { TagRates } from './tag-rates.js';

export type RateMessage = Usage | Limit;

/** Counts what a node started since its last request. */
export interface Usage {
  readonly kind: 'usage';
  readonly transactions: number;
  readonly cost: readonly [number, number];
}

export interface Limit {
  readonly kind: 'limit';
  /** Transactions/s; Infinity = no limit is published. */
  readonly perSecond: number;
  /** Limit in messages and bytes, for display; Infinity = no quota. */
  readonly units: readonly [number, number];
}

export type HandOut = 'client' | 'proxy';

export const RATEKEEPER = 'ratekeeper';
/** Milliseconds between requests and rates; quotas are read every 5 s. */
export const PUSH_MS = 1000;
const QUOTA_READ_MS = 5000;
/** Milliseconds until a silent proxy no longer counts. The sources name none; a short one favours FoundationDB. */
const PROXY_GONE_MS = 2 * PUSH_MS;
/** Bytes: envelope about 40, tag 16, rate, expiry and sequence 8 each. */
const LIMIT_BYTES = 40 + 16 + 3 * 8;

/**
 * Counts all starts, and answers each node with its limit; never fails here. Takes costs once a second from nodes, not
 * each 5 s from storage servers, in FoundationDB's favour.
 */
export class Ratekeeper {
  readonly #environment: BaselineEnvironment;
  readonly #bus: MessageBus<RateMessage>;
  readonly #handOut: HandOut;
  readonly #rates = new TagRates();
  readonly #askedMs = new Map<string, number>();
  readonly #costSinceTick: [number, number] = [0, 0];
  #configured: Quota;
  /** Quotas as last read from the database. */
  #quotas: readonly [number, number];
  #limit = Infinity;

  constructor(environment: BaselineEnvironment, bus: MessageBus<RateMessage>, handOut: HandOut) {
    this.#environment = environment;
    this.#bus = bus;
    this.#handOut = handOut;
    this.#configured = environment.quota;
    this.#quotas = quotasOf(environment.quota);
    bus.attach(RATEKEEPER, (message, from) => {
      if (message.kind === 'usage') this.#answer(message, from);
    });
    this.#every(PUSH_MS, () => this.#tick());
    this.#every(QUOTA_READ_MS, () => {
      this.#quotas = quotasOf(this.#configured);
    });
  }

  /** Writes the quota; it is in force once it is read next. */
  setQuota(quota: Quota): void {
    this.#configured = quota;
  }

  #answer({ transactions, cost }: Usage, from: string): void {
    this.#rates.addTransactions(transactions, this.#nowSec);
    this.#costSinceTick[0] += cost[0];
    this.#costSinceTick[1] += cost[1];
    this.#askedMs.set(from, this.#environment.queue.nowMs);
    const limit = { kind: 'limit', perSecond: this.#limit, units: [this.#unitsOf(0), this.#unitsOf(1)] } as const;
    this.#bus.send(RATEKEEPER, from, limit, LIMIT_BYTES);
  }

  #unitsOf(dimension: 0 | 1): number {
    if (this.#quotas[dimension] === Infinity) return Infinity;
    return this.#limit * this.#rates.averageCost(dimension, this.#nowSec);
  }

  #tick(): void {
    const nowSec = this.#nowSec;
    const intervalSec = PUSH_MS / 1000;
    this.#rates.setCostRates([this.#costSinceTick[0] / intervalSec, this.#costSinceTick[1] / intervalSec], nowSec);
    this.#costSinceTick.fill(0);
    this.#limit =
      this.#handOut === 'client'
        ? this.#rates.clientLimit(this.#quotas, nowSec)
        : this.#rates.proxyLimit(this.#quotas, Math.max(1, this.#countProxies()), nowSec);
  }

  #countProxies(): number {
    const sinceMs = this.#environment.queue.nowMs - PROXY_GONE_MS;
    for (const [node, askedMs] of this.#askedMs) if (askedMs < sinceMs) this.#askedMs.delete(node);
    return this.#askedMs.size;
  }

  #every(periodMs: number, run: () => void): void {
    const { queue, random } = this.#environment;
    const tick = () => {
      queue.after(periodMs, tick);
      run();
    };
    queue.after(random.between(0, periodMs), tick);
  }

  get #nowSec(): number {
    return this.#environment.queue.nowMs / 1000;
  }
}

function quotasOf(quota: Quota): readonly [number, number] {
  return [rateOf(quota, 0), rateOf(quota, 1)];
}
