import { groupIdOf } from '../core/base/ids.js';
import {
  BYTES,
  DIRECTION_COUNT,
  DIRECTIONS,
  type Dimension,
  type Direction,
  directionOfLane,
  MESSAGES,
} from '../core/base/vocabulary.js';
import type { StatusParts } from '../status/status-parts.js';

type SumParts = Pick<StatusParts, 'config' | 'groups' | 'loop'>;

/** One direction of a group over all nodes alive, as the log says. Units per second. */
export interface LaneSums {
  /** As nodes reported last; of a node that is held to its share, no more than that. */
  admitted: number;
  wanted: number;
  /** Nodes that want more than they are admitted. */
  throttledNodes: number;
  /** Rows of the usage map that were looked at: what this cost. */
  rows: number;
}

/** A line of the overview. Units per second in `dimension`; null = no quota. */
export interface GroupRow extends Omit<LaneSums, 'rows'> {
  readonly group: string;
  readonly direction: Direction;
  readonly dimension: Dimension;
  readonly quota: number | null;
  readonly strategy: string;
  readonly enabled: boolean;
}

/** The dimension in which a lane is shown: messages, unless only bytes have a quota. */
export function shownDimension({ groups }: Pick<SumParts, 'groups'>, lane: number): number {
  const [messages, bytes] = groups.ofLane(lane).quota[directionOfLane(lane)];
  return Number.isFinite(messages) || !Number.isFinite(bytes) ? MESSAGES : BYTES;
}

export function quotaOf({ groups }: Pick<SumParts, 'groups'>, lane: number, dimension: number): number {
  return groups.ofLane(lane).quota[directionOfLane(lane)][dimension] as number;
}

/**
 * Adds up rows of the usage map. It asks no strategy, which would cost some hundred times as much for a group of a
 * hundred nodes.
 */
export class LaneAdder {
  readonly #parts: SumParts;
  /** By group: hashing a name takes longer than adding up the rows of an idle group. */
  readonly #groupIds: number[] = [];
  readonly #sums: LaneSums = { admitted: 0, wanted: 0, throttledNodes: 0, rows: 0 };
  #version = -1;

  constructor(parts: SumParts) {
    this.#parts = parts;
  }

  /** The result is reused: read it at once. */
  add(lane: number, dimension: number): Readonly<LaneSums> {
    const sums = this.#sums;
    sums.admitted = sums.wanted = sums.throttledNodes = sums.rows = 0;
    const { coordinator } = this.#parts.loop;
    if (coordinator === null) return sums;
    const { usageMap, membership } = coordinator;
    const mapLane = usageMap.findMapLane(this.#idOf(Math.floor(lane / DIRECTION_COUNT)), lane % DIRECTION_COUNT);
    if (mapLane === -1) return sums;
    const { rows } = usageMap;
    const isHeldToShare = this.#parts.groups.ofLane(lane).sharing === 'tokens';
    for (let row = usageMap.firstRow(mapLane); row !== -1; row = rows.nextOf(row)) {
      sums.rows++;
      if (membership.inSlot(rows.memberOf(row)).index === -1) continue;
      const page = rows.pageOf(row);
      const start = rows.startOf(row);
      const wanted = page.demandOf(start, dimension);
      const used = page.usageOf(start, dimension);
      // Its usage is what it took when it asked first, a burst in it: it need not report again (describe-node.ts).
      const admitted = isHeldToShare ? Math.min(used, page.shareOf(start, dimension)) : used;
      sums.admitted += admitted;
      sums.wanted += wanted;
      if (wanted > admitted * THROTTLED_RATIO) sums.throttledNodes++;
    }
    return sums;
  }

  rowOf(lane: number): GroupRow {
    const { groups } = this.#parts;
    const { name, strategy, enabled } = groups.ofLane(lane);
    const dimension = shownDimension(this.#parts, lane);
    const { admitted, wanted, throttledNodes } = this.add(lane, dimension);
    const quota = quotaOf(this.#parts, lane, dimension);
    return {
      group: name,
      direction: DIRECTIONS[lane % DIRECTION_COUNT] as Direction,
      dimension: dimension === MESSAGES ? 'messages' : 'bytes',
      quota: Number.isFinite(quota) ? quota : null,
      admitted,
      wanted,
      throttledNodes,
      strategy,
      enabled,
    };
  }

  /** A number is given to another name only where the table's version rises. */
  #idOf(group: number): number {
    const { groups, config } = this.#parts;
    if (this.#version !== groups.version) {
      this.#groupIds.length = 0;
      this.#version = groups.version;
    }
    this.#groupIds[group] ??= groupIdOf(config.cluster, groups.at(group).name);
    return this.#groupIds[group] as number;
  }
}

/** Rates are smoothed and come as float32: what is wanted and what was admitted differ by this much by themselves. */
const THROTTLED_RATIO = 1.02;
