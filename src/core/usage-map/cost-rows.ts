import type { LaneCosts } from '../base/protocol/record.js';
import type { BackendId } from '../base/vocabulary.js';
import type { LaneIdentity } from './lane-numbers.js';

/** Names a lane with cost on a backend. All nodes share its identity, but not `mapLane`. */
export interface CostLane extends LaneIdentity {
  readonly mapLane: number;
  rows: number;
}

/**
 * Keeps the costs of rows, and the lanes on each backend. Most groups have no costs, so they stand beside the columns
 * of the usage map. A backend's health concerns only the lanes on it.
 */
export class CostRows {
  /** Called when a cost on a backend has changed. */
  onChanged: (backend: BackendId) => void = () => undefined;
  /** Number of changes of any row. */
  version = 0;
  readonly #ofRow = new Map<number, LaneCosts>();
  /** Rows with costs by lane; most lanes have none. */
  readonly #rowsIn = new Map<number, number>();
  readonly #lanesOn = new Map<BackendId, Map<number, CostLane>>();

  hasLane(mapLane: number): boolean {
    return this.#rowsIn.has(mapLane);
  }

  of(row: number): LaneCosts | undefined {
    return this.#ofRow.get(row);
  }

  set(row: number, { groupId, direction }: LaneIdentity, mapLane: number, costs: LaneCosts): void {
    this.version++;
    this.#ofRow.set(row, costs);
    this.#rowsIn.set(mapLane, (this.#rowsIn.get(mapLane) ?? 0) + 1);
    for (const { backend } of costs.backends) {
      const lanes = this.#lanesOn.get(backend) ?? new Map<number, CostLane>();
      this.#lanesOn.set(backend, lanes);
      const lane = lanes.get(mapLane);
      if (lane === undefined) lanes.set(mapLane, { groupId, direction, mapLane, rows: 1 });
      else lane.rows++;
      this.onChanged(backend);
    }
  }

  release(row: number, mapLane: number): void {
    const costs = this.#ofRow.get(row);
    if (costs === undefined) return;
    this.version++;
    this.#ofRow.delete(row);
    const left = (this.#rowsIn.get(mapLane) ?? 0) - 1;
    if (left > 0) this.#rowsIn.set(mapLane, left);
    else this.#rowsIn.delete(mapLane);
    for (const { backend } of costs.backends) {
      const lanes = this.#lanesOn.get(backend);
      const lane = lanes?.get(mapLane);
      if (lane !== undefined && --lane.rows === 0) lanes?.delete(mapLane);
      if (lanes?.size === 0) this.#lanesOn.delete(backend);
      this.onChanged(backend);
    }
  }

  /** Notes that a row counts for another node or for none. */
  recounted(row: number): void {
    const costs = this.#ofRow.get(row);
    if (costs === undefined) return;
    this.version++;
    for (const { backend } of costs.backends) this.onChanged(backend);
  }

  lanesOn(backend: BackendId): Iterable<CostLane> {
    return this.#lanesOn.get(backend)?.values() ?? NO_LANES;
  }
}

/** Orders lanes as every node does. */
export function inOrderOfIds(one: LaneIdentity, other: LaneIdentity): number {
  if (one.groupId === other.groupId) return one.direction - other.direction;
  return one.groupId < other.groupId ? -1 : 1;
}

const NO_LANES: readonly CostLane[] = [];
