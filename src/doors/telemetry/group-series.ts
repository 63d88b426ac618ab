import { setImmediate as turn } from 'node:timers/promises';
import { type ClusterBucket, correctedRate, setPointOf } from '../../core/account/cluster-bucket.js';
import type { LaneState } from '../../core/account/lanes/lane-state.js';
import type { ShareBook } from '../../core/account/share/share-book.js';
import { BYTES, DIRECTIONS, laneOf, MESSAGES, slotOf } from '../../core/base/vocabulary.js';
import { matchName } from '../../core/beside/attachments/patterns.js';
import { type BucketNow, bucketNow } from '../../core/machine/bucket-now.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import { GROUP_METRICS } from './metric-table.js';
import type { Labels } from './metric-tables.js';

/** What is used here of a node. */
type UsedParts = Pick<NodeParts, 'config' | 'clock' | 'limiter' | 'groups' | 'loop' | 'gate'>;

/**
 * The series of the groups that `metrics.perGroup` names, in the text format.
 *
 * Not by prom-client: at 5,000 groups (110,000 series) its scrape held the event loop, and with it admission, for one to
 * two seconds at a stretch. Here the labels are written once, and requests get their turn in between.
 */
export class GroupSeries {
  readonly #node: UsedParts;
  readonly #readings: Readings;
  #lanes: readonly WatchedLane[] = [];
  #version = -1;

  constructor(node: UsedParts) {
    this.#node = node;
    this.#readings = readingsOf(node);
  }

