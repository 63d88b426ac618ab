import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { GroupConfig } from '../../config/resolved/resolved-config.js';
import { invariant } from '../../core/base/invariant.js';
import { DIRECTION_COUNT, type GroupId, UNLIMITED } from '../../core/base/vocabulary.js';

/**
 * Keeps the groups in force by number: YAML's, then those of run time as they came. A number stays with its name, so
 * that a group made again has its debt.
 */
export class GroupTable {
  /** Rises with every change, for whoever keeps parts of a group. */
  version = 0;
  /** Name → number, of existing groups. */
  readonly numbers: ReadonlyMap<string, number>;
  readonly #live = new Map<string, number>();
  readonly #all = new Map<string, number>();
  readonly #list: GroupConfig[] = [];
  /** Numbers of keys (groups/keys): in use by name, but not listed. */
  readonly #keys = new Set<number>();
  /** Group's number → its plan's, which is not listed either. */
  readonly #shadows = new Map<number, number>();
  /** Shadow's number, in use or not → its group's. */
  readonly #shadowed = new Map<number, number>();
  #unlimited: number | null = null;

  /** Id → the name that has it. */
  readonly #byId = new Map<GroupId, string>();
  readonly #ids: GroupId[] = [];
  readonly #idOf: (name: string) => GroupId;

  /** @param idOf makes the id by which the log knows a name. Throws ID_COLLISION if two names have the same. */
  constructor(configured: readonly GroupConfig[], idOf: (name: string) => GroupId) {
    this.#idOf = idOf;
    this.numbers = this.#live;
    for (const group of configured) this.#set(group);
    for (const group of configured) this.#setShadow(group);
    for (const group of configured) this.#standInFor(group);
  }

  get size(): number {
    return this.#list.length;
  }

  at(group: number): GroupConfig {
    const found = this.#list[group];
    invariant(found !== undefined, 'a group has a number of the table', { group });
    return found;
  }

  ofLane(lane: number): GroupConfig {
    return this.at(Math.floor(lane / DIRECTION_COUNT));
  }

  idOf(group: number): GroupId {
    const id = this.#ids[group];
    invariant(id !== undefined, 'a group of the log has an id', { group });
    return id;
  }

  isLive(group: number): boolean {
    return this.#keys.has(group) || this.isGroup(group) || this.#isShadow(group);
  }

  /** Returns the number of a group's plan; null = none. */
  shadowOf(group: number): number | null {
    return this.#shadows.get(group) ?? null;
  }

  /** Number of a group without limits, in force in place of `mode: shadow`; null = none yet. */
  get unlimited(): number | null {
    return this.#unlimited;
  }

  /** Tests if a number is a shadow's or a stand-in's: no work is its own. */
  isStandIn(group: number): boolean {
    return group === this.#unlimited || this.#shadowed.has(group);
  }

  isKey(group: number): boolean {
    return this.#keys.has(group);
  }

  /** Tests if a number is a listed group's: no key, not deleted. */
  isGroup(group: number): boolean {
    return this.#live.get(this.at(group).name) === group;
  }

  /** Numbers that no bound on groups counts: of keys and shadows. */
  get unlistedCount(): number {
    return this.#keys.size + this.#shadowed.size + (this.#unlimited === null ? 0 : 1);
  }

  has(name: string): boolean {
    return this.#all.has(name);
  }

  /** Groups by number, deleted ones as they were last. */
  get list(): readonly GroupConfig[] {
    return this.#list;
  }

  /** Defines a group; returns its number. */
  define(config: GroupConfig): number {
    const group = this.#set(config);
    this.#setShadow(config);
    this.#standInFor(config);
    return group;
  }

  /** Finds another name with the same id; null = none. */
  collisionOf(name: string): string | null {
    if (this.#all.has(name)) return null;
    return this.#byId.get(this.#idOf(name)) ?? null;
  }

  /** Rejects a name whose id another has. Throws ID_COLLISION. */
  refuseCollision(name: string): void {
    const other = this.collisionOf(name);
    if (other !== null) throw collision(name, other);
  }

  #numberOf(name: string): number {
    const known = this.#all.get(name);
    if (known !== undefined) return known;
    const number = this.#list.length;
    this.#give(number, name);
    return number;
  }

  /** Gives a number to a name. @param instead the name that gives it up */
  #give(number: number, name: string, instead: string | null = null): void {
    const id = this.#idOf(name);
    const other = this.#byId.get(id) ?? name;
    if (other !== name && other !== instead) throw collision(name, other);
    if (instead !== null) {
      this.#all.delete(instead);
      this.#byId.delete(this.idOf(number));
    }
    this.#all.set(name, number);
    this.#byId.set(id, name);
    this.#ids[number] = id;
  }

  #set(config: GroupConfig): number {
    const group = this.#numberOf(config.name);
    this.#list[group] = config;
    this.#live.set(config.name, group);
    this.#keys.delete(group);
    this.version++;
    return group;
  }

  #setShadow({ name, shadow }: GroupConfig): void {
    const group = this.#all.get(name) as number;
    if (shadow === null) {
      this.#shadows.delete(group);
      return;
    }
    const number = this.#numberOf(shadow.name);
    this.#list[number] = shadow;
    this.#shadows.set(group, number);
    this.#shadowed.set(number, group);
    this.version++;
  }

  #isShadow(group: number): boolean {
    const of = this.#shadowed.get(group);
    return of !== undefined && this.#shadows.get(of) === group;
  }

  #standInFor(group: GroupConfig): void {
    if (group.mode !== 'shadow' || this.#unlimited !== null) return;
    this.#unlimited = this.#list.length;
    this.#list.push(unlimitedLike(group));
    this.version++;
  }

  defineKey(config: GroupConfig): number {
    const group = this.#numberOf(config.name);
    // Nobody keeps anything of a new key.
    if (group < this.#list.length) this.version++;
    this.#list[group] = config;
    this.#keys.add(group);
    this.#standInFor(config);
    return group;
  }

  /** Gives a key's number to another key. */
  renameKey(group: number, config: GroupConfig): void {
    invariant(!this.isGroup(group), 'numbers of groups are not given away', { group });
    this.#give(group, config.name, this.at(group).name);
    this.#keys.add(group);
    this.#list[group] = config;
    this.#standInFor(config);
    this.version++;
  }

  removeKey(group: number): void {
    this.#keys.delete(group);
  }

  remove(name: string): void {
    const group = this.#live.get(name);
    if (group === undefined) return;
    this.#live.delete(name);
    this.#shadows.delete(group);
    this.version++;
  }
}

function collision(first: string, second: string): QuotameshError {
  return new QuotameshError('ID_COLLISION', { first, second });
}

function unlimitedLike(group: GroupConfig): GroupConfig {
  const none = { publish: UNLIMITED, dispatch: UNLIMITED };
  return {
    ...group,
    name: '(not enforced)',
    enabled: false,
    mode: 'enforce',
    shadow: null,
    quota: none,
    cost: { publish: NO_COST, dispatch: NO_COST },
    ramp: null,
    limiter: 'bucket',
    topics: 'shared',
    perTopic: { ...none, max: group.perTopic.max },
    perClient: { ...none, max: group.perClient.max },
  };
}

const NO_COST = { total: Infinity, reserved: 0 };
