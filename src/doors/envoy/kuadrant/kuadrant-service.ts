import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Clock } from '../../../base/ports/clock.js';
import type { LimitsConfig } from '../../../config/resolved/resolved-config.js';
import type { Gate } from '../../../node/admission/gate.js';
import { envoy, type google, kuadrant } from '../generated/messages.js';
import { decoded } from '../grpc/decoded.js';
import type { GrpcMethod } from '../grpc/grpc-method.js';
import { heldHits, notReadyError } from '../ratelimit/held-hits.js';
import type { DescriptorRules } from '../rules/descriptor-rules.js';
import { type HeldAmount, HeldAmounts } from './held-amounts.js';

const { RateLimitRequest, RateLimitResponse } = envoy.service.ratelimit.v3;
const { ReserveRequest, ReserveResponse, CommitRequest, CommitResponse } = kuadrant.service.ratelimit.v1;
const { OK, OVER_LIMIT, UNKNOWN } = RateLimitResponse.Code;

type Descriptors = readonly envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.$Properties[];

interface KuadrantParts {
  readonly rules: DescriptorRules;
  readonly gate: Pick<Gate, 'reserve' | 'consume' | 'hold' | 'charge' | 'budgetUnitOf' | 'usualWaitMs'>;
  readonly clock: Clock;
  readonly limits: Pick<LimitsConfig, 'maxReservations' | 'reservationMs'>;
  readonly nodeId: string;
}

/**
 * Decides before work whose amount is known afterwards: tokens of language models. A reservation holds its amount in
 * every bucket of the request or in none; a commit charges what the work has cost, and gives back the rest.
 */
export class KuadrantService {
  readonly held: HeldAmounts;
  readonly methods: readonly GrpcMethod[];
  readonly #parts: KuadrantParts;

  constructor(parts: KuadrantParts) {
    this.#parts = parts;
    this.held = new HeldAmounts(parts.clock, parts.limits.maxReservations);
    const method = (
      name: string,
      needs: 'traffic' | 'consume',
      answer: (request: Uint8Array) => Promise<Uint8Array>,
    ) => {
      const path = `/${KUADRANT_SERVICE}/${name}`;
      return { kind: 'unary', path, needs, maxRequestBytes: REQUEST_BYTES_MAX, answer } as const;
    };
    this.methods = [
      method('CheckRateLimit', 'traffic', (bytes) => this.#check(decoded(RateLimitRequest, bytes))),
      method('Report', 'consume', (bytes) => this.#report(decoded(RateLimitRequest, bytes))),
      method('Reserve', 'traffic', (bytes) => this.#reserve(decoded(ReserveRequest, bytes))),
      method('Commit', 'consume', (bytes) => this.#commit(decoded(CommitRequest, bytes))),
    ];
  }

  close(): void {
    this.held.close();
  }

  /** Tests if one more unit would be granted everywhere; takes none. */
  async #check({ domain, descriptors }: envoy.service.ratelimit.v3.RateLimitRequest): Promise<Uint8Array> {
    if (domain === '') return answered(UNKNOWN);
    const holds = await this.#holdAll(this.#bucketsOf(domain, descriptors), 1);
    if (holds !== null) cancelAll(holds);
    return answered(holds === null ? OVER_LIMIT : OK);
  }

  /** Charges what is done, whatever there is. An addend of 0 is one hit. */
  async #report({ domain, descriptors, hitsAddend }: envoy.service.ratelimit.v3.RateLimitRequest): Promise<Uint8Array> {
    if (domain === '') return answered(UNKNOWN);
    await this.#charge(this.#bucketsOf(domain, descriptors), hitsAddend || 1);
    return answered(OK);
  }

  async #reserve({
    domain,
    descriptors,
    amount,
    ttl,
  }: kuadrant.service.ratelimit.v1.ReserveRequest): Promise<Uint8Array> {
    this.held.checkRoom();
    const messages = Number(amount);
    const holds = await this.#holdAll(this.#bucketsOf(domain, descriptors), Math.max(1, messages));
    if (holds === null) return ReserveResponse.encode({ code: OVER_LIMIT }).finish();
    // Nothing is to be held, and what was looked at comes back.
    if (messages === 0) cancelAll(holds);
    const kept = messages === 0 ? NO_HOLDS : holds;
    const reservationId = this.held.keep(kept, Math.min(this.#parts.limits.reservationMs, millisecondsOf(ttl)));
    return ReserveResponse.encode({ code: OK, reservationId }).finish();
  }

  /** Charges the real amount: where it is held, and elsewhere as a report. */
  async #commit(request: kuadrant.service.ratelimit.v1.CommitRequest): Promise<Uint8Array> {
    const { domain, descriptors, reservationId, actualAmount } = request;
    const messages = Number(actualAmount);
    const holds = this.held.take(reservationId);
    const missing = new Map(this.#bucketsOf(domain, descriptors).map((bucket) => [bucket, messages]));
    // Holds end before anything is charged, which may throw.
    for (const [bucket, hold] of holds ?? NO_HOLDS) missing.set(bucket, this.#settle(bucket, hold, messages));
    for (const [bucket, amount] of missing) await this.#charge([bucket], amount);
    return CommitResponse.encode({ reservationReleased: holds !== null }).finish();
  }

  /**
   * Commits the real amount. Returns what is to be charged beside: of a budget what was not held; all where it is above
   * what one request may have, and the hold comes back.
   */
  #settle(bucket: string, { amount, held }: HeldAmount, spent: number): number {
    const most = this.#parts.gate.budgetUnitOf(bucket) === null ? spent : Math.min(amount, spent);
    try {
      held.commit(most);
      return spent - most;
    } catch (error) {
      if (!(error instanceof QuotameshError) || error.code !== 'COMMIT_ABOVE_MAX_REQUEST') throw error;
      held.cancel();
      return spent;
    }
  }

  /** Charges what is spent; what a budget lacks cannot be. Throws NOT_READY. */
  async #charge(buckets: readonly string[], amount: number): Promise<void> {
    if (amount === 0) return;
    const { gate, nodeId } = this.#parts;
    for (const bucket of buckets) {
      if (gate.budgetUnitOf(bucket) === null) gate.consume(bucket, { messages: amount });
      else {
        const end = await gate.charge(bucket, amount);
        if (typeof end === 'object') throw notReadyError(nodeId, end);
      }
    }
  }

  /** Holds an amount in all buckets; null = one has refused it, and none holds any. */
  async #holdAll(buckets: readonly string[], amount: number): Promise<ReadonlyMap<string, HeldAmount> | null> {
    const holds = new Map<string, HeldAmount>();
    try {
      for (const bucket of buckets) {
        const hold = await this.#hold(bucket, amount);
        if (hold === null) {
          cancelAll(holds);
          return null;
        }
        holds.set(bucket, hold);
      }
    } catch (error) {
      cancelAll(holds);
      throw error;
    }
    return holds;
  }

