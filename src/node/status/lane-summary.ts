import type { GroupConfig } from '../../config/resolved/resolved-config.js';
import type { LaneState } from '../../core/account/lanes/lane-state.js';
import { shownRates } from '../../core/base/shown-rates.js';
import {
  BYTES,
  DIMENSION_COUNT,
  DIRECTION_COUNT,
  type Direction,
  directionOfLane,
  MESSAGES,
  type Rates,
  slotOf,
} from '../../core/base/vocabulary.js';
import type { LaneView } from '../../core/convergence/strategy.js';
import { type BucketNow, bucketNow } from '../../core/machine/bucket-now.js';
import type { Coordinator } from '../../core/machine/coordinator.js';
import { rampTop } from '../../core/target/ramp/ramp-of.js';
import type { SharedLane } from '../../core/target/target-book.js';
import type { LocalStatus, NodeShareStatus, RampStatus, RateStatus } from '../api/node-status.js';
import type { StatusParts } from './status-parts.js';

type SummarizedParts = Pick<StatusParts, 'clock' | 'gate' | 'groups' | 'limiter' | 'loop'>;

/** Sums over alive nodes, units/s. */
interface LaneSums {
  readonly usage: Rates;
  readonly demand: Rates;
  readonly share: Rates;
  /** Nodes that want more than their share. */
  readonly throttledNodes: Rates;
}

/**
 * Sums up one lane for people: status, explanations, page and metrics. A member is computed when read, of that moment;
 * nothing changes.
 */
export class LaneSummary {
  readonly lane: number;
  readonly group: number;
  readonly direction: Direction;
  readonly #at: number;
  readonly #parts: SummarizedParts;

  constructor(parts: SummarizedParts, lane: number) {
    this.#parts = parts;
    this.lane = lane;
    this.group = Math.floor(lane / DIRECTION_COUNT);
    this.#at = lane % DIRECTION_COUNT;
    this.direction = directionOfLane(lane);
  }

  get config(): GroupConfig {
    return this.#parts.groups.at(this.group);
  }

  get quota(): Rates {
    return this.config.quota[this.direction];
  }

  /** Dimension of a line: messages, unless only bytes have a quota. */
  get shownDimension(): number {
    const [messages, bytes] = this.quota;
    return Number.isFinite(messages) || !Number.isFinite(bytes) ? MESSAGES : BYTES;
  }

  /** State here; undefined until the first use. */
  get served(): LaneState | undefined {
    return this.#coordinator?.lanes.get(this.lane);
  }

