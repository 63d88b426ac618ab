import { DIRECTIONS } from '../core/base/vocabulary.js';
import type { Coordinator } from '../core/coordinator/coordinator.js';
import type { Backend } from '../core/target/backend-book.js';
import type { CostLane } from '../core/usage-map/cost-rows.js';
import type { LaneIdentity } from '../core/usage-map/lane-numbers.js';
import type { Telemetry } from '../ports/telemetry.js';
import { groupName } from './describe-backends.js';
import type { StatusParts } from './status-parts.js';

type WatchParts = Pick<StatusParts, 'config' | 'groups' | 'loop'>;

/** The group that costs a backend most, as it was looked at last. */
export interface BusiestGroup {
  readonly backend: string;
  readonly group: string;
  readonly direction: string;
  /** Its part of the backend's cost, 0 … 1. */
  readonly busyness: number;
}

/**
 * Looks for the group that costs each backend most, and tells when it is another one (FoundationDB traces the busiest
 * read tag of a server every five seconds). All nodes know it from the log; the one that told the backend's health last
 * writes the line, so that a cluster writes one.
 *
 * A pass over all lanes takes as many rounds as it needs, because 100,000 lanes at once stop a node for 0.2 s.
 */
export class BusiestWatch {
  /** How often the busiest group of a backend became another one. */
  changes = 0;
  readonly #parts: WatchParts;
  readonly #telemetry: Telemetry;
  readonly #known = new Map<string, Found>();
  #pass: Iterator<void> | null = null;
  #nextMs = 0;

  constructor(parts: WatchParts, telemetry: Telemetry) {
    this.#parts = parts;
    this.#telemetry = telemetry;
  }

  /** Backends that cost nothing have no busiest group. */
  get busiest(): Iterable<BusiestGroup> {
    return this.#known.values();
  }

  round(nowMs: number): void {
    const { coordinator } = this.#parts.loop;
    if (coordinator === null) return;
    if (this.#pass === null) {
      if (nowMs < this.#nextMs) return;
      this.#nextMs = nowMs + PASS_EVERY_MS;
      this.#pass = this.#lookAtAll(coordinator);
    }
    for (let looked = 0; looked < LANES_PER_ROUND; looked++) {
      if (!this.#pass.next().done) continue;
      this.#pass = null;
      return;
    }
  }

  /** Yields after each lane. Copies what it walks over, because reports move entries to the end of these maps. */
  *#lookAtAll(coordinator: Coordinator): Generator<void, void> {
    const backends = [...coordinator.targets.backends.all()];
    for (const name of this.#known.keys()) {
      if (!backends.some((backend) => backend.name === name)) this.#known.delete(name);
    }
    for (const backend of backends) {
      const { id, name } = backend;
      const before = this.#known.get(name);
      let [most, beforeCost, sum] = [0, 0, 0];
      let costliest: CostLane | null = null;
      for (const lane of [...coordinator.usageMap.costs.lanesOn(id)]) {
        const cost = coordinator.targets.costOn(lane, id);
        sum += cost;
        if (before !== undefined && isSame(lane, before.lane)) beforeCost = cost;
        if (cost > most) [most, costliest] = [cost, lane];
        yield;
      }
      if (costliest === null) this.#known.delete(name);
      // Two groups that cost alike take turns at the top by noise.
      else if (before !== undefined && most < OVERTAKEN_RATIO * beforeCost) before.busyness = beforeCost / sum;
      else this.#found(coordinator, backend, { lane: costliest, cost: most, busyness: most / sum });
    }
  }

  #found(coordinator: Coordinator, { name, author }: Backend, { lane, cost, busyness }: Leader): void {
    const before = this.#known.get(name);
    const group = groupName(this.#parts, lane.groupId);
    const direction = DIRECTIONS[lane.direction];
    const { groupId, direction: index } = lane;
    this.#known.set(name, { lane: { groupId, direction: index }, backend: name, group, direction, busyness });
    if (before !== undefined && isSame(lane, before.lane)) return;
    this.changes++;
    if (author !== coordinator.nodeKey) return;
    const change = {
      backend: name,
      group,
      direction,
      costPerSecond: cost,
      busyness,
      before: before?.group ?? null,
    };
    this.#telemetry.log('info', 'another group costs this backend most', change);
    this.#telemetry.busiestChanged?.(change);
  }
}

function isSame(one: LaneIdentity, other: LaneIdentity): boolean {
  return one.groupId === other.groupId && one.direction === other.direction;
}

interface Found extends BusiestGroup {
  /** The lane, as records name it. */
  readonly lane: LaneIdentity;
  busyness: number;
}

interface Leader {
  readonly lane: LaneIdentity;
  readonly cost: number;
  readonly busyness: number;
}

/** As often as servers report to FoundationDB's ratekeeper. */
const PASS_EVERY_MS = 5000;
/** About 0.2 ms. 100,000 lanes take 200 rounds, 5 s by default. */
const LANES_PER_ROUND = 500;
/** Another group is the busiest when it costs this much of what the former one costs. */
const OVERTAKEN_RATIO = 1.1;
