import { groupIdOf } from '../../../core/base/ids.js';
import { DIRECTION_COUNT } from '../../../core/base/vocabulary.js';
import type { Coordinator } from '../../../core/machine/coordinator.js';

interface RemoteKeysParts {
  readonly cluster: string;
  /** Most names. */
  readonly max: number;
  readonly numberOf: (name: string) => number | null;
  /** Tests if a key's number is no deleted group's. */
  readonly isLive: (number: number) => boolean;
}

/**
 * Keeps keys named in heartbeats, to show those that others use; decides nothing. There are at most `max`, as writers
 * may name keys without end; a name with a wrong id is ignored.
 */
export class RemoteKeys {
  readonly #parts: RemoteKeysParts;
  /** Name → number of the group. */
  readonly #numbers = new Map<string, number>();
  #next: IterableIterator<[string, number]> = this.#numbers.entries();
  /** Rises with every name that comes or goes. */
  version = 0;

  constructor(parts: RemoteKeysParts) {
    this.#parts = parts;
  }

  get numbers(): ReadonlyMap<string, number> {
    return this.#numbers;
  }

  /** Takes published names, and drops some unpublished ones; every round. */
  keep(coordinator: Coordinator): void {
    for (const { name, groupId } of coordinator.log.keys.takeNames()) {
      if (this.#numbers.has(name) || this.#numbers.size >= this.#parts.max) continue;
      if (groupIdOf(this.#parts.cluster, name) === groupId) this.#number(name);
    }
    for (let looked = Math.min(LOOKED_AT, this.#numbers.size); looked > 0; looked--) {
      const next = this.#next.next();
      if (next.done === true) this.#next = this.#numbers.entries();
      else if (!this.#isTold(coordinator, next.value[0])) this.forget(next.value[0]);
      else if (!this.#parts.isLive(next.value[1])) this.#number(next.value[0]);
    }
  }

  forget(name: string): void {
    if (this.#numbers.delete(name)) this.version++;
  }

  #number(name: string): void {
    const number = this.#parts.numberOf(name);
    if (number === null) return;
    this.#numbers.set(name, number);
    this.version++;
  }

  #isTold({ usageMap, log }: Coordinator, name: string): boolean {
    const groupId = groupIdOf(this.#parts.cluster, name);
    for (let direction = 0; direction < DIRECTION_COUNT; direction++) {
      if (log.keys.has(groupId, direction)) return true;
      if (usageMap.firstRow(usageMap.findMapLane(groupId, direction)) !== -1) return true;
    }
    return false;
  }
}

const LOOKED_AT = 16;
