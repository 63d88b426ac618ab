import {
  BYTES,
  DIMENSIONS,
  DIRECTION_COUNT,
  type Dimension,
  type Direction,
  directionOfLane,
  MESSAGES,
} from '../../core/base/vocabulary.js';
import type { Coordinator } from '../../core/machine/coordinator.js';
import { addDemand, type LaneDemand } from '../status/lane-demand.js';
import { addSilentUse } from '../status/silent-use.js';
import type { StatusParts } from '../status/status-parts.js';

type SumParts = Pick<StatusParts, 'clock' | 'config' | 'groups' | 'keys' | 'loop'>;

/** A line of the overview, over all nodes alive. Units per second in `dimension`; null = no quota. */
export interface GroupRow {
  readonly group: string;
  readonly direction: Direction;
  readonly dimension: Dimension;
  readonly quota: number | null;
  /** As nodes told last; of silent keys with a heartbeat (status/silent-use.ts). */
  readonly admitted: number;
  readonly wanted: number;
  /** Nodes that want more than their share. */
  readonly throttledNodes: number;
  readonly strategy: string;
  readonly enabled: boolean;
}

/** The dimension in which a lane is shown: messages, unless only bytes have a quota. */
export function shownDimension({ groups }: Pick<SumParts, 'groups'>, lane: number): number {
  const [messages, bytes] = groups.ofLane(lane).quota[directionOfLane(lane)];
  return Number.isFinite(messages) || !Number.isFinite(bytes) ? MESSAGES : BYTES;
}

export function quotaOf({ groups }: Pick<SumParts, 'groups'>, lane: number, dimension: number): number {
  return groups.ofLane(lane).quota[directionOfLane(lane)][dimension];
}

export class LaneSums {
  readonly #parts: SumParts;
  readonly #demand: LaneDemand = { wanted: 0, rows: 0 };

  constructor(parts: SumParts) {
    this.#parts = parts;
  }

  /** Asks no strategy, so that it is cheap enough for all lanes. The result is reused: read it at once. */
  demandOf(lane: number, dimension: number): Readonly<LaneDemand> {
    const demand = this.#demand;
    demand.wanted = demand.rows = 0;
    const { coordinator } = this.#parts.loop;
    if (coordinator === null) return demand;
    const [group, direction] = [Math.floor(lane / DIRECTION_COUNT), lane % DIRECTION_COUNT];
    addDemand(
      coordinator,
      { groupId: this.#parts.groups.idOf(group), direction, dimension, nowMs: this.#parts.clock() },
      demand,
    );
    return demand;
  }

  /** Yields the numbers of all groups, then of keys, those first that have been loud here for longest. */
  *named(): Generator<number> {
    const { groups, keys } = this.#parts;
    yield* groups.numbers.values();
    let left = KEYS_LISTED_MAX;
    for (const [, number] of keys?.shown() ?? []) {
      if (left-- === 0) return;
      yield number;
    }
  }

  /**
   * Counts the directions in demand that this node cannot name. They are those of keys that no heartbeat names, and of
   * groups that are not configured here.
   */
  countUnnamed(): number {
    const { coordinator } = this.#parts.loop;
    if (coordinator === null) return 0;
    const { usageMap } = coordinator;
    const named = new Set(Array.from(this.named(), (group) => this.#parts.groups.idOf(group)));
    let unnamed = 0;
    usageMap.forEachLane((mapLane) => {
      if (!named.has(usageMap.groupOf(mapLane).groupId) && this.#isWanted(coordinator, mapLane)) unnamed++;
    });
    return unnamed;
  }

  /** The figures of `GET /v1/groups/{group}`, added up. */
  rowOf(lane: number): GroupRow {
    const { groups } = this.#parts;
    const { name, strategy, enabled } = groups.ofLane(lane);
    const dimension = shownDimension(this.#parts, lane);
    const quota = quotaOf(this.#parts, lane, dimension);
    return {
      group: name,
      direction: directionOfLane(lane),
      dimension: DIMENSIONS[dimension],
      quota: Number.isFinite(quota) ? quota : null,
      ...this.#sharesOf(lane, dimension),
      strategy,
      enabled,
    };
  }

  #isWanted(coordinator: Coordinator, mapLane: number): boolean {
    const { usageMap } = coordinator;
    const { rows } = usageMap;
    const alive = coordinator.aliveFor(usageMap.groupOf(mapLane).groupId);
    for (let row = usageMap.firstRow(mapLane); row !== -1; row = rows.nextOf(row)) {
      if (alive.indexOf(rows.memberOf(row)) === -1) continue;
      const [page, start] = [rows.pageOf(row), rows.startOf(row)];
      if (page.demandOf(start, MESSAGES) > 0 || page.demandOf(start, BYTES) > 0) return true;
    }
    return false;
  }

  #sharesOf(lane: number, dimension: number): Pick<GroupRow, 'admitted' | 'wanted' | 'throttledNodes'> {
    const sums = { admitted: 0, wanted: 0, throttledNodes: 0 };
    const { coordinator } = this.#parts.loop;
    if (coordinator === null) return sums;
    const { shares, usageMap, log } = coordinator;
    const [group, direction] = [Math.floor(lane / DIRECTION_COUNT), lane % DIRECTION_COUNT];
    const groupId = this.#parts.groups.idOf(group);
    const isTold = usageMap.findMapLane(groupId, direction) !== -1 || log.keys.has(groupId, direction);
    if (!isTold) return sums;
    const mapLane = usageMap.mapLaneOf(groupId, direction);
    const view = shares.converge(group, direction, mapLane);
    addSilentUse(view, coordinator, { groupId, direction, nowMs: this.#parts.clock() });
    const usage = view.usage[dimension];
    const demand = view.demand[dimension];
    const share = view.share[dimension];
    for (let at = 0; at < view.count; at++) {
      sums.admitted += usage[at];
      sums.wanted += demand[at];
      if (demand[at] > share[at] * THROTTLED_RATIO) sums.throttledNodes++;
    }
    return sums;
  }
}

/** Rates are smoothed and come as float32: what is wanted and what is given differ by this much by themselves. */
const THROTTLED_RATIO = 1.02;

/** A client can make keys without end, and sorting so many by name takes 10 ms. */
const KEYS_LISTED_MAX = 10_000;
