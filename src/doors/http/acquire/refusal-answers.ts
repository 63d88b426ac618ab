import { DIMENSIONS, DIRECTION_COUNT, type Dimension, directionOfLane, slotOf } from '../../../core/base/vocabulary.js';
import { LEVELS, type Level } from '../../../core/limiter/levels.js';
import type { Refused } from '../../../node/api/decision.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import type { RateLimitFields } from './rate-limit-fields.js';
import { quotaProblem } from './refusal-problems.js';

type UsedParts = Pick<NodeParts, 'groups'>;

/**
 * Writes refusals; the parts that are the same per slot and level are made once. *Why:* under overload most answers are
 * refusals; an object and JSON.stringify for each cost 2.5 grants.
 */
export class RefusalAnswers {
  readonly fields: RateLimitFields;
  readonly #node: UsedParts;
  #heads: string[] = [];
  #version = -1;

  constructor(node: UsedParts, fields: RateLimitFields) {
    this.#node = node;
    this.fields = fields;
  }

  body(lane: number, { level, dimension, retryAfterMs, shadow }: Refused): string {
    if (this.#version !== this.#node.groups.version) this.#forget();
    const at = slotOf(lane, DIMENSIONS.indexOf(dimension)) * LEVELS.length + LEVELS.indexOf(level);
    this.#heads[at] ??= this.#headOf(lane, level, dimension);
    const planned = shadow === undefined ? '' : `,"shadow":"${shadow}"`;
    return `${this.#heads[at]}${retryAfterMs}${planned}}`;
  }

  #forget(): void {
    this.#heads = [];
    this.#version = this.#node.groups.version;
  }

  #headOf(lane: number, level: Level, dimension: Dimension): string {
    const group = this.#node.groups.at(Math.floor(lane / DIRECTION_COUNT)).name;
    const facts = { group, direction: directionOfLane(lane), dimension };
    const problem = quotaProblem(this.fields.nameOf(lane, dimension, level), facts, level);
    return `${JSON.stringify(problem).slice(0, -1)},"retryAfterMs":`;
  }
}
