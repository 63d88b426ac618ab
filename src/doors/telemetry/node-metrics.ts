import type { LaneState } from '../../core/account/lanes/lane-state.js';
import { BYTES, MESSAGES } from '../../core/base/vocabulary.js';
import { REPORT_REASONS } from '../../core/report/report-reason.js';
import type { Backend } from '../../core/target/backend-book.js';
import { HEALTHY } from '../../core/target/throttling-ratio.js';
import type { NodeStatus } from '../../node/api/node-status.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import { DEGRADED, type DegradedKind } from '../../node/status/degraded.js';
import { LaneSummary } from '../../node/status/lane-summary.js';
import { byLabel, countedBy, counter, gauge, type Labelled, type MetricTable } from './metric.js';

/** A node at a scrape; its status is made once for all readings. */
export interface NodeNow {
  readonly node: NodeParts;
  readonly status: NodeStatus;
  readonly incidents?: { readonly unhandledRejections: number } | undefined;
}

/** Degradations that no other metric shows, and what each means. */
const ALERTED = {
  'topic-lost': 'the topic cannot be read or written',
  'topic-throttled': 'the store holds own requests back by a quota of its own',
  alone: 'the topic was away when the node started, which takes quota / the number of nodes known last',
  isolated: 'own records do not come back',
  epoch: 'the topic holds another log, and shares are held until everybody has published in it',
  'partitions-added': 'the topic has more than this cluster works with, and nodes that start are refused',
  'topic-settings':
    'somebody has set the topic, or that of the registry, so that it may lose records or nodes that start are refused',
  'registry-lost': 'that of the registry',
  'reports-wait': 'more reports are due than timing.maxReportsPerSecond lets this node write, for over 5 s',
  'attachment-dangling': 'a scope is attached to what does not exist',
  strict: 'this node admits nothing of a strict group, because it cannot know what it may spend',
  'strict-awaits': 'a group stays relaxed until other nodes say promise: strict',
  'rules-away': "the management server of Envoy's rules cannot be reached; those read last are in force",
} as const satisfies Partial<Record<DegradedKind, string>>;
const ALERTED_REASONS = Object.keys(ALERTED) as readonly (keyof typeof ALERTED)[];

/**
 * All own metrics, by Prometheus' conventions (base units, `_total`). Registration and docs/reference/metrics.md follow
 * from this table and those beside it. All are read at the scrape from counters of the node.
 */