  /** Target by the log; the configured quota before any is read. */
  get target(): Rates {
    const coordinator = this.#coordinator;
    if (coordinator === null) return this.quota;
    const target = new Float64Array(DIMENSION_COUNT);
    coordinator.targets.ratesInto(target, this.#settings(coordinator), this.#inLog(coordinator));
    return [target[MESSAGES], target[BYTES]];
  }

  /** Null = the direction has no ramp. */
  get ramp(): RampStatus | null {
    const coordinator = this.#coordinator;
    if (coordinator === null) return null;
    const settings = this.#settings(coordinator);
    const to = rampTop(settings, this.#at);
    if (settings.ramp === null || to === null) return null;
    const { mode, fromPerSecond: from, overMs } = settings.ramp;
    const { mapLane, partition } = this.#inLog(coordinator);
    const ramps = coordinator.targets.ramps[partition];
    const ceiling = ramps.ceilingOf(settings, this.#at, mapLane);
    const known = ramps.get(mapLane, settings.ramp);
    const state = known === undefined ? 'waiting' : ceiling < to ? 'climbing' : 'top';
    return { mode, state, ceiling, from, to, overMs };
  }

  /** Usage, demand and share by the log, of all alive nodes together. */
  get sums(): LaneSums {
    const coordinator = this.#coordinator;
    return sumsOf(coordinator && viewOf(coordinator, this.group, this.#inLog(coordinator), this.#parts.clock()));
  }

  /** The same of every node, and the sums: one division of the lane. */
  get divided(): { readonly nodes: NodeShareStatus[]; readonly sums: LaneSums } {
    const coordinator = this.#coordinator;
    if (coordinator === null) return { nodes: [], sums: sumsOf(null) };
    const [lane, nowMs] = [this.#inLog(coordinator), this.#parts.clock()];
    const view = viewOf(coordinator, this.group, lane, nowMs);
    return { nodes: nodesOf(coordinator, lane, view, nowMs), sums: sumsOf(view) };
  }

  /**
   * Sums all alive nodes' published demand, without a strategy: cheap enough for all lanes. @returns also the rows read
   */
  wanted(dimension: number): { readonly wanted: number; readonly rows: number } {
    const asked = { wanted: 0, rows: 0 };
    const coordinator = this.#coordinator;
    if (coordinator === null) return asked;
    const { mapLane, partition } = this.#inLog(coordinator);
    const { rows } = coordinator.usageMap;
    const alive = coordinator.membership.on(partition);
    for (let row = coordinator.usageMap.firstRow(mapLane); row !== -1; row = rows.nextOf(row)) {
      asked.rows++;
      if (alive.indexOf(rows.memberOf(row)) === -1) continue;
      asked.wanted += rows.pageOf(row).demandOf(rows.startOf(row), dimension);
    }
    coordinator.log.keys.forEach(
      coordinator.groupIdOf(this.group),
      this.#at,
      this.#parts.clock(),
      (_, { messages, bytes }) => {
        asked.rows++;
        asked.wanted += dimension === MESSAGES ? messages : bytes;
      },
    );
    return asked;
  }

  /** Returns what this node holds of the lane; undefined until its first use here. */
  held(column: 'target' | 'applied', dimension: number): number | undefined {
    return this.served && this.#coordinator?.shares[column][slotOf(this.lane, dimension)];
  }

  /** Returns what this node last published; undefined until its first use here. */
  reported(column: 'usage' | 'demand', dimension: number): number | undefined {
    return this.served?.reported[column][dimension];
  }

  /** Returns units since the start, as callers were answered. */
  counted(column: 'admitted' | 'attempted' | 'refused', dimension: number): number {
    return this.#parts.gate.shadows.inForce[column].at(slotOf(this.lane, dimension));
  }

  debt(dimension: number): number {
    return this.#parts.limiter.buckets.debt(this.lane, dimension, this.#parts.clock());
  }

  get heldBack(): number {
    return this.#parts.limiter.heldBack[this.lane];
  }

  /** Returns the cluster's bucket; null = gates, no quota, or 0. */
  bucket(dimension: number): BucketNow | null {
    const coordinator = this.#coordinator;
    return coordinator === null ? null : bucketNow(coordinator, this.lane, dimension, this.#parts.clock());
  }

  local(nodes: readonly NodeShareStatus[]): LocalStatus {
    const { served, lane } = this;
    // Before the first use: the share that would be.
    const expected = nodes.find(({ self }) => self)?.share ?? NO_RATES;
    const share = served === undefined ? expected : ratesOf((dimension) => this.held('applied', dimension) ?? 0);
    const { buckets } = this.#parts.limiter;
    return {
      served: served !== undefined,
      link: served?.link ?? this.#linkBeforeUse(),
      share,
      admittedMessages: this.counted('admitted', MESSAGES),
      admittedBytes: this.counted('admitted', BYTES),
      attemptedMessages: this.counted('attempted', MESSAGES),
      attemptedBytes: this.counted('attempted', BYTES),
      refusedMessages: this.counted('refused', MESSAGES),
      refusedBytes: this.counted('refused', BYTES),
      heldBack: this.heldBack,
      debtMessages: this.debt(MESSAGES),
      debtBytes: this.debt(BYTES),
      letOffMessages: buckets.letOffAt(slotOf(lane, MESSAGES)),
      letOffBytes: buckets.letOffAt(slotOf(lane, BYTES)),
    };
  }

  /** Returns the link of an unused group: it may get any partition. */
  #linkBeforeUse(): LocalStatus['link'] {
    const link = this.#coordinator?.link;
    const isolated = link?.isolatedPartitions ?? [];
    if (link === undefined || isolated.length === 0) return 'linked';
    const nowMs = this.#parts.clock();
    const silentMs = Math.max(...isolated.map((partition) => link.silentMs(partition, nowMs)));
    return silentMs > this.config.isolation.holdMs ? 'fallback' : 'held';
  }

  get #coordinator(): Coordinator | null {
    return this.#parts.loop.coordinator;
  }

  #inLog(coordinator: Coordinator): SharedLane {
    return this.served ?? coordinator.laneOf(coordinator.groupIdOf(this.group), this.#at);
  }

  /** Returns settings as the coordinator has them, changed with its next step. */
  #settings({ settings }: Coordinator) {
    return settings.groups[this.group];
  }
}

/** Computes usage, demand and share of every alive node, by the log. */
export function laneShares(
  coordinator: Coordinator,
  group: number,
  direction: number,
  nowMs: number,
): NodeShareStatus[] {
  const lane = coordinator.laneOf(coordinator.groupIdOf(group), direction);
  return nodesOf(coordinator, lane, viewOf(coordinator, group, lane, nowMs), nowMs);
}

function nodesOf(coordinator: Coordinator, lane: SharedLane, view: LaneView, nowMs: number): NodeShareStatus[] {
  const { usageMap, membership, nodeKey } = coordinator;
  const alive = membership.on(lane.partition);
  const store = usageMap.rows;
  const rows = new Map<number, number>();
  for (let row = usageMap.firstRow(lane.mapLane); row !== -1; row = store.nextOf(row)) {
    rows.set(alive.indexOf(store.memberOf(row)), row);
  }
  return alive.members.map((member, at) => {
    const row = rows.get(at);
    return {
      nodeId: member.nodeId,
      self: member.nodeKey === nodeKey,
      usage: ratesOf((dimension) => view.usage[dimension][at]),
      demand: ratesOf((dimension) => view.demand[dimension][at]),
      share: ratesOf((dimension) => view.share[dimension][at]),
      reportedShare: row === undefined ? NO_RATES : ratesOf((dimension) => store.shareOf(row, dimension)),
      topics: row === undefined ? 0 : store.topicsOf(row),
      reportAgeMs: row === undefined ? null : Math.round(nowMs - store.readMsOf(row)),
    };
  });
}

/** Divides a lane, with grants of a silent key: nobody publishes it (core/report/key-names.ts). */
function viewOf(coordinator: Coordinator, group: number, lane: SharedLane, nowMs: number): LaneView {
  const { shares, membership, log } = coordinator;
  const view = shares.converge(group, lane);
  const alive = membership.on(lane.partition);
  log.keys.forEach(coordinator.groupIdOf(group), lane.direction, nowMs, ({ slot }, { messages, bytes }) => {
    const index = alive.indexOf(slot);
    if (index === -1) return;
    for (const column of [view.usage, view.demand]) {
      column[MESSAGES][index] = messages;
      column[BYTES][index] = bytes;
    }
  });
  return view;
}

function sumsOf(view: LaneView | null): LaneSums {
  const sums = { usage: [0, 0], demand: [0, 0], share: [0, 0], throttledNodes: [0, 0] } satisfies Record<
    keyof LaneSums,
    [number, number]
  >;
  if (view === null) return sums;
  const { usage, demand, share, count } = view;
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    for (let at = 0; at < count; at++) {
      sums.usage[dimension] += usage[dimension][at];
      sums.demand[dimension] += demand[dimension][at];
      sums.share[dimension] += share[dimension][at];
      if (demand[dimension][at] > share[dimension][at] * THROTTLED_RATIO) sums.throttledNodes[dimension]++;
    }
  }
  return sums;
}

function ratesOf(read: (dimension: number) => number): RateStatus {
  return shownRates([read(MESSAGES), read(BYTES)]);
}

const NO_RATES: RateStatus = { messagesPerSecond: 0, bytesPerSecond: 0 };

/** Ratio of demand to share that is smoothing and float32 alone. */
const THROTTLED_RATIO = 1.02;