  /** Holds an amount, null = refused; of one that no request may have, half of the most. Throws NOT_READY. */
  async #hold(bucket: string, amount: number): Promise<HeldAmount | null> {
    const { gate, nodeId } = this.#parts;
    try {
      const hasBudget = gate.budgetUnitOf(bucket) !== null;
      const answer = hasBudget
        ? await gate.hold(bucket, amount, gate.usualWaitMs(bucket))
        : gate.reserve(bucket, { messages: amount });
      if (!answer.granted) {
        if (answer.reason === 'not-ready') throw notReadyError(nodeId, answer);
        return null;
      }
      return { amount, held: heldHits(answer) };
    } catch (error) {
      if (!(error instanceof QuotameshError) || error.code !== 'AMOUNT_ABOVE_MAX_REQUEST') throw error;
      const most = Math.floor(Number(error.facts.max) / 2);
      if (most < 1 || most >= amount) throw error;
      return this.#hold(bucket, most);
    }
  }

  /** Lists the buckets of all descriptors that something limits, each once. */
  #bucketsOf(domain: string, descriptors: Descriptors): readonly string[] {
    const { rules } = this.#parts;
    const found = descriptors.flatMap(({ entries }) => {
      const pairs = (entries ?? []).map(({ key, value }) => ({ key: key ?? '', value: value ?? '' }));
      const rule = rules.find(domain, pairs);
      return rule === null || rule.isUnlimited ? [] : [{ rule, bucket: rule.bucketOf(domain, pairs) }];
    });
    const replaced = new Set(found.flatMap(({ rule }) => rule.replaces));
    const counting = found.filter(({ rule }) => rule.label === '' || !replaced.has(rule.label));
    return [...new Set(counting.map(({ bucket }) => bucket))];
  }
}

export const KUADRANT_SERVICE = 'kuadrant.service.ratelimit.v1.RateLimitService';

/** Bytes of a request: a descriptor of three entries has about 100. */
const REQUEST_BYTES_MAX = 64 * 1024;

const NO_HOLDS: ReadonlyMap<string, HeldAmount> = new Map();

function answered(overallCode: envoy.service.ratelimit.v3.RateLimitResponse.Code): Uint8Array {
  return RateLimitResponse.encode({ overallCode }).finish();
}

function cancelAll(holds: ReadonlyMap<string, HeldAmount>): void {
  for (const { held } of holds.values()) held.cancel();
}

/** Without a time to live, that of the node counts. */
function millisecondsOf(ttl: google.protobuf.Duration.$Properties | null | undefined): number {
  if (ttl == null) return Infinity;
  return Math.max(0, Number(ttl.seconds ?? 0) * 1000 + (ttl.nanos ?? 0) / 1e6);
}