export const NODE_METRICS: MetricTable<NodeNow> = {
  quotamesh_build_info: gauge('Always 1; the version.', {
    labels: ['version', 'node_version'],
    read: ({ node }, series) => series(1, { version: node.version, node_version: process.version }),
  }),
  quotamesh_node_info: gauge('Always 1; who this is.', {
    labels: ['cluster', 'node', 'topic'],
    read: ({ node: { config: of } }, series) => {
      series(1, { cluster: of.cluster, node: of.nodeId, topic: of.topic.kind });
    },
  }),
  quotamesh_ready: gauge('1 while the node decides, else 0.', ({ status }) => status.ready),
  quotamesh_degraded: gauge(
    `1 while something is not as it should be. ${listed(ALERTED)}.`,
    byLabel('reason', degradedOf),
  ),
  quotamesh_incarnation: gauge('Lives of this node id as counted in the topic.', ({ status }) => status.incarnation),
  quotamesh_members: gauge(
    'Nodes of the cluster as this one sees them.',
    countedBy('state', ['alive', 'left', 'expired'], ({ status }) => status.members.map(({ state }) => state)),
  ),
  quotamesh_longest_silence_seconds: gauge(
    'Time since the last sign of life of the alive node that has been silent for longest, this one included.',
    ({ status }) => longestSilenceMs(status) / 1000,
  ),
  quotamesh_oldest_report_age_seconds: gauge(
    'Age of the oldest report of an alive node about a lane served here. Unchanged groups are reported again only after timing.forcedReportMs.',
    ({ node }) => oldestReportMs(node) / 1000,
  ),
  quotamesh_share_sum_ratio: gauge(
    'The largest sum of all nodes’ shares divided by the target, over at most 1,000 lanes served here; above 1 the strategy overshoots.',
    ({ node }) => largestShareSum(node),
  ),
  quotamesh_lanes: gauge(
    'Lanes (direction of a group) served here, by isolation state: linked, held (share kept), fallback (isolation policy).',
    countedBy('link', ['linked', 'held', 'fallback'], ({ node }) => servedLanes(node).map(({ link }) => link)),
  ),
  quotamesh_busy_lanes: gauge(
    'Lanes served here that saturated backends hold below their quota; quotamesh_group_busy tells which.',
    ({ status }) => status.busyLanes,
  ),
  quotamesh_backends: gauge(
    'Backends with known health: well, saturated (they limit), silent (nobody has reported them for limiting.healthValidMs).',
    countedBy('state', ['well', 'saturated', 'silent'], ({ node: { loop } }) =>
      Array.from(loop.coordinator?.targets.backends.all() ?? [], stateOf),
    ),
  ),
  quotamesh_backend_busiest_ratio: gauge(
    'The busiest group’s part of a backend’s cost, 0 to 1; GET /v1/backends and the log line of busy groups name it.',
    perBackend(({ busiestRatio }) => busiestRatio),
  ),
  quotamesh_backend_busy_groups: gauge(
    'Groups and directions that each cost a backend at least a hundredth of what it does; a log line names them every five seconds.',
    perBackend(({ count }) => count),
  ),
  quotamesh_backend_polls_total: counter(
    'Polls of backends by this node: good, failed (no answer, garbage, not a number).',
    byLabel('outcome', ({ node }) => node.poller.polls),
  ),
  quotamesh_topic_epochs_total: counter(
    'The number of times that a topic turned out to hold another log than before: made anew, shortened, or restored from elsewhere.',
    byLabel('topic', ({ status: { topic, registry } }) => ({
      reports: topic.epochChanges,
      registry: registry.epochChanges,
    })),
  ),
  quotamesh_rounds_total: counter('Rounds (sample, report, converge).', ({ node: { loop } }) => loop.rounds.count),
  quotamesh_round_seconds_total: counter(
    'Time spent in rounds; divided by rounds: their mean.',
    ({ node: { loop } }) => loop.rounds.totalMs / 1000,
  ),
  quotamesh_pool_size: gauge(
    'The number that divides groups of strategy equal; no series where there are none.',
    ({ status: { pool } }) => pool?.size,
  ),
  quotamesh_pool_agreed: gauge(
    '1 while all nodes have applied the size of the pool; 0 while newcomers wait and the size cannot fall.',
    ({ status: { pool } }) => pool?.agreed,
  ),
  quotamesh_report_round_trip_seconds: gauge(
    'From appending the last own record to reading it back; 0 before the first.',
    ({ status }) => status.reportRoundTripMs / 1000,
  ),
  quotamesh_reports_written_total: counter(
    `Reports of this life of the node, by what made each due first. ${listed(REPORT_REASONS)}.`,
    byLabel('reason', ({ node: { loop } }) => loop.coordinator?.reportsWritten ?? {}),
  ),
  quotamesh_reports_waiting: gauge(
    'Reports that are due and wait, because this node writes timing.maxReportsPerSecond at most. A report has up to timing.groupsPerRecord groups.',
    ({ node: { loop } }) => loop.coordinator?.reportBudget.waiting ?? 0,
  ),
  quotamesh_unhandled_rejections_total: counter(
    'Failures inside libraries that the node has survived.',
    ({ incidents }) => incidents?.unhandledRejections,
  ),
};

/** Writes a table of meanings as text: `a: …; b: …`. */
function listed(meanings: Readonly<Record<string, string>>): string {
  return Object.entries(meanings)
    .map((row) => row.join(': '))
    .join('; ');
}

function perBackend(read: (backend: NodeParts['busy']['backends'][number]) => number): Labelled<NodeNow> {
  return byLabel('backend', ({ node: { busy } }) => {
    return Object.fromEntries(busy.backends.map((each) => [each.backend, read(each)]));
  });
}

function degradedOf({ node }: NodeNow): Readonly<Record<string, number>> {
  const nowMs = node.clock();
  return Object.fromEntries(
    ALERTED_REASONS.map((reason) => [reason, Math.min(1, DEGRADED[reason](node, nowMs).length)]),
  );
}

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
