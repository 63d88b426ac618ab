import { DIMENSIONS, DIRECTION_COUNT, DIRECTIONS, type Dimension, slotOf } from '../../core/vocabulary.js';
import { QuotameshError } from '../../errors.js';
import type { QuotaNode } from '../../runtime/quota-node.js';
import { problemOf, QUOTA_EXCEEDED_TYPE } from './problem.js';
import type { RateLimitFields } from './rate-limit-fields.js';

/**
 * What a refused client is told. Under overload most answers are refusals, so all that is the same for every refusal of a
 * slot is written once: an error object and JSON.stringify per refusal made them two and a half times as expensive as grants.
 */
export class RefusalAnswers {
  readonly fields: RateLimitFields;
  readonly #node: QuotaNode;
  /** Per slot: the body up to the number that ends it. */
  readonly #heads: string[] = [];

  constructor(node: QuotaNode, fields: RateLimitFields) {
    this.#node = node;
    this.fields = fields;
  }

  body(lane: number, dimension: Dimension, retryAfterMs: number): string {
    const slot = slotOf(lane, DIMENSIONS.indexOf(dimension));
    this.#heads[slot] ??= this.#headOf(lane, dimension);
    return `${this.#heads[slot]}${retryAfterMs}}`;
  }

  #headOf(lane: number, dimension: Dimension): string {
    const group = this.#node.config.groups[Math.floor(lane / DIRECTION_COUNT)]?.name ?? '';
    const facts = { group, direction: DIRECTIONS[lane % DIRECTION_COUNT] as string, dimension };
    const problem = {
      ...problemOf(new QuotameshError('QUOTA_EXCEEDED', facts), QUOTA_EXCEEDED_TYPE),
      'violated-policies': [this.fields.nameOf(lane, dimension)],
      ...facts,
      level: 'group',
    };
    return `${JSON.stringify(problem).slice(0, -1)},"retryAfterMs":`;
  }
}