  /** Empty when no group is watched. */
  async text(): Promise<string> {
    this.#watch();
    if (this.#lanes.length === 0) return '';
    const parts: string[] = [];
    for (const [name, { type, help }] of Object.entries(GROUP_METRICS)) {
      parts.push(`\n# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`);
      await this.#each(name as GroupMetric, (value, { labelText }) => parts.push(`${name}${labelText} ${value}\n`));
    }
    return parts.join('');
  }

  /** The same, for those who take no text. */
  async read(series: (name: GroupMetric, value: number, labels: Labels) => void): Promise<void> {
    this.#watch();
    if (this.#lanes.length === 0) return;
    for (const name of Object.keys(GROUP_METRICS) as GroupMetric[]) {
      await this.#each(name, (value, { labels }) => series(name, value, labels));
    }
  }

  #watch(): void {
    const { version } = this.#node.groups;
    if (version !== this.#version) this.#lanes = watchedLanes(this.#node);
    this.#version = version;
  }

  async #each(name: GroupMetric, series: (value: number, lane: WatchedLane) => void): Promise<void> {
    const read = this.#readings[name];
    let sinceTurn = 0;
    for (const lane of this.#lanes) {
      const value = read(lane);
      // Unlimited is Infinity, not known here is undefined: neither has a series.
      if (value !== undefined && Number.isFinite(value)) series(value, lane);
      if (++sinceTurn % SERIES_PER_TURN === 0) await turn();
    }
    await turn();
  }
}

/** About 1 ms. */
const SERIES_PER_TURN = 1000;

export type GroupMetric = keyof typeof GROUP_METRICS;

type Readings = Readonly<Record<GroupMetric, (lane: WatchedLane) => number | undefined>>;

interface WatchedLane {
  readonly lane: number;
  readonly group: number;
  readonly direction: number;
  /** `{group="orders",direction="publish"}`; group names hold nothing that the format would have to escape. */
  readonly labelText: string;
  readonly labels: Labels;
  readonly quota: readonly number[];
}

function watchedLanes({ config, groups }: UsedParts): readonly WatchedLane[] {
  const { perGroup } = config.metrics;
  if (perGroup === 'none') return [];
  const selectors = perGroup === 'all' ? ['*'] : perGroup;
  return [...groups.numbers].flatMap(([name, group]) => {
    if (!selectors.some((selector) => selector === '*' || matchName(selector, name, {}))) return [];
    const { quota } = groups.at(group);
    return DIRECTIONS.map((direction, at): WatchedLane => {
      const labels = { group: name, direction };
      const labelText = `{group="${name}",direction="${direction}"}`;
      return { lane: laneOf(group, at), group, direction: at, labelText, labels, quota: quota[direction] };
    });
  });
}

function readingsOf(node: UsedParts): Readings {
  const { limiter } = node;
  const state = ({ lane }: WatchedLane): LaneState | undefined => node.loop.coordinator?.lanes.get(lane);
  const ofShares = (column: 'target' | 'applied' | 'limit', dimension: number) => (lane: WatchedLane) =>
    state(lane) === undefined ? undefined : node.loop.coordinator?.shares[column][slotOf(lane.lane, dimension)];
  const sum = (dimension: number) => (lane: WatchedLane) => {
    const served = state(lane);
    return served && node.loop.coordinator ? shareSum(node.loop.coordinator.shares, served, dimension) : undefined;
  };
  const toldRate = (column: 'usage' | 'demand', dimension: number) => (lane: WatchedLane) =>
    state(lane)?.reported[column][dimension];
  const { shadows } = node.gate;
  const counted = (column: 'admitted' | 'refused', dimension: number) => (lane: WatchedLane) =>
    shadows.inForce[column].at(slotOf(lane.lane, dimension));
  return {
    quotamesh_group_quota_messages_per_second: ({ quota }) => quota[MESSAGES],
    quotamesh_group_quota_bytes_per_second: ({ quota }) => quota[BYTES],
    quotamesh_group_target_messages_per_second: ofShares('target', MESSAGES),
    quotamesh_group_busy: (lane) => (state(lane) === undefined ? undefined : Number(state(lane)?.isBusy)),
    quotamesh_group_ramp_messages_per_second: rampCeiling(node),
    ...bucketReadingsOf(node, state),
    quotamesh_group_share_messages_per_second: ofShares('applied', MESSAGES),
    quotamesh_group_share_bytes_per_second: ofShares('applied', BYTES),
    quotamesh_group_limit_messages_per_second: ofShares('limit', MESSAGES),
    quotamesh_group_limit_bytes_per_second: ofShares('limit', BYTES),
    quotamesh_group_share_sum_messages_per_second: sum(MESSAGES),
    quotamesh_group_share_sum_bytes_per_second: sum(BYTES),
    quotamesh_group_usage_messages_per_second: toldRate('usage', MESSAGES),
    quotamesh_group_usage_bytes_per_second: toldRate('usage', BYTES),
    quotamesh_group_demand_messages_per_second: toldRate('demand', MESSAGES),
    quotamesh_group_demand_bytes_per_second: toldRate('demand', BYTES),
    quotamesh_group_admitted_messages_total: counted('admitted', MESSAGES),
    quotamesh_group_admitted_bytes_total: counted('admitted', BYTES),
    quotamesh_group_refused_messages_total: counted('refused', MESSAGES),
    quotamesh_group_refused_bytes_total: counted('refused', BYTES),
    quotamesh_group_refusals_total: ({ lane }) => shadows.inForce.refusedOnce.at(lane),
    ...shadowReadingsOf(node),
    quotamesh_group_held_back: ({ lane }) => limiter.heldBack[lane],
    quotamesh_group_debt_messages: ({ lane }) => limiter.buckets.debt(lane, MESSAGES, node.clock()),
    quotamesh_group_debt_bytes: ({ lane }) => limiter.buckets.debt(lane, BYTES, node.clock()),
  };
}

/** No series where a group has no shadow, and is none. */
function shadowReadingsOf({ limiter, gate: { shadows } }: UsedParts) {
  const ofShadow = (read: (lane: number) => number) => (lane: WatchedLane) => {
    const shadow = shadows.shadowLaneOf(lane.lane);
    return shadow === null ? undefined : read(shadow);
  };
  return {
    quotamesh_group_would_refuse_total: ofShadow((lane) => shadows.counts.of(lane).wouldRefuse.requests),
    quotamesh_group_would_refuse_messages_total: ofShadow((lane) => shadows.counts.of(lane).wouldRefuse.messages),
    quotamesh_group_would_grant_total: ofShadow((lane) => shadows.counts.of(lane).wouldGrant.requests),
    quotamesh_group_shadow_admitted_messages_total: ofShadow((lane) => limiter.admitted.at(slotOf(lane, MESSAGES))),
    quotamesh_group_shadow_refused_messages_total: ofShadow((lane) => limiter.refused.at(slotOf(lane, MESSAGES))),
  } satisfies Partial<Readings>;
}

/** No series where each node has a gate. */
function bucketReadingsOf(node: UsedParts, state: (lane: WatchedLane) => LaneState | undefined) {
  const inCluster = ({ lane }: WatchedLane, dimension: number) => {
    const { coordinator } = node.loop;
    return coordinator === null ? null : bucketNow(coordinator, lane, dimension, node.clock());
  };
  // What is no function of time needs no extrapolation of the log.
  const bucketOf = (lane: WatchedLane, dimension: number) => {
    return state(lane)?.tokens?.slots[dimension]?.bucket ?? null;
  };
  return {
    quotamesh_group_cluster_tokens_messages: (lane: WatchedLane) => inCluster(lane, MESSAGES)?.tokens,
    quotamesh_group_cluster_tokens_bytes: (lane: WatchedLane) => inCluster(lane, BYTES)?.tokens,
    quotamesh_group_cluster_depth_messages: (lane: WatchedLane) => bucketOf(lane, MESSAGES)?.depth,
    quotamesh_group_cluster_depth_bytes: (lane: WatchedLane) => bucketOf(lane, BYTES)?.depth,
    quotamesh_group_cluster_set_point_messages: (lane: WatchedLane) => setPointIn(bucketOf(lane, MESSAGES)),
    quotamesh_group_cluster_set_point_bytes: (lane: WatchedLane) => setPointIn(bucketOf(lane, BYTES)),
    quotamesh_group_cluster_correction_messages_per_second: (lane: WatchedLane) =>
      correctionIn(inCluster(lane, MESSAGES)),
    quotamesh_group_cluster_correction_bytes_per_second: (lane: WatchedLane) => correctionIn(inCluster(lane, BYTES)),
    quotamesh_group_charge_messages: (lane: WatchedLane) => chargeOf(state(lane), MESSAGES),
    quotamesh_group_charge_bytes: (lane: WatchedLane) => chargeOf(state(lane), BYTES),
  } satisfies Partial<Readings>;
}

function setPointIn(bucket: ClusterBucket | null): number | undefined {
  return bucket === null ? undefined : setPointOf(bucket);
}

function correctionIn(now: BucketNow | null): number | undefined {
  return now === null ? undefined : correctedRate(now.bucket, now.tokens) - now.bucket.perSecond;
}

function chargeOf(lane: LaneState | undefined, dimension: number): number | undefined {
  const slot = lane?.tokens?.slots[dimension];
  return slot === undefined || slot.bucket === null ? undefined : slot.account.knownCharge;
}

/** Infinity where there is no ramp: no series. */
function rampCeiling(node: UsedParts): (lane: WatchedLane) => number | undefined {
  return ({ lane, group, direction }) => {
    const { coordinator } = node.loop;
    const state = coordinator?.lanes.get(lane);
    if (coordinator === null || state === undefined) return undefined;
    return coordinator.targets.ramps[state.partition]!.ceilingOf(
      coordinator.settings.groups[group],
      direction,
      state.mapLane,
    );
  };
}

function shareSum(shares: ShareBook, { group, direction, mapLane }: LaneState, dimension: number): number {
  const { share, count } = shares.converge(group, direction, mapLane);
  let total = 0;
  for (let at = 0; at < count; at++) total += share[dimension][at];
  return total;
}
