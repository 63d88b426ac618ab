import { allowedRequestOf, maxRequestOf } from '../../../config/resolved/max-request.js';
import type { GroupConfig } from '../../../config/resolved/resolved-config.js';
import { strictQuotaOf } from '../../../config/resolved/strict-quota.js';
import { BYTES, DIRECTIONS, type Direction, laneOf, MESSAGES } from '../../../core/base/vocabulary.js';
import { hasLimit } from '../../../core/limiter/level-settings.js';
import type { Levels } from '../../../core/limiter/levels.js';
import type { GroupTable } from '../../groups/group-table.js';
import type { KeptLanes } from '../../strict/strict-lanes.js';

/** Keeps the gate's knowledge of every lane. The arrays grow in place: callers may keep them. */
export class LaneBounds {
  /** Largest request; of a group that refuses nothing, as written, or as without a quota. */
  readonly maxMessages: number[] = [];
  readonly maxBytes: number[] = [];
  readonly enforcedMessages: number[] = [];
  readonly enforcedBytes: number[] = [];
  /** 1 = nothing limits the lane. */
  readonly isOpen: number[] = [];
  /** True = nothing limits the lane, nor may later (cost, ramp): it is not served, published or recorded. */
  readonly isFree: boolean[] = [];
  readonly #groups: GroupTable;
  readonly #levels: Levels;
  readonly #strict: Pick<KeptLanes, 'get'>;

  constructor(groups: GroupTable, levels: Levels, strict: Pick<KeptLanes, 'get'>) {
    this.#strict = strict;
    this.#groups = groups;
    this.#levels = levels;
    for (let group = 0; group < groups.size; group++) this.read(group);
  }

  /** Reads a new or changed group. */
  read(group: number): void {
    const config = this.#groups.at(group);
    for (const [at, direction] of DIRECTIONS.entries()) {
      const lane = laneOf(group, at);
      const enforced = maxRequestOf(config, direction);
      const max = allowedRequestOf(config, direction);
      this.enforcedMessages[lane] = enforced[MESSAGES];
      this.enforcedBytes[lane] = enforced[BYTES];
      this.maxMessages[lane] = max[MESSAGES];
      this.maxBytes[lane] = max[BYTES];
      if (this.#strict.get(lane) !== undefined) this.#readStrict(lane, config, direction);
      else this.isFree[lane] = !hasLimit(config.quota[direction]) && !hasCeiling(config, direction);
      this.isOpen[lane] = hasLimit(config.quota[direction]) || this.#levels.beside[lane] !== 0 ? 0 : 1;
    }
  }

  /** Nobody is granted more than the bucket holds; no share is needed. */
  #readStrict(lane: number, config: GroupConfig, direction: Direction): void {
    const { depth } = strictQuotaOf(config, direction);
    this.enforcedMessages[lane] = Math.min(depth, this.enforcedMessages[lane]);
    this.maxMessages[lane] = Math.min(depth, this.maxMessages[lane]);
    this.isFree[lane] = true;
  }
}

/** Tests if cost or ramp may give a target without a quota. */
function hasCeiling({ cost, ramp }: GroupConfig, direction: Direction): boolean {
  return cost[direction].total !== Infinity || ramp !== null;
}
