import { allowedRequestOf, maxRequestOf } from '../../../config/resolved/max-request.js';
import type { GroupConfig } from '../../../config/resolved/resolved-config.js';
import { BYTES, DIRECTIONS, type Direction, laneOf, MESSAGES } from '../../../core/base/vocabulary.js';
import { hasLimit } from '../../../core/limiter/level-settings.js';
import type { Levels } from '../../../core/limiter/levels.js';
import type { GroupTable } from '../../groups/group-table.js';

/** What the gate knows of every lane without asking the limiter. The arrays grow in place, so callers may keep them. */
export class LaneBounds {
  /** Largest single request; where the group refuses nothing, what was written, or that of a group without a quota. */
  readonly maxMessages: number[] = [];
  readonly maxBytes: number[] = [];
  /** The same as it is, or would be, enforced. */
  readonly enforcedMessages: number[] = [];
  readonly enforcedBytes: number[] = [];
  /** 1 where nothing limits the lane. */
  readonly isOpen: number[] = [];
  /** True where nothing limits the lane, nor may later (cost, ramp): it is not served, reported or recorded. */
  readonly isFree: boolean[] = [];
  readonly #groups: GroupTable;
  readonly #levels: Levels;

  constructor(groups: GroupTable, levels: Levels) {
    this.#groups = groups;
    this.#levels = levels;
    for (let group = 0; group < groups.size; group++) this.read(group);
  }

  /** Reads a group that is new, or whose definition has changed. */
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
      this.isFree[lane] = !hasLimit(config.quota[direction]) && !hasCeiling(config, direction);
      this.isOpen[lane] = hasLimit(config.quota[direction]) || this.#levels.beside[lane] !== 0 ? 0 : 1;
    }
  }
}

/** Whether a direction without a quota may still have a target, through its cost or ramp. */
function hasCeiling({ cost, ramp }: GroupConfig, direction: Direction): boolean {
  return cost[direction].total !== Infinity || ramp !== null;
}
