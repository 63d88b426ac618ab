import type { LaneState } from '../../core/account/lanes/lane-state.js';
import { BYTES, MESSAGES } from '../../core/base/vocabulary.js';
import type { Backend } from '../../core/target/backend-book.js';
import { HEALTHY } from '../../core/target/throttling-ratio.js';
import type { NodeStatus } from '../../node/api/node-status.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import { DEGRADED, type DegradedKind } from '../../node/status/degraded.js';
import { LaneSummary } from '../../node/status/lane-summary.js';
import type { NODE_METRICS } from './metric-table.js';
import type { MetricSources, Reading } from './metric-tables.js';

type UsedParts = Pick<NodeParts, 'config' | 'version' | 'clock' | 'topic' | 'poller' | 'busy' | 'loop'>;

export function nodeReadings(
  node: NodeParts,
  incidents: MetricSources['incidents'],
  status: () => NodeStatus,
): Readonly<Record<keyof typeof NODE_METRICS, Reading>> {
  const { cluster, nodeId, topic } = node.config;
  return {
    quotamesh_build_info: (series) => series(1, { version: node.version, node_version: process.version }),
    quotamesh_node_info: (series) => series(1, { cluster, node: nodeId, topic: topic.kind }),
    quotamesh_ready: (series) => series(status().ready ? 1 : 0),
    quotamesh_degraded: (series) => readDegraded(series, node),
    quotamesh_incarnation: (series) => series(status().incarnation),
    quotamesh_members: (series) => {
      for (const state of ['alive', 'left', 'expired']) {
        series(status().members.filter((member) => member.state === state).length, { state });
      }
    },
    quotamesh_longest_silence_seconds: (series) => series(longestSilenceMs(status()) / 1000),
    quotamesh_oldest_report_age_seconds: (series) => series(oldestReportMs(node) / 1000),
    quotamesh_share_sum_ratio: (series) => series(largestShareSum(node)),
    quotamesh_lanes: (series) => {
      for (const link of ['linked', 'held', 'fallback']) {
        series(servedLanes(node).filter((lane) => lane.link === link).length, { link });
      }
    },
    quotamesh_busy_lanes: (series) => series(status().busyLanes),
    quotamesh_backends: (series) => {
      const states = Array.from(node.loop.coordinator?.targets.backends.all() ?? [], stateOf);
      for (const state of ['well', 'saturated', 'silent']) {
        series(states.filter((one) => one === state).length, { state });
      }
    },
    ...busyReadings(node),
    quotamesh_backend_polls_total: (series) => {
      for (const [outcome, count] of Object.entries(node.poller.polls)) series(count, { outcome });
    },
    quotamesh_cost_lanes: (series) => series(node.loop.coordinator?.costs.laneCount ?? 0),
    ...epochReadings(status),
    quotamesh_isolated_partitions: (series) => series(isolatedPartitions(node)),
    quotamesh_rounds_total: (series) => series(node.loop.rounds.count),
    quotamesh_round_seconds_total: (series) => series(node.loop.rounds.totalMs / 1000),
    ...poolReadings(status),
    quotamesh_last_rebalancing_seconds: (series) => series(status().lastRebalancingMs / 1000),
    quotamesh_report_round_trip_seconds: (series) => series(status().reportRoundTripMs / 1000),
    ...reportReadings(node),
    quotamesh_unhandled_rejections_total: (series) => {
      if (incidents !== undefined) series(incidents.unhandledRejections);
    },
  };
}

function busyReadings({
  busy,
}: UsedParts): Readonly<Record<'quotamesh_backend_busiest_ratio' | 'quotamesh_backend_busy_groups', Reading>> {
  return {
    quotamesh_backend_busiest_ratio: (series) => {
      for (const { backend, busiestRatio } of busy.backends) series(busiestRatio, { backend });
    },
    quotamesh_backend_busy_groups: (series) => {
      for (const { backend, count } of busy.backends) series(count, { backend });
    },
  };
}

function reportReadings({
  loop,
}: UsedParts): Readonly<
  Record<'quotamesh_reports_written_total' | 'quotamesh_reports_waiting' | 'quotamesh_reports_held_back_total', Reading>
> {
  return {
    quotamesh_reports_written_total: (series) => {
      for (const [reason, count] of Object.entries(loop.coordinator?.reportsWritten ?? {})) series(count, { reason });
    },
    quotamesh_reports_waiting: (series) => series(loop.coordinator?.reportBudget.waiting ?? 0),
    quotamesh_reports_held_back_total: (series) => series(loop.coordinator?.reportBudget.heldBack ?? 0),
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

function servedLanes(node: UsedParts): readonly LaneState[] {
  return [...(node.loop.coordinator?.lanes.values() ?? [])];
}

function isolatedPartitions(node: UsedParts): number {
  return node.loop.coordinator?.link.isolatedPartitions.length ?? 0;
}

function stateOf({ isSilent, ratio }: Backend): string {
  if (isSilent) return 'silent';
  return ratio === HEALTHY ? 'well' : 'saturated';
}

function longestSilenceMs({ members }: NodeStatus): number {
  return Math.max(0, ...members.filter(({ state }) => state === 'alive').map(({ silentMs }) => silentMs));
}

function oldestReportMs(node: UsedParts): number {
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

function epochReadings(status: () => NodeStatus): Readonly<Record<'quotamesh_topic_epochs_total', Reading>> {
  return {
    quotamesh_topic_epochs_total: (series) => {
      series(status().topic.epochChanges, { topic: 'reports' });
      series(status().registry.epochChanges, { topic: 'registry' });
    },
  };
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
