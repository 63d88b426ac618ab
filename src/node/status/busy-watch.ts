import type { BusyGroup, Telemetry } from '../../base/ports/telemetry.js';
import { DIRECTIONS } from '../../core/base/vocabulary.js';
import type { Coordinator } from '../../core/machine/coordinator.js';
import type { Backend } from '../../core/target/backend-book.js';
import { BUSY_RATIO } from '../../core/target/busiest.js';
import type { CostLane } from '../../core/usage-map/cost-rows.js';
import { groupName } from './describe-backends.js';
import type { StatusParts } from './status-parts.js';

type WatchParts = Pick<StatusParts, 'config' | 'groups' | 'loop'>;

/** What was found on a backend when it was looked at last. */
export interface BusyBackend {
  readonly backend: string;
  /** Groups and directions that are busy there. */
  readonly count: number;
  /** The busiest one's part of the backend's cost, 0 … 1. */
  readonly busiestRatio: number;
}

/**
 * Publishes every five seconds all groups that are busy on a backend. (FoundationDB traces every busy read tag of a
 * server as often.) Busy is who costs at least a hundredth of what the backend does, so there are at most 100 per
 * backend. All nodes know them from the log; the node that published the backend's health last names them, so that a
 * cluster names each once.
 *
 * A pass over all lanes takes as many rounds as it needs, because 100,000 lanes at once stop a node for 0.2 s.
 */
export class BusyWatch {
  readonly #parts: WatchParts;
  readonly #telemetry: Telemetry;
  #found: readonly BusyBackend[] = [];
  #pass: Iterator<void> | null = null;
  #nextMs = 0;

  constructor(parts: WatchParts, telemetry: Telemetry) {
    this.#parts = parts;
    this.#telemetry = telemetry;
  }

  /** Backends on which somebody is busy, as the last pass has found them. */
  get backends(): readonly BusyBackend[] {
    return this.#found;
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
    const found: BusyBackend[] = [];
    const named: BusyGroup[] = [];
    for (const backend of [...coordinator.targets.backends.all()]) {
      const busy = new BusyLanes();
      for (const lane of [...coordinator.usageMap.costs.lanesOn(backend.id)]) {
        busy.add(lane, coordinator.targets.costOn(lane, backend.id));
        yield;
      }
      const lanes = busy.falling();
      if (lanes.length === 0) continue;
      found.push({ backend: backend.name, count: lanes.length, busiestRatio: lanes[0].cost / busy.sum });
      if (backend.author === coordinator.nodeKey) named.push(...this.#named(backend, lanes, busy.sum));
    }
    this.#found = found;
    this.#publish(named);
  }

  #named({ name }: Backend, lanes: readonly LaneCost[], sum: number): BusyGroup[] {
    return lanes.map(({ lane, cost }) => ({
      backend: name,
      group: groupName(this.#parts, lane.groupId),
      direction: DIRECTIONS[lane.direction],
      costPerSecond: cost,
      busyness: cost / sum,
    }));
  }

  #publish(named: readonly BusyGroup[]): void {
    if (named.length === 0) return;
    const groups = [...named].sort((one, other) => other.busyness - one.busyness).slice(0, NAMED_MAX);
    const event = { groups, leftOut: named.length - groups.length };
    this.#telemetry.log('info', 'groups are busy on backends', event);
    this.#telemetry.busyOnBackends?.(event);
  }
}

interface LaneCost {
  readonly lane: CostLane;
  readonly cost: number;
}

/** Gathers the lanes that cost a backend at least a hundredth of its sum, which is known only at the end. */
class BusyLanes {
  sum = 0;
  #busy: LaneCost[] = [];

  add(lane: CostLane, cost: number): void {
    this.sum += cost;
    if (cost > 0 && this.#isBusy({ cost })) this.#busy.push({ lane, cost });
    // The sum only rises: who is not busy now will not be.
    if (this.#busy.length > GATHERED_MAX) this.#busy = this.#busy.filter((one) => this.#isBusy(one));
  }

  falling(): readonly LaneCost[] {
    return this.#busy.filter((one) => this.#isBusy(one)).sort((one, other) => other.cost - one.cost);
  }

  #isBusy({ cost }: Pick<LaneCost, 'cost'>): boolean {
    return cost >= BUSY_RATIO * this.sum;
  }
}

/** As often as servers report to FoundationDB's ratekeeper. */
const PASS_EVERY_MS = 5000;
/** About 0.2 ms. 100,000 lanes take 200 rounds, 5 s by default. */
const LANES_PER_ROUND = 500;
/** Groups that an event names, of all backends together. More: longer lines, 100 bytes each. */
const NAMED_MAX = 100;
/** At most a hundred of them are busy. */
const GATHERED_MAX = 200;
