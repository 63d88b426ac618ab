import type { Clock } from '../../../base/ports/clock.js';
import { OneBucket } from '../../../core/limiter/one-bucket.js';
import type { GroupTable } from '../../groups/group-table.js';
import { groupUnknown } from './request-checks.js';

/** Finds the number of a group by the name that a caller uses. */
export class GroupNames {
  /** The group for names that are not configured; null = such names are refused. */
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

  /** The number of a group, of a key's, or of the default group. Throws GROUP_UNKNOWN naming the near ones. */
  indexOf(group: string): number {
    const index = this.#numbers.get(group);
    if (index !== undefined) return index;
    const key = this.#keys?.groupOf(group) ?? null;
    if (key !== null) return key;
    // Charge unknown names alone to the default group: a number or a symbol is the caller's mistake.
    if (this.defaultGroup !== null && typeof group === 'string') return this.#numbers.get(this.defaultGroup) as number;
    return this.unknown(group);
  }

  /** Names similar groups, but only HINTS_PER_SECOND times a second, because each look goes through all groups. */
  unknown(group: string): never {
    throw groupUnknown(group, this.#hints.take(this.#clock()) === 0 ? this.#numbers.keys() : []);
  }
}

/** Groups that are made by use. */
export interface KeyGroups {
  /** null = it is no name of a key. */
  groupOf(name: string): number | null;
}

/** With 10,000 groups these take a few ms of CPU per second. */
const HINTS_PER_SECOND = 10;
