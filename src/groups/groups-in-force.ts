import type { GroupConfig } from '../config/resolved/resolved-config.js';
import { DIRECTION_COUNT, lanesOf } from '../core/base/vocabulary.js';
import type { Coordinator } from '../core/coordinator/coordinator.js';
import type { Limiter } from '../core/limiter/limiter.js';
import type { CoordinatorEvent } from '../core/protocol/events-and-effects.js';
import { QuotameshError } from '../errors/quotamesh-error.js';
import type { GroupTable } from './group-table.js';

export interface GroupsInForceParts {
  readonly groups: GroupTable;
  readonly limiter: Limiter;
  readonly gate: GroupGate;
  readonly loop: GroupLoop;
}

/** Admission, as far as a change of a group concerns it. */
export interface GroupGate {
  groupChanged(group: number): void;
  /** Whether a lane needs no share, because nothing limits it. */
  isFree(lane: number): boolean;
  rejectWaiting(lane: number, reason: () => Error): void;
}

/** The node's loop, as far as a change of a group concerns it. */
export interface GroupLoop {
  /** Null until the topic is open; it begins with the groups of that moment. */
  readonly coordinator: Coordinator | null;
  step(event: CoordinatorEvent): void;
}

/** Puts groups in force at this node, everywhere at once: in the table, the limiter, admission and the coordinator. */
export class GroupsInForce {
  readonly #parts: GroupsInForceParts;

  constructor(parts: GroupsInForceParts) {
    this.#parts = parts;
  }

  /** A group is like this from now on, without dropping a token or a debt; it may be new. */
  define(config: GroupConfig): void {
    this.#putInForce(this.#parts.groups.define(config), config);
  }

  /** The same for a key that speaks for the first time. Returns its number. */
  defineKey(config: GroupConfig): number {
    const group = this.#parts.groups.defineKey(config);
    this.#putInForce(group, config);
    return group;
  }

  #putInForce(group: number, config: GroupConfig): void {
    const { groups, limiter, gate, loop } = this.#parts;
    const lanes = groups.size * DIRECTION_COUNT;
    // Doubles the columns: growing them one by one for 10,000 groups would copy them 10,000 times.
    if (limiter.laneCount < lanes) limiter.grow(Math.max(lanes, 2 * limiter.laneCount));
    gate.groupChanged(group);
    if (loop.coordinator === null) return;
    loop.step({ kind: 'group-changed', group, settings: config });
    // A group that nothing limits any more is not reported to other nodes.
    if (lanesOf(group).every((lane) => gate.isFree(lane))) {
      loop.step({ kind: 'group-removed', group });
      gate.groupChanged(group);
    }
  }

  /** There is no such group any more: its name is unknown, and whoever waits for it is told. */
  remove(name: string): void {
    const group = this.#parts.groups.remove(name);
    if (group !== null) this.#end(group);
  }

  /** The same for a key that no template has any more. */
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
