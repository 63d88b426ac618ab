import { setImmediate as turn } from 'node:timers/promises';
import { correctedRate, setPointOf } from '../../core/account/cluster-bucket.js';
import type { SlotTokens } from '../../core/account/slot-tokens.js';
import { BYTES, lanesOf, MESSAGES, slotOf } from '../../core/base/vocabulary.js';
import { matchName } from '../../core/beside/attachments/patterns.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import { LaneSummary } from '../../node/status/lane-summary.js';
import { GROUP_METRICS } from './metric-table.js';
import type { Labels } from './reading.js';

/**
 * Writes the series of `metrics.perGroup` as text. *Why:* prom-client held the event loop for 1 to 2 s at 5,000 groups
 * (110,000 series). Here labels are written once, and requests get their turn in between.
 */
export class GroupSeries {
  readonly #node: NodeParts;
  readonly #readings: Readings;
  #lanes: readonly WatchedLane[] = [];
  #version = -1;

  constructor(node: NodeParts) {
    this.#node = node;
    this.#readings = readingsOf(node);
  }

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
      const value = read(lane.summary);
      // Infinity (unlimited) and undefined (unknown here) have no series.
      if (value !== undefined && Number.isFinite(value)) series(value, lane);
      if (++sinceTurn % SERIES_PER_TURN === 0) await turn();
    }
    await turn();
  }
}

/** Series between two turns of the event loop: about 1 ms. */
const SERIES_PER_TURN = 1000;

type GroupMetric = keyof typeof GROUP_METRICS;

type Readings = Readonly<Record<GroupMetric, (lane: LaneSummary) => number | undefined>>;

interface WatchedLane {
  readonly summary: LaneSummary;
  /** `{group="orders",direction="publish"}`; group names need no escapes. */
  readonly labelText: string;
  readonly labels: Labels;
}

function watchedLanes(node: NodeParts): readonly WatchedLane[] {
  const { perGroup } = node.config.metrics;
  if (perGroup === 'none') return [];
  const selectors = perGroup === 'all' ? ['*'] : perGroup;
  return [...node.groups.numbers].flatMap(([name, group]) => {
    if (!selectors.some((selector) => selector === '*' || matchName(selector, name, {}))) return [];
    return lanesOf(group).map((lane): WatchedLane => {
      const summary = new LaneSummary(node, lane);
      const labels = { group: name, direction: summary.direction };
      const labelText = `{group="${name}",direction="${summary.direction}"}`;
      return { summary, labelText, labels };
    });
  });
}

