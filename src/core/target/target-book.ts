import type { LaneCosts } from '../base/protocol/record.js';
import { type CoordinatorSettings, type GroupSettings, heartbeatOf } from '../base/settings.js';
import { type BackendId, BYTES, DIRECTIONS, type GroupId, MESSAGES, type NodeKey } from '../base/vocabulary.js';
import { type CostLane, inOrderOfIds } from '../usage-map/cost-rows.js';
import type { Membership } from '../usage-map/membership.js';
import type { UsageMap } from '../usage-map/usage-map.js';
import { BackendBook } from './backend-book.js';
import { NO_BACKEND } from './cost-meter.js';
import { bearableRate, type Contribution } from './limiting-rate.js';
import { RampBook } from './ramp/ramp-book.js';
import { type Binding, createDecision, decideTarget, type TargetDecision, type TargetInputs } from './target-rate.js';
import { HEALTHY } from './throttling-ratio.js';
import { WorstZones } from './worst-zones.js';

/** Names a lane, and the partition whose members share it. The usage map's number is −1 for a lane without one. */
export interface SharedLane {
  readonly direction: number;
  readonly mapLane: number;
  readonly partition: number;
}

/** Details of the zone that decides, for explanations. */
export interface LaneTarget {
  readonly inputs: Readonly<TargetInputs>;
  readonly decision: Readonly<TargetDecision>;
  /** Cost units per second of the lane, by backend. */
  readonly costs: ReadonlyMap<BackendId, number>;
  readonly zones: WorstZones;
}

/**
 * Computes the cluster rates in force of all lanes. They are a function of the newest record per key and of log time,
 * so all nodes that have read equally far compute the same.
 */
