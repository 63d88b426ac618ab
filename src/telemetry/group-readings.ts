import type { Coordinator } from '../core/coordinator.js';
import type { LaneState } from '../core/lane-state.js';
import {
  BYTES,
  DIMENSION_COUNT,
  DIRECTION_COUNT,
  DIRECTIONS,
  type Dimension,
  laneOf,
  MESSAGES,
  slotOf,
} from '../core/vocabulary.js';
import type { QuotaNode } from '../runtime/quota-node.js';
import type { GROUP_METRICS } from './metric-table.js';
import type { Labels, Reading } from './metrics.js';

/** Series of the groups that `metrics.perGroup` names. */
export function groupReadings(node: QuotaNode): Readonly<Record<keyof typeof GROUP_METRICS, Reading>> {
  const lanes = watchedLanes(node);
  return {
    ...gauges('quotamesh_group_quota', lanes, ({ quota }, dimension) => quota[dimension] as number),
    ...gauges('quotamesh_group_share', lanes, ({ lane }, dimension) => applied(node, lane, dimension)),
    ...gauges('quotamesh_group_limit', lanes, ({ lane }, dimension) => limited(node, lane, dimension)),
    ...gauges('quotamesh_group_share_sum', lanes, ({ lane }, dimension) => shareSum(node, lane, dimension)),
    ...gauges('quotamesh_group_usage', lanes, ({ lane }, dimension) => reported(node, lane)?.usage[dimension]),
    ...gauges('quotamesh_group_demand', lanes, ({ lane }, dimension) => reported(node, lane)?.demand[dimension]),
    quotamesh_group_admitted_messages_total: counter(lanes, node.limiter.admitted, DIMENSION_COUNT, MESSAGES),
    quotamesh_group_admitted_bytes_total: counter(lanes, node.limiter.admitted, DIMENSION_COUNT, BYTES),
    quotamesh_group_refused_messages_total: counter(lanes, node.limiter.refused, DIMENSION_COUNT, MESSAGES),
    quotamesh_group_refused_bytes_total: counter(lanes, node.limiter.refused, DIMENSION_COUNT, BYTES),
    quotamesh_group_refusals_total: counter(lanes, node.limiter.refusals, 1, 0),
  };
}

interface WatchedLane {
  readonly lane: number;
  readonly labels: Labels;
  readonly quota: readonly number[];
}

function watchedLanes({ config }: QuotaNode): readonly WatchedLane[] {
  const { perGroup } = config.metrics;
  if (perGroup === 'none') return [];
  const named = perGroup === 'all' ? null : new Set(perGroup);
  return config.groups.flatMap(({ name, quota }, group) => {
    if (named !== null && !named.has(name)) return [];
    return DIRECTIONS.map((direction, at) => {
      return { lane: laneOf(group, at), labels: { group: name, direction }, quota: quota[direction] };
    });
  });
}

type RateName<Prefix extends string> = `${Prefix}_${Dimension}_per_second`;

/** Both dimensions of a rate. What is unlimited (Infinity) or not known here (undefined) has no series. */
function gauges<Prefix extends string>(
  prefix: Prefix,
  lanes: readonly WatchedLane[],
  rateOf: (lane: WatchedLane, dimension: number) => number | undefined,
): Record<RateName<Prefix>, Reading> {
  const reading = (dimension: number): Reading => {
    return (series) => {
      for (const lane of lanes) {
        const rate = rateOf(lane, dimension);
        if (rate !== undefined && Number.isFinite(rate)) series(rate, lane.labels);
      }
    };
  };
  const readings = {
    [`${prefix}_messages_per_second`]: reading(MESSAGES),
    [`${prefix}_bytes_per_second`]: reading(BYTES),
  };
  return readings as Record<RateName<Prefix>, Reading>;
}

function counter(lanes: readonly WatchedLane[], column: Float64Array, width: number, entry: number): Reading {
  return (series) => {
    for (const { lane, labels } of lanes) series(column[lane * width + entry] as number, labels);
  };
}

function served(node: QuotaNode, lane: number): { coordinator: Coordinator; state: LaneState } | undefined {
  const { coordinator } = node;
  const state = coordinator?.lanes.get(lane);
  return coordinator === null || state === undefined ? undefined : { coordinator, state };
}

function applied(node: QuotaNode, lane: number, dimension: number): number | undefined {
  return served(node, lane)?.coordinator.shares.applied[slotOf(lane, dimension)];
}

function limited(node: QuotaNode, lane: number, dimension: number): number | undefined {
  return served(node, lane)?.coordinator.shares.limit[slotOf(lane, dimension)];
}

function reported(node: QuotaNode, lane: number): LaneState['reported'] | undefined {
  return served(node, lane)?.state.reported;
}

function shareSum(node: QuotaNode, lane: number, dimension: number): number | undefined {
  const serving = served(node, lane);
  if (serving === undefined) return undefined;
  const { mapLane } = serving.state;
  const group = Math.floor(lane / DIRECTION_COUNT);
  const { share, count } = serving.coordinator.shares.converge(group, lane % DIRECTION_COUNT, mapLane);
  return (share[dimension] as Float64Array).subarray(0, count).reduce((sum, one) => sum + one, 0);
}
