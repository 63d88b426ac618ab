import { hasRole } from '../../../base/access/caller.js';
import type { KeyLimit } from '../../../node/api/decision.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { envoy } from '../generated/messages.js';
import type { CallFacts } from '../grpc/grpc-method.js';

const { RateLimitUnit } = envoy.type.v3;

type Override = envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.RateLimitOverride.$Properties;

/** Reads limits that come with requests. Those that no template allows are left out, and counted. */
export class OverrideReader {
  /** Limits that were not allowed, or say no rate. */
  refused = 0;
  readonly #keys: NodeParts['keys'];
  /** Rate as text → limit: few different ones are in use. */
  readonly #limits = new Map<string, KeyLimit>();

  constructor(keys: NodeParts['keys']) {
    this.#keys = keys;
  }

  /** Tests if a key may be given limits. */
  areAllowed(bucket: string): boolean {
    return (this.#keys?.roleForLimits(bucket) ?? null) !== null;
  }

  /** Returns the limit of a key; undefined = none, or it is refused, and the rule's own holds. */
  read(bucket: string, override: Override | null | undefined, { caller }: CallFacts): KeyLimit | undefined {
    if (override == null) return undefined;
    const unit = UNITS[override.unit ?? 0];
    const role = this.#keys?.roleForLimits(bucket) ?? null;
    if (unit === undefined || role === null || (caller !== null && !hasRole(caller, role))) {
      this.refused++;
      return undefined;
    }
    const rate = `${override.requestsPerUnit ?? 0}/${unit}`;
    const known = this.#limits.get(rate);
    if (known !== undefined) return known;
    if (this.#limits.size >= LIMITS_MAX) this.#limits.clear();
    const limit = { publish: { messagesPerSecond: rate } };
    this.#limits.set(rate, limit);
    return limit;
  }
}

const UNITS: Readonly<Record<number, string>> = {
  [RateLimitUnit.SECOND]: 's',
  [RateLimitUnit.MINUTE]: 'min',
  [RateLimitUnit.HOUR]: 'h',
  [RateLimitUnit.DAY]: 'd',
  [RateLimitUnit.WEEK]: 'week',
  [RateLimitUnit.MONTH]: 'month',
  [RateLimitUnit.YEAR]: 'year',
};
const LIMITS_MAX = 1000;