export class TargetBook {
  readonly backends: BackendBook;
  /** By partition. */
  readonly ramps: readonly RampBook[];
  readonly #settings: CoordinatorSettings;
  readonly #usageMap: UsageMap;
  readonly #membership: Membership;
  /** Finds the number of a group that is configured here; −1 = none. */
  readonly groupOf: (groupId: GroupId) => number;
  /** Scratch of the lane decided last. */
  readonly #costs = new Map<BackendId, number>();
  readonly #inputs: TargetInputs = {
    quotaMessages: 0,
    totalCost: 0,
    reservedCost: 0,
    expectedCost: 1,
    transactions: 0,
    cost: 0,
    bearable: HEALTHY,
    minimumRatio: 0,
  };
  readonly #decision = createDecision();
  readonly #zones = new WorstZones();
  readonly #on: Contribution = { ratio: HEALTHY, transactions: 0, cost: 0, costOfAll: 0, quota: 0, quotaOfAll: 0 };
  readonly #last: LaneTarget;
  /** Sums per saturated backend, until something changes. */
  readonly #sums = new Map<BackendId, { cost: number; quota: number }>();
  #sumsVersion = '';

  constructor(
    settings: CoordinatorSettings,
    usageMap: UsageMap,
    membership: Membership,
    onLane: (lane: number) => void,
    groupOf: (groupId: GroupId) => number,
  ) {
    this.groupOf = groupOf;
    this.#settings = settings;
    this.#usageMap = usageMap;
    this.#membership = membership;
    this.backends = new BackendBook(settings.cluster, settings.limiting);
    this.ramps = Array.from({ length: settings.partitions }, (_, partition) => {
      return new RampBook(heartbeatOf(settings, partition), onLane);
    });
    this.#last = { inputs: this.#inputs, decision: this.#decision, costs: this.#costs, zones: this.#zones };
    const markLanesOn = (backend: BackendId) => {
      for (const { mapLane } of usageMap.costs.lanesOn(backend)) onLane(mapLane);
    };
    this.backends.onChanged = markLanesOn;
    // With by-quota, the costs of one group move the parts of all others on a saturated backend.
    usageMap.costs.onChanged = (backend) => {
      const ratio = this.backends.get(backend)?.ratio ?? HEALTHY;
      if (settings.limiting.split === 'by-quota' && ratio !== HEALTHY) markLanesOn(backend);
    };
  }

  /** Computes the rates in force of a lane, messages/s and bytes/s. */
  ratesInto(target: Float64Array, settings: GroupSettings, { direction, mapLane, partition }: SharedLane): void {
    const quota = settings.quota[DIRECTIONS[direction]];
    target[BYTES] = quota[BYTES];
    target[MESSAGES] = quota[MESSAGES];
    const { decision } = this.decide(settings, direction, mapLane);
    if (this.#settings.limiting.mode === 'enforce') target[MESSAGES] = decision.target;
    if (settings.ramp === null) return;
    target[MESSAGES] = Math.min(target[MESSAGES], this.ramps[partition].ceilingOf(settings, direction, mapLane));
  }

  /**
   * Returns the cost per message where that quota set the last rate. 0 = another limit set it, or messages cost less
   * than the least average cost of the target.
   */
  costPerMessage(perSecond: number): number {
    const { inputs, decision } = this.#last;
    if (decision.binding !== 'cost' || decision.target !== perSecond) return 0;
    return inputs.cost >= decision.averageCost * inputs.transactions ? decision.averageCost : 0;
  }

  /** Notes the binding of the rates computed last. report-only enforces the message and byte quotas alone. */
  noteInto(lane: { binding: Binding; isBusy: boolean }, settings: GroupSettings, direction: number): void {
    const { decision } = this.#last;
    const quota = settings.quota[DIRECTIONS[direction]][MESSAGES];
    const unenforced = quota === Infinity ? 'unlimited' : 'messages';
    lane.binding = this.#settings.limiting.mode === 'enforce' ? decision.binding : unenforced;
    lane.isBusy = decision.isBusy;
  }

  /** Decides a lane's target; the result is scratch, to be read at once. */
  decide(settings: GroupSettings, direction: number, mapLane: number): LaneTarget {
    const inputs = this.#inputs;
    const { total, reserved } = settings.cost[DIRECTIONS[direction]];
    inputs.quotaMessages = settings.quota[DIRECTIONS[direction]][MESSAGES];
    inputs.totalCost = total;
    inputs.reservedCost = reserved;
    inputs.expectedCost = settings.expectedCost;
    inputs.minimumRatio = settings.floorRatio;
    this.#addRows(mapLane);
    this.#zones.begin();
    inputs.bearable = this.#costs.size === 0 ? HEALTHY : this.#bearable(total);
    decideTarget(inputs, this.#decision);
    return this.#last;
  }

  /** Adds up the costs of the alive nodes, in order of NodeKey. */
  #addRows(mapLane: number): void {
    // An empty map that is cleared allocates a new table, 150 bytes for every lane and round.
    if (this.#costs.size > 0) this.#costs.clear();
    this.#inputs.transactions = 0;
    this.#inputs.cost = 0;
    if (!this.#usageMap.costs.hasLane(mapLane)) return;
    for (const costs of this.#costsOf(mapLane)) {
      this.#inputs.transactions += costs.transactions;
      for (const { backend, cost } of costs.backends) {
        this.#inputs.cost += cost;
        this.#costs.set(backend, (this.#costs.get(backend) ?? 0) + cost);
      }
    }
  }

  #bearable(quota: number): number {
    const { split, zonesLeftOut, contributionRatio } = this.#settings.limiting;
    for (const [id, cost] of this.#costs) {
      const backend = id === NO_BACKEND ? undefined : this.backends.get(id);
      if (backend === undefined || cost < contributionRatio * this.#inputs.cost) continue;
      const on = this.#on;
      on.ratio = backend.ratio;
      on.transactions = this.#inputs.transactions;
      on.cost = cost;
      on.quota = quota;
      if (split === 'by-quota' && backend.ratio !== HEALTHY) this.#addOthers(id);
      this.#zones.add(backend.zone, id, bearableRate(split, on));
    }
    return this.#zones.deciding(zonesLeftOut)?.limit ?? HEALTHY;
  }

  /** Sets `costOfAll` and `quotaOfAll` of a backend. */
  #addOthers(backend: BackendId): void {
    const version = `${this.#usageMap.costs.version}/${this.#membership.changes}`;
    if (version !== this.#sumsVersion) this.#sums.clear();
    this.#sumsVersion = version;
    const sum = this.#sums.get(backend) ?? this.#sumOn(backend);
    this.#sums.set(backend, sum);
    this.#on.costOfAll = sum.cost;
    this.#on.quotaOfAll = sum.quota;
  }

  #sumOn(backend: BackendId): { cost: number; quota: number } {
    const sum = { cost: 0, quota: 0 };
    // All nodes share this order, so that all get the same bits.
    const lanes = [...this.#usageMap.costs.lanesOn(backend)].sort(inOrderOfIds);
    for (const lane of lanes) {
      const cost = this.costOn(lane, backend);
      sum.cost += cost;
      const group = this.groupOf(lane.groupId);
      if (cost === 0 || group === -1) continue;
      const { total } = this.#settings.groups[group].cost[DIRECTIONS[lane.direction]];
      if (total !== Infinity) sum.quota += total;
    }
    return sum;
  }

  /** Computes a lane's cost on a backend, units/s of the whole cluster. */
  costOn({ mapLane }: CostLane, backend: BackendId): number {
    let sum = 0;
    for (const { backends } of this.#costsOf(mapLane)) {
      for (const entry of backends) if (entry.backend === backend) sum += entry.cost;
    }
    return sum;
  }

  /**
   * Collects the costs of the alive nodes, in order of NodeKey. The rows of a lane have no order, and all nodes must
   * get the same sums. While a node has two rows (its group has moved to another bundle) the smaller one comes first.
   */
  #costsOf(mapLane: number): readonly LaneCosts[] {
    const found: { readonly nodeKey: NodeKey; readonly costs: LaneCosts }[] = [];
    const { rows, costs: ofRows } = this.#usageMap;
    for (let row = this.#usageMap.firstRow(mapLane); row !== -1; row = rows.nextOf(row)) {
      const costs = ofRows.of(row);
      if (costs === undefined) continue;
      const slot = rows.memberOf(row);
      const { nodeKey } = this.#membership.inSlot(slot);
      if (this.#membership.on(rows.partitionOf(row)).indexOf(slot) !== -1) found.push({ nodeKey, costs });
    }
    found.sort((one, other) => one.nodeKey - other.nodeKey || one.costs.transactions - other.costs.transactions);
    return found.map(({ costs }) => costs);
  }
}
