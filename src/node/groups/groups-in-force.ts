import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { withAll } from '../../config/read/build-config.js';
import type { GroupConfig } from '../../config/resolved/resolved-config.js';
import type { CoordinatorEvent } from '../../core/base/protocol/events-and-effects.js';
import { DIRECTION_COUNT, lanesOf } from '../../core/base/vocabulary.js';
import type { Limiter } from '../../core/limiter/limiter.js';
import type { CoordinatorView } from '../../core/machine/coordinator-view.js';
import type { GroupTable } from './group-table.js';

interface GroupsInForceParts {
  readonly groups: GroupTable;
  readonly limiter: Limiter;
  readonly gate: GroupGate;
  /** Begins with the groups in force when the topic is open. */
  readonly loop: Pick<CoordinatorView, 'coordinator'> & { step(event: CoordinatorEvent): void };
}

/** Admission's part in a change of a group. */
interface GroupGate {
  groupChanged(group: number): void;
  /** Tells that the number stands for another name from now on. */
  groupRenamed(group: number): void;
  /** True = the lane needs no share, because nothing limits it. */
  isFree(lane: number): boolean;
  rejectWaiting(lane: number, reason: () => Error): void;
}

/** Puts groups in force everywhere at this node: table, limiter, admission, coordinator. */
export class GroupsInForce {
  /** Divisor of every quota; null = the nodes share it. */
  dividedBy: number | null = null;
  readonly #parts: GroupsInForceParts;
  /** Groups as defined, while they are divided. */
  readonly #whole = new Map<string, GroupConfig>();
  /** True = the stand-in for unenforced groups is known everywhere. */
  #isUnlimitedInForce = false;

  constructor(parts: GroupsInForceParts) {
    this.#parts = parts;
  }

  /** Divides every group by `nodeCount` from now on, whatever others do; null ends it. */
  divide(nodeCount: number | null): void {
    const { groups } = this.#parts;
    const defined = Array.from(groups.numbers, ([name, group]) => this.#whole.get(name) ?? groups.at(group));
    this.#whole.clear();
    this.dividedBy = nodeCount;
    for (const config of defined) this.define(config);
  }

  /** Defines or changes a group, and keeps its tokens and debts. */
  define(config: GroupConfig): void {
    if (this.dividedBy !== null) this.#whole.set(config.name, config);
    const { groups } = this.#parts;
    const inForce = this.#divided(config);
    const before = groups.numbers.get(config.name);
    const shadowBefore = before === undefined ? null : groups.shadowOf(before);
    const group = groups.define(inForce);
    const shadow = groups.shadowOf(group);
    // The group first: the coordinator takes numbers in their order.
    this.#putInForce(group, inForce);
    if (shadow !== null && inForce.shadow !== null) this.#putInForce(shadow, inForce.shadow);
    if (shadow === null && shadowBefore !== null) this.#end(shadowBefore);
  }

  /** Defines a key's group at its first publishing; returns its number. */
  defineKey(config: GroupConfig): number {
    const inForce = this.#divided(config);
    const group = this.#parts.groups.defineKey(inForce);
    this.#putInForce(group, inForce);
    return group;
  }

  /** Gives a key the number of one that nobody uses. */
  renameKey(group: number, config: GroupConfig): void {
    const inForce = this.#divided(config);
    this.#parts.groups.renameKey(group, inForce);
    this.#parts.gate.groupRenamed(group);
    this.#putInForce(group, inForce);
  }

  /** Divides a quota evenly, as with `topic.kind: none`. */
  #divided(config: GroupConfig): GroupConfig {
    if (this.dividedBy === null) return config;
    return withAll(config, { strategy: 'equal', nodeCount: this.dividedBy });
  }

  #putInForce(group: number, config: GroupConfig): void {
    const { groups } = this.#parts;
    const { unlimited } = groups;
    this.#putAlone(group, config);
    if (unlimited === null || this.#isUnlimitedInForce) return;
    this.#isUnlimitedInForce = true;
    this.#putAlone(unlimited, groups.at(unlimited));
  }

  #putAlone(group: number, config: GroupConfig): void {
    const { groups, limiter, gate, loop } = this.#parts;
    const lanes = groups.size * DIRECTION_COUNT;
    // Doubles the columns: one by one, 10,000 groups would copy them 10,000 times.
    if (limiter.laneCount < lanes) limiter.grow(Math.max(lanes, 2 * limiter.laneCount));
    gate.groupChanged(group);
    if (loop.coordinator === null) return;
    loop.step({ kind: 'group-changed', group, settings: config, isKey: groups.isKey(group) });
    if (lanesOf(group).every((lane) => gate.isFree(lane))) {
      loop.step({ kind: 'group-removed', group });
      gate.groupChanged(group);
    }
  }

  /** Removes a group, and rejects those who wait for it. */
  remove(name: string): void {
    const { groups } = this.#parts;
    const group = groups.numbers.get(name);
    if (group === undefined) return;
    const shadow = groups.shadowOf(group);
    groups.remove(name);
    this.#whole.delete(name);
    this.#end(group);
    if (shadow !== null) this.#end(shadow);
  }

  removeKey(group: number): void {
    this.#parts.groups.removeKey(group);
    this.#end(group);
  }

  #end(group: number): void {
    const { groups, gate, loop } = this.#parts;
    const { name } = groups.at(group);
    const facts = { group: name, near: '' };
    for (const lane of lanesOf(group)) gate.rejectWaiting(lane, () => new QuotameshError('GROUP_UNKNOWN', facts));
    if (loop.coordinator !== null) loop.step({ kind: 'group-removed', group });
  }
}