function readingsOf({ limiter, gate: { shadows } }: NodeParts): Readings {
  const ofShadow = (read: (lane: number) => number) => {
    return ({ lane }: LaneSummary) => {
      const shadow = shadows.shadowLaneOf(lane);
      return shadow === null ? undefined : read(shadow);
    };
  };
  const shareSum = (lane: LaneSummary, dimension: number) => lane.served && lane.sums.share[dimension];
  return {
    quotamesh_group_quota_messages_per_second: ({ quota }) => quota[MESSAGES],
    quotamesh_group_quota_bytes_per_second: ({ quota }) => quota[BYTES],
    quotamesh_group_target_messages_per_second: (lane) => lane.held('target', MESSAGES),
    quotamesh_group_busy: ({ served }) => served && Number(served.isBusy),
    quotamesh_group_ramp_messages_per_second: (lane) => lane.served && lane.ramp?.ceiling,
    ...BUCKET_READINGS,
    quotamesh_group_share_messages_per_second: (lane) => lane.held('applied', MESSAGES),
    quotamesh_group_share_bytes_per_second: (lane) => lane.held('applied', BYTES),
    quotamesh_group_limit_messages_per_second: (lane) => lane.held('applied', MESSAGES),
    quotamesh_group_limit_bytes_per_second: (lane) => lane.held('applied', BYTES),
    quotamesh_group_share_sum_messages_per_second: (lane) => shareSum(lane, MESSAGES),
    quotamesh_group_share_sum_bytes_per_second: (lane) => shareSum(lane, BYTES),
    quotamesh_group_usage_messages_per_second: (lane) => lane.reported('usage', MESSAGES),
    quotamesh_group_usage_bytes_per_second: (lane) => lane.reported('usage', BYTES),
    quotamesh_group_demand_messages_per_second: (lane) => lane.reported('demand', MESSAGES),
    quotamesh_group_demand_bytes_per_second: (lane) => lane.reported('demand', BYTES),
    quotamesh_group_admitted_messages_total: (lane) => lane.counted('admitted', MESSAGES),
    quotamesh_group_admitted_bytes_total: (lane) => lane.counted('admitted', BYTES),
    quotamesh_group_refused_messages_total: (lane) => lane.counted('refused', MESSAGES),
    quotamesh_group_refused_bytes_total: (lane) => lane.counted('refused', BYTES),
    quotamesh_group_refusals_total: ({ lane }) => shadows.inForce.refusedOnce.at(lane),
    quotamesh_group_would_refuse_total: ofShadow((lane) => shadows.counts.of(lane).wouldRefuse.requests),
    quotamesh_group_would_refuse_messages_total: ofShadow((lane) => shadows.counts.of(lane).wouldRefuse.messages),
    quotamesh_group_would_grant_total: ofShadow((lane) => shadows.counts.of(lane).wouldGrant.requests),
    quotamesh_group_shadow_admitted_messages_total: ofShadow((lane) => limiter.admitted.at(slotOf(lane, MESSAGES))),
    quotamesh_group_shadow_refused_messages_total: ofShadow((lane) => limiter.refused.at(slotOf(lane, MESSAGES))),
    quotamesh_group_held_back: ({ heldBack }) => heldBack,
    quotamesh_group_debt_messages: (lane) => lane.debt(MESSAGES),
    quotamesh_group_debt_bytes: (lane) => lane.debt(BYTES),
  };
}

/** Readings of the cluster's bucket; no series where nodes have gates. Rates need no extrapolation of the log. */
const BUCKET_READINGS = {
  quotamesh_group_cluster_tokens_messages: (lane) => lane.bucket(MESSAGES)?.tokens,
  quotamesh_group_cluster_tokens_bytes: (lane) => lane.bucket(BYTES)?.tokens,
  quotamesh_group_cluster_depth_messages: (lane) => slotIn(lane, MESSAGES)?.bucket?.depth,
  quotamesh_group_cluster_depth_bytes: (lane) => slotIn(lane, BYTES)?.bucket?.depth,
  quotamesh_group_cluster_set_point_messages: (lane) => setPointIn(lane, MESSAGES),
  quotamesh_group_cluster_set_point_bytes: (lane) => setPointIn(lane, BYTES),
  quotamesh_group_cluster_correction_messages_per_second: (lane) => correctionIn(lane, MESSAGES),
  quotamesh_group_cluster_correction_bytes_per_second: (lane) => correctionIn(lane, BYTES),
  quotamesh_group_charge_messages: (lane) => chargeIn(lane, MESSAGES),
  quotamesh_group_charge_bytes: (lane) => chargeIn(lane, BYTES),
} satisfies Partial<Readings>;

function slotIn({ served }: LaneSummary, dimension: number): SlotTokens | undefined {
  return served?.tokens?.slots[dimension];
}

function setPointIn(lane: LaneSummary, dimension: number): number | undefined {
  const bucket = slotIn(lane, dimension)?.bucket;
  return bucket ? setPointOf(bucket) : undefined;
}

function correctionIn(lane: LaneSummary, dimension: number): number | undefined {
  const now = lane.bucket(dimension);
  return now === null ? undefined : correctedRate(now.bucket, now.tokens) - now.bucket.perSecond;
}

function chargeIn(lane: LaneSummary, dimension: number): number | undefined {
  const slot = slotIn(lane, dimension);
  return slot?.bucket ? slot.account.knownCharge : undefined;
}
