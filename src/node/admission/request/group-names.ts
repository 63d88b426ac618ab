import type { Clock } from '../../../base/ports/clock.js';
import { OneBucket } from '../../../core/limiter/one-bucket.js';
import type { GroupTable } from '../../groups/group-table.js';
import { groupUnknown } from './request-checks.js';

/** Finds a group's number by its name. */
export class GroupNames {
  readonly defaultGroup: string | null;
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #clock: Clock;
  readonly #hints: OneBucket;
  readonly #keys: KeyGroups | null;

  constructor(groups: GroupTable, defaultGroup: string | null, clock: Clock, keys: KeyGroups | null) {
    this.#keys = keys;
    this.#numbers = groups.numbers;
    this.defaultGroup = defaultGroup;
    this.#clock = clock;
    this.#hints = new OneBucket(HINTS_PER_SECOND, HINTS_PER_SECOND, clock());
  }

  /** Returns the number of a group, a key's, or the default. Throws GROUP_UNKNOWN naming similar ones. */
  indexOf(group: string): number {
    const index = this.#numbers.get(group);
    if (index !== undefined) return index;
    const key = this.#keys?.groupOf(group) ?? null;
    if (key !== null) return key;
    // The default group takes unknown names alone: numbers and symbols are mistakes.
    if (this.defaultGroup !== null && typeof group === 'string') return this.#numbers.get(this.defaultGroup) as number;
    return this.unknown(group);
  }

  /** Names similar groups, at most HINTS_PER_SECOND times: each look goes through all groups. */
  unknown(group: string): never {
    throw groupUnknown(group, this.#hints.take(this.#clock()) === 0 ? this.#numbers.keys() : []);
  }
}

interface KeyGroups {
  /** Returns the number; null = no name of a key. */
  groupOf(name: string): number | null;
}

/** Looks per second; with 10,000 groups a few ms of CPU. */
const HINTS_PER_SECOND = 10;
