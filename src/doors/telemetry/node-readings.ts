import type { LaneState } from '../../core/account/lanes/lane-state.js';
import { BYTES, MESSAGES } from '../../core/base/vocabulary.js';
import type { Backend } from '../../core/target/backend-book.js';
import { HEALTHY } from '../../core/target/throttling-ratio.js';
import type { NodeStatus } from '../../node/api/node-status.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import { DEGRADED, type DegradedKind } from '../../node/status/degraded.js';
import { LaneSummary } from '../../node/status/lane-summary.js';
import type { NODE_METRICS } from './metric-table.js';
import type { MetricSources } from './metric-tables.js';
import { byLabel, countedBy, type Reading } from './reading.js';

export function nodeReadings(
  node: NodeParts,
  incidents: MetricSources['incidents'],
  status: () => NodeStatus,
): Readonly<Record<keyof typeof NODE_METRICS, Reading>> {
  const { cluster, nodeId, topic } = node.config;
  const { loop, busy } = node;
  return {
    quotamesh_build_info: (series) => series(1, { version: node.version, node_version: process.version }),
    quotamesh_node_info: (series) => series(1, { cluster, node: nodeId, topic: topic.kind }),
    quotamesh_ready: (series) => series(status().ready ? 1 : 0),
    quotamesh_degraded: (series) => readDegraded(series, node),
    quotamesh_incarnation: (series) => series(status().incarnation),
    quotamesh_members: countedBy('state', ['alive', 'left', 'expired'], () =>
      status().members.map(({ state }) => state),
    ),
    quotamesh_longest_silence_seconds: (series) => series(longestSilenceMs(status()) / 1000),
    quotamesh_oldest_report_age_seconds: (series) => series(oldestReportMs(node) / 1000),
    quotamesh_share_sum_ratio: (series) => series(largestShareSum(node)),
    quotamesh_lanes: countedBy('link', ['linked', 'held', 'fallback'], () => servedLanes(node).map(({ link }) => link)),
    quotamesh_busy_lanes: (series) => series(status().busyLanes),
    quotamesh_backends: countedBy('state', ['well', 'saturated', 'silent'], () =>
      Array.from(node.loop.coordinator?.targets.backends.all() ?? [], stateOf),
    ),
    quotamesh_backend_busiest_ratio: (series) => {
      for (const { backend, busiestRatio } of busy.backends) series(busiestRatio, { backend });
    },
    quotamesh_backend_busy_groups: (series) => {
      for (const { backend, count } of busy.backends) series(count, { backend });
    },
    quotamesh_backend_polls_total: byLabel('outcome', () => node.poller.polls),
    quotamesh_cost_lanes: (series) => series(loop.coordinator?.costs.laneCount ?? 0),
    quotamesh_topic_epochs_total: byLabel('topic', () => ({
      reports: status().topic.epochChanges,
      registry: status().registry.epochChanges,
    })),
    quotamesh_isolated_partitions: (series) => series(loop.coordinator?.link.isolatedPartitions.length ?? 0),
    quotamesh_rounds_total: (series) => series(loop.rounds.count),
    quotamesh_round_seconds_total: (series) => series(loop.rounds.totalMs / 1000),
    ...poolReadings(status),
    quotamesh_last_rebalancing_seconds: (series) => series(status().lastRebalancingMs / 1000),
    quotamesh_report_round_trip_seconds: (series) => series(status().reportRoundTripMs / 1000),
    quotamesh_reports_written_total: byLabel('reason', () => loop.coordinator?.reportsWritten ?? {}),
    quotamesh_reports_waiting: (series) => series(loop.coordinator?.reportBudget.waiting ?? 0),
    quotamesh_reports_held_back_total: (series) => series(loop.coordinator?.reportBudget.heldBack ?? 0),
    quotamesh_unhandled_rejections_total: (series) => {
      if (incidents !== undefined) series(incidents.unhandledRejections);
    },
  };
}

function readDegraded(series: Parameters<Reading>[0], node: NodeParts): void {
  const nowMs = node.clock();
  for (const reason of ALERTED) series(DEGRADED[reason](node, nowMs).length === 0 ? 0 : 1, { reason });
}

/** Degradations that no other metric shows. */
const ALERTED = [
  'topic-lost',
  'topic-throttled',
  'alone',
  'isolated',
  'epoch',
  'partitions-added',
  'topic-settings',
  'registry-lost',
  'reports-wait',
  'attachment-dangling',
] as const satisfies readonly DegradedKind[];

/** Lanes converged per scrape: 2 to 20 µs each must not hold requests back. */
const CONVERGED_LANES_MAX = 1000;

function servedLanes(node: NodeParts): readonly LaneState[] {
  return [...(node.loop.coordinator?.lanes.values() ?? [])];
}

function stateOf({ isSilent, ratio }: Backend): string {
  if (isSilent) return 'silent';
  return ratio === HEALTHY ? 'well' : 'saturated';
}

function longestSilenceMs({ members }: NodeStatus): number {
  return Math.max(0, ...members.filter(({ state }) => state === 'alive').map(({ silentMs }) => silentMs));
}

function oldestReportMs(node: NodeParts): number {
  const { coordinator } = node.loop;
  if (coordinator === null) return 0;
  const { usageMap, membership } = coordinator;
  const nowMs = node.clock();
  let oldestMs = nowMs;
  for (const { mapLane, partition } of servedLanes(node)) {
    const alive = membership.on(partition);
    for (let row = usageMap.firstRow(mapLane); row !== -1; row = usageMap.rows.nextOf(row)) {
      if (alive.indexOf(usageMap.rows.memberOf(row)) === -1) continue;
      oldestMs = Math.min(oldestMs, usageMap.rows.readMsOf(row));
    }
  }
  return nowMs - oldestMs;
}

function largestShareSum(node: NodeParts): number {
  let largest = 0;
  for (const { lane } of servedLanes(node).slice(0, CONVERGED_LANES_MAX)) {
    const { target, sums } = new LaneSummary(node, lane);
    for (const dimension of [MESSAGES, BYTES]) {
      const limit = target[dimension];
      if (limit !== 0 && limit !== Infinity) largest = Math.max(largest, sums.share[dimension] / limit);
    }
  }
  return largest;
}

function poolReadings(
  status: () => NodeStatus,
): Readonly<Record<'quotamesh_pool_size' | 'quotamesh_pool_agreed', Reading>> {
  return {
    quotamesh_pool_size: (series) => {
      const { pool } = status();
      if (pool !== null) series(pool.size);
    },
    quotamesh_pool_agreed: (series) => {
      const { pool } = status();
      if (pool !== null) series(pool.agreed ? 1 : 0);
    },
  };
}
