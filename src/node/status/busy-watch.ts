import type { BusyGroup, Telemetry } from '../../base/ports/telemetry.js';
import { finiteOrNull } from '../../core/base/shown-rates.js';
import { DIRECTIONS, MESSAGES, slotOf } from '../../core/base/vocabulary.js';
import type { Coordinator } from '../../core/machine/coordinator.js';
import type { Backend } from '../../core/target/backend-book.js';
import { BUSY_RATIO } from '../../core/target/constants/constants.js';
import type { CostLane } from '../../core/usage-map/cost-rows.js';
import type { BusyGroupStatus, NodeStatus } from '../api/node-status.js';
import { groupName } from './describe-backends.js';
import type { StatusParts } from './status-parts.js';

type WatchParts = Pick<StatusParts, 'config' | 'groups' | 'loop'>;

/** Last findings of a backend. */
interface BusyBackend {
  readonly backend: string;
  /** Groups and directions that are busy there. */
  readonly count: number;
  /** Busiest one's part of the backend's cost, 0 … 1. */
  readonly busiestRatio: number;
}

/**
 * Publishes groups that cost a backend much: every five seconds those with a hundredth of its work, as FoundationDB
 * traces busy tags. All nodes know them from the log; the one that last published the backend's health names them. A
 * pass takes as many rounds as it needs: 100,000 lanes at once stop a node for 0.2 s.
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

  /** Backends with a busy group at the last pass. */
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

  /** Yields after each lane. Copies what it walks over, because reports move entries of these maps. */
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
      if (backend.author.nodeKey === coordinator.nodeKey) named.push(...this.#named(backend, lanes, busy.sum));
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

/** Gathers lanes with a hundredth of a sum still unknown. */
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

/** Milliseconds, as servers report to FoundationDB's ratekeeper. */
const PASS_EVERY_MS = 5000;
/** Lanes per round: about 0.2 ms; 100,000 take 200 rounds, 5 s by default. */
const LANES_PER_ROUND = 500;
/** Groups of one event; more: longer lines, 100 bytes each. */
const NAMED_MAX = 100;
/** Groups gathered; at most a hundred of them are busy. */
const GATHERED_MAX = 200;

const SHOWN_MAX = 20;

/** Lists lanes that backends hold, or would hold, below their quota. They only would in report-only. */
export function describeBusy({
  loop: { coordinator },
  groups,
}: StatusParts): Pick<NodeStatus, 'busyLanes' | 'busyGroups'> {
  if (coordinator === null) return { busyLanes: 0, busyGroups: [] };
  const busy: BusyGroupStatus[] = [];
  for (const { lane, group, direction, binding, isBusy } of coordinator.lanes.values()) {
    if (!isBusy) continue;
    const target = coordinator.shares.target[slotOf(lane, MESSAGES)];
    busy.push({
      group: groups.at(group).name,
      direction: DIRECTIONS[direction],
      binding,
      targetMessagesPerSecond: finiteOrNull(target),
    });
  }
  busy.sort((one, other) => (one.group < other.group ? -1 : 1));
  return { busyLanes: busy.length, busyGroups: busy.slice(0, SHOWN_MAX) };
}
