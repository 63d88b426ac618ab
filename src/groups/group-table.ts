import type { GroupConfig } from '../config/resolved/resolved-config.js';
import { invariant } from '../core/base/invariant.js';
import { DIRECTION_COUNT } from '../core/base/vocabulary.js';

/**
 * The groups in force at this node, by number: those of YAML, then those that came at run time, in the order in which
 * they came. A number stays with its name, so that a group that is deleted and made again has the debt that it had.
 */
export class GroupTable {
  /** Rises with every change; whoever keeps something made from a group looks here. */
  version = 0;
  /** Name → number, of the groups that there are. */
  readonly numbers: ReadonlyMap<string, number>;
  readonly #live = new Map<string, number>();
  readonly #all = new Map<string, number>();
  readonly #list: GroupConfig[] = [];
  /** Numbers of keys (groups/keys): in use by name, but in no list of groups. */
  readonly #keys = new Set<number>();

  constructor(configured: readonly GroupConfig[]) {
    this.numbers = this.#live;
    for (const group of configured) this.define(group);
  }

  /** Numbers that were given, to deleted groups too. */
  get size(): number {
    return this.#list.length;
  }

  /** The group as it is now; one that was removed, as it was last. */
  at(group: number): GroupConfig {
    const found = this.#list[group];
    invariant(found !== undefined, 'a group has a number of the table', { group });
    return found;
  }

  ofLane(lane: number): GroupConfig {
    return this.at(Math.floor(lane / DIRECTION_COUNT));
  }

  isLive(group: number): boolean {
    return this.#keys.has(group) || this.isGroup(group);
  }

  /** Whether it is the number of a group that is listed: of no key, and not deleted. */
  isGroup(group: number): boolean {
    return this.#live.get(this.at(group).name) === group;
  }

  /** Numbers that were given to keys. */
  get keyCount(): number {
    return this.#keys.size;
  }

  has(name: string): boolean {
    return this.#all.has(name);
  }

  /** By number, deleted ones as they were last. */
  get list(): readonly GroupConfig[] {
    return this.#list;
  }

  /** Returns the number. */
  define(config: GroupConfig): number {
    const group = this.#all.get(config.name) ?? this.#list.length;
    this.#list[group] = config;
    this.#all.set(config.name, group);
    this.#live.set(config.name, group);
    this.#keys.delete(group);
    this.version++;
    return group;
  }

  /** As `define`, for a key: a group that is not listed. */
  defineKey(config: GroupConfig): number {
    const group = this.#all.get(config.name) ?? this.#list.length;
    // Nobody can have kept anything made from a key that is new.
    if (group < this.#list.length) this.version++;
    this.#list[group] = config;
    this.#all.set(config.name, group);
    this.#keys.add(group);
    return group;
  }

  /** Gives the number of a key to another one. */
  renameKey(group: number, config: GroupConfig): void {
    invariant(!this.isGroup(group), 'numbers of groups are not given away', { group });
    this.#all.delete(this.at(group).name);
    this.#all.set(config.name, group);
    this.#keys.add(group);
    this.#list[group] = config;
    this.version++;
  }

  removeKey(group: number): void {
    this.#keys.delete(group);
  }

  /** Returns the number that the group had, or null where there was none. */
  remove(name: string): number | null {
    const group = this.#live.get(name);
    if (group === undefined) return null;
    this.#live.delete(name);
    this.version++;
    return group;
  }
}
