import { DIMENSIONS, DIRECTIONS, type Dimension, laneOf, slotOf } from '../../core/vocabulary.js';
import type { QuotaNode } from '../../runtime/quota-node.js';

/**
 * The fields RateLimit-Policy and RateLimit of draft-ietf-httpapi-ratelimit-headers-11, one item per configured dimension
 * of a lane, named `orders-publish-messages`. Group names consist of characters that a structured field's string may hold
 * as they are (config/setting.ts, GROUP_NAME), so nothing is escaped.
 */
export class RateLimitFields {
  readonly #node: QuotaNode;
  /** Per slot: the policy's name; empty where there is no quota. */
  readonly #names: string[] = [];
  /** Per lane: the whole field, which never changes while a configuration is in force. */
  readonly #policies: (string | null)[] = [];

  constructor(node: QuotaNode) {
    this.#node = node;
    for (const { name, quota } of node.config.groups) {
      for (const direction of DIRECTIONS) {
        const rates = quota[direction];
        const names = DIMENSIONS.map((dimension, at) =>
          rates[at] === Number.POSITIVE_INFINITY ? '' : `${name}-${direction}-${dimension}`,
        );
        const items = names.flatMap((policy, at) => (policy === '' ? [] : [policyItem(policy, rates[at]!, at)]));
        this.#names.push(...names);
        this.#policies.push(items.length > 0 ? items.join(', ') : null);
      }
    }
  }

  /** q is the quota of the whole cluster: what this node may give of it changes every second and stands in RateLimit. */
  policy(lane: number): string | null {
    return this.#policies[lane] ?? null;
  }

  /**
   * r is what this node would admit now, in whole units. A bucket refills continuously, so there is no window in which
   * a client must make do with r, and `t` is left out; only the item that refused carries one, equal to Retry-After
   * (which must not be earlier than any t).
   */
  current(lane: number, nowMs: number, refused?: { readonly dimension: Dimension; readonly retryAfterS: number }): string {
    const items: string[] = [];
    for (let at = 0; at < DIMENSIONS.length; at++) {
      const name = this.#names[slotOf(lane, at)];
      if (name === '' || name === undefined) continue;
      const remaining = wholeUnits(this.#node.limiter.available(lane, at, nowMs));
      const window = refused?.dimension === DIMENSIONS[at] ? `;t=${refused.retryAfterS}` : '';
      items.push(`"${name}";r=${remaining}${window}`);
    }
    return items.join(', ');
  }

  nameOf(group: number, direction: number, dimension: Dimension): string {
    return this.#names[slotOf(laneOf(group, direction), DIMENSIONS.indexOf(dimension))] ?? '';
  }
}

/** Largest integer of a structured field (RFC 9651 §3.3.1). */
const INTEGER_MAX = 999_999_999_999_999;

function wholeUnits(amount: number): number {
  return Math.min(INTEGER_MAX, Math.floor(amount));
}

/** Quotas below 1 per second are told per longer window: q and w are integers. Never more than is configured. */
function policyItem(name: string, perSecond: number, dimension: number): string {
  const windowS = perSecond > 0 && perSecond < 1 ? Math.min(INTEGER_MAX, Math.ceil(1 / perSecond)) : 1;
  const unit = DIMENSIONS[dimension] === 'bytes' ? ';qu="content-bytes"' : '';
  return `"${name}";q=${wholeUnits(perSecond * windowS)};w=${windowS}${unit}`;
}
