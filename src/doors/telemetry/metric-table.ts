import { REPORT_REASONS } from '../../core/report/report-reason.js';

export interface MetricRow {
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly labels?: readonly string[];
}

/**
 * All own metrics, by Prometheus' conventions (base units, `_total`). Registration, typed readings and
 * docs/reference/metrics.md follow from this table. All are read at the scrape from counters of the node.
 */
export const NODE_METRICS = {
  quotamesh_build_info: { type: 'gauge', help: 'Always 1; the version.', labels: ['version', 'node_version'] },
  quotamesh_node_info: { type: 'gauge', help: 'Always 1; who this is.', labels: ['cluster', 'node', 'topic'] },
  quotamesh_ready: { type: 'gauge', help: '1 while the node decides, else 0.' },
  quotamesh_degraded: {
    type: 'gauge',
    help: '1 while something is not as it should be. topic-lost: the topic cannot be read or written; topic-throttled: the store holds own requests back by a quota of its own; alone: the topic was away when the node started, which takes quota / the number of nodes known last; isolated: own records do not come back; epoch: the topic holds another log, and shares are held until everybody has spoken in it; partitions-added: the topic has more than this cluster works with, and nodes that start are refused; topic-settings: somebody has set the topic, or that of the registry, so that it may lose records or nodes that start are refused; registry-lost: that of the registry; reports-wait: more reports are due than timing.maxReportsPerSecond lets this node write, for over 5 s; attachment-dangling: a scope is attached to what does not exist.',
    labels: ['reason'],
  },
  quotamesh_incarnation: { type: 'gauge', help: 'Lives of this node id as counted in the topic.' },
  quotamesh_members: { type: 'gauge', help: 'Nodes of the cluster as this one sees them.', labels: ['state'] },
  quotamesh_longest_silence_seconds: {
    type: 'gauge',
    help: 'Time since the last sign of life of the alive node that has been silent for longest, this one included.',
  },
  quotamesh_oldest_report_age_seconds: {
    type: 'gauge',
    help: 'Age of the oldest report of an alive node about a lane served here. Unchanged groups are reported again only after timing.forcedReportMs.',
  },
  quotamesh_share_sum_ratio: {
    type: 'gauge',
    help: 'The largest sum of all nodes’ shares divided by the target, over at most 1,000 lanes served here; above 1 the strategy overshoots.',
  },
  quotamesh_lanes: {
    type: 'gauge',
    help: 'Lanes (direction of a group) served here, by isolation state: linked, held (share kept), fallback (isolation policy).',
    labels: ['link'],
  },
  quotamesh_busy_lanes: {
    type: 'gauge',
    help: 'Lanes served here that saturated backends hold below their quota; quotamesh_group_busy tells which.',
  },
  quotamesh_backends: {
    type: 'gauge',
    help: 'Backends with known health: well, saturated (they limit), silent (nobody has spoken of them for limiting.healthValidMs).',
    labels: ['state'],
  },
  quotamesh_backend_busiest_ratio: {
    type: 'gauge',
    help: 'The busiest group’s part of a backend’s cost, 0 to 1; GET /v1/backends and the log line of busy groups name it.',
    labels: ['backend'],
  },
  quotamesh_backend_busy_groups: {
    type: 'gauge',
    help: 'Groups and directions that each cost a backend at least a hundredth of what it does; a log line names them every five seconds.',
    labels: ['backend'],
  },
  quotamesh_backend_polls_total: {
    type: 'counter',
    help: 'Polls of backends by this node: good, failed (no answer, garbage, not a number).',
    labels: ['outcome'],
  },
  quotamesh_cost_lanes: {
    type: 'gauge',
    help: 'Lanes whose costs are kept here; at costs.maxLanes one more is refused.',
  },
  quotamesh_topic_epochs_total: {
    type: 'counter',
    help: 'How often a topic turned out to hold another log than before: made anew, shortened, or restored from elsewhere.',
    labels: ['topic'],
  },
  quotamesh_isolated_partitions: { type: 'gauge', help: 'Partitions through which own records do not come back.' },
  quotamesh_rounds_total: { type: 'counter', help: 'Rounds (sample, report, converge).' },
  quotamesh_round_seconds_total: { type: 'counter', help: 'Time spent in rounds; divided by rounds: their mean.' },
  quotamesh_last_rebalancing_seconds: {
    type: 'gauge',
    help: 'How long the last rebalancing took, from the first share that moved until the last.',
  },
  quotamesh_pool_size: {
    type: 'gauge',
    help: 'What groups of strategy equal divide by; no series where there are none.',
  },
  quotamesh_pool_agreed: {
    type: 'gauge',
    help: '1 while all nodes have applied the size of the pool; 0 while newcomers wait and the size cannot fall.',
  },
  quotamesh_report_round_trip_seconds: {
    type: 'gauge',
    help: 'From appending the last own record to reading it back; 0 before the first.',
  },
  quotamesh_reports_written_total: {
    type: 'counter',
    help: `Reports of this life of the node, by what made each due first. ${Object.entries(REPORT_REASONS)
      .map((row) => row.join(': '))
      .join('; ')}.`,
    labels: ['reason'],
  },
  quotamesh_reports_waiting: {
    type: 'gauge',
    help: 'Reports that are due and wait, because this node writes timing.maxReportsPerSecond at most. A report tells of up to timing.groupsPerRecord groups.',
  },
  quotamesh_reports_held_back_total: {
    type: 'counter',
    help: 'Reports that had to wait for that, each counted once, however long it waited.',
  },
  quotamesh_unhandled_rejections_total: {
    type: 'counter',
    help: 'Failures inside libraries that the node has survived.',
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

export const TOPIC_METRICS = {
  quotamesh_topic_records_read_total: { type: 'counter', help: 'Records read, of all nodes.' },
  quotamesh_topic_read_bytes_total: { type: 'counter', help: 'Keys and values read.' },
  quotamesh_topic_records_appended_total: { type: 'counter', help: 'Own records appended.' },
  quotamesh_topic_appended_bytes_total: { type: 'counter', help: 'Keys and values appended.' },
  quotamesh_topic_appends_failed_total: {
    type: 'counter',
    help: 'Appends that were refused or not acknowledged in time.',
  },
  quotamesh_topic_reconnects_total: { type: 'counter', help: 'Times the topic came back after a loss.' },
  quotamesh_topic_foreign_entries_total: {
    type: 'counter',
    help: 'Entries in the store of the topic that no node has written; ignored (redis).',
  },
  quotamesh_topic_malformed_answers_total: {
    type: 'counter',
    help: 'Answers of the server that its protocol does not allow, or that were too long; each has ended its connection (kafka, redis).',
  },
  quotamesh_topic_throttled_seconds_total: {
    type: 'counter',
    help: "Time for which brokers held back this node's own requests, because its user or client id is above a client quota (kafka).",
  },
  quotamesh_topic_records_ignored_total: {
    type: 'counter',
    help: 'Records read and not used, by cause: what could not be decoded, what is old or repeated, and what claims too much.',
    labels: ['cause'],
  },
  quotamesh_topic_pending_appends: {
    type: 'gauge',
    help: 'Own records that wait to be appended; at most one per key.',
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

export const ADMISSION_METRICS = {
  quotamesh_admitted_messages_total: { type: 'counter', help: 'Messages admitted.', labels: ['direction'] },
  quotamesh_admitted_bytes_total: { type: 'counter', help: 'Bytes admitted.', labels: ['direction'] },
  quotamesh_attempted_messages_total: {
    type: 'counter',
    help: 'Messages asked for, retries of the same work not counted again.',
    labels: ['direction'],
  },
  quotamesh_attempted_bytes_total: {
    type: 'counter',
    help: 'Bytes asked for, retries of the same work not counted again.',
    labels: ['direction'],
  },
  quotamesh_refused_messages_total: {
    type: 'counter',
    help: 'Messages refused; of what waits once, when it begins to.',
    labels: ['direction'],
  },
  quotamesh_refused_bytes_total: { type: 'counter', help: 'Bytes of those.', labels: ['direction'] },
  quotamesh_exempt_requests_total: {
    type: 'counter',
    help: 'Requests of scopes that an attachment exempts: granted without a limit, and counted nowhere else.',
    labels: ['direction'],
  },
  quotamesh_exempt_messages_total: { type: 'counter', help: 'Messages of those.', labels: ['direction'] },
  quotamesh_exempt_bytes_total: { type: 'counter', help: 'Bytes of those.', labels: ['direction'] },
  quotamesh_refusals_total: {
    type: 'counter',
    help: 'Acquires refused for the quota; one that waits counts once, when it begins to.',
    labels: ['direction'],
  },
  quotamesh_level_refusals_total: {
    type: 'counter',
    help: 'Acquires refused by the limit of the node, of a topic (a part of the share included) or of a client; those of the groups are in quotamesh_refusals_total.',
    labels: ['level'],
  },
  quotamesh_would_refuse_total: {
    type: 'counter',
    help: 'Acquires granted, and messages that enforcers admitted, that the shadow of their group would have refused.',
    labels: ['direction'],
  },
  quotamesh_would_grant_total: {
    type: 'counter',
    help: 'Acquires refused at once that the shadow of their group would have granted.',
    labels: ['direction'],
  },
  quotamesh_held_back: {
    type: 'gauge',
    help: 'Asks and connections that wait for their turn now.',
    labels: ['direction'],
  },
  quotamesh_waits_total: {
    type: 'counter',
    help: 'Acquires that have waited, by how it ended: granted, or otherwise (time was up, aborted, stopped).',
    labels: ['outcome'],
  },
  quotamesh_waited_seconds_total: {
    type: 'counter',
    help: 'Time that they have waited; divided by waits: their mean.',
  },
  quotamesh_debt_messages: {
    type: 'gauge',
    help: 'Messages that accepted work has left as debt, over all groups.',
    labels: ['direction'],
  },
  quotamesh_debt_bytes: {
    type: 'gauge',
    help: 'Bytes that accepted work has left as debt, over all groups.',
    labels: ['direction'],
  },
  quotamesh_let_off_messages_total: {
    type: 'counter',
    help: 'Messages of work that could not be refused, beyond the debt of debtMs: nobody pays for them. Rising: a caller takes more than its node may owe.',
    labels: ['direction'],
  },
  quotamesh_let_off_bytes_total: {
    type: 'counter',
    help: 'The same in bytes.',
    labels: ['direction'],
  },
  quotamesh_enforcers: { type: 'gauge', help: 'Enforcers (docs/guide/enforce.md) that have parts at this node.' },
  quotamesh_enforcer_reports_total: { type: 'counter', help: 'Reports of enforcers that were taken.' },
  quotamesh_enforcer_lower_counts_total: {
    type: 'counter',
    help: 'Reports with lower counts than the life had told before: requests that others have passed on the way. Many are two processes with one name and life, of which only the higher counts are charged.',
  },
  quotamesh_enforcers_ended_total: {
    type: 'counter',
    help: 'Lives of enforcers that ended: silent (no report within their time to live), replaced (by a newer life).',
    labels: ['how'],
  },
  quotamesh_enforcer_reports_refused_total: {
    type: 'counter',
    help: 'Reports that were refused: of a life that was replaced, or for want of room.',
  },
  quotamesh_batches: { type: 'gauge', help: 'Batches (docs/guide/batches-and-refunds.md) that are open now.' },
  quotamesh_batches_granted_total: { type: 'counter', help: 'Batches granted, of the library and over HTTP.' },
  quotamesh_batches_ended_total: {
    type: 'counter',
    help: 'Batches by how they ended: refunded, or expired (with their window or time, or because their group has another limiter or window; all of it counts as used).',
    labels: ['outcome'],
  },
  quotamesh_refunds_refused_total: {
    type: 'counter',
    help: 'Refunds that gave nothing back: without a grant, late, twice, too large, or wrong.',
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

/** Metrics beside the HTTP listener. */
export const HTTP_METRICS = {
  quotamesh_http_acquires_total: {
    type: 'counter',
    help: 'Acquires over HTTP by outcome: granted, refused (429), not-ready (503), rejected (wrong requests, 4xx).',
    labels: ['outcome'],
  },
  quotamesh_http_connections: { type: 'gauge', help: 'Connections to the HTTP listener.' },
  quotamesh_http_held_bytes: {
    type: 'gauge',
    help: 'Memory of pipelined requests that wait, of bodies above 16 KiB on their way, and of answers above 16 KiB that are not taken yet; at most http.maxHeldBytes.',
  },
  quotamesh_http_connections_ended_total: {
    type: 'counter',
    help: 'Connections that the HTTP listener has ended, by reason: idle-full (idle, and a newcomer took its place at http.maxConnections), full (a newcomer, and none was idle), pipelined (more than http.maxPipelined), not-reading (http.notReadingMs), held-full (http.maxHeldBytes).',
    labels: ['reason'],
  },
  quotamesh_http_reservations: { type: 'gauge', help: 'Reservations over HTTP that are open now.' },
  quotamesh_http_reservations_ended_total: {
    type: 'counter',
    help: 'Reservations over HTTP by how they ended: committed, cancelled, expired (charged as estimated), full (refused, limits.maxReservations).',
    labels: ['outcome'],
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

/** Metrics of `quotamesh mqtt`. */
export const MQTT_METRICS = {
  quotamesh_mqtt_connections: { type: 'gauge', help: 'Connections.' },
  quotamesh_mqtt_throttled_connections: {
    type: 'gauge',
    help: 'Connections that are not read, by reason (docs/guide/mqtt.md); one may be held for several.',
    labels: ['reason'],
  },
  quotamesh_mqtt_throttled_seconds_total: {
    type: 'counter',
    help: 'Time for which connections were not read, of all together.',
  },
  quotamesh_mqtt_connects_total: { type: 'counter', help: 'CONNECT: accepted, refused.', labels: ['outcome'] },
  quotamesh_mqtt_publishes_total: {
    type: 'counter',
    help: 'Publishes that went on at once, after-waiting for quota, unlimited (no group), or were rejected.',
    labels: ['outcome'],
  },
  quotamesh_mqtt_dispatched_messages_total: { type: 'counter', help: 'Messages sent to subscribers.' },
  quotamesh_mqtt_dropped_messages_total: {
    type: 'counter',
    help: 'Messages not sent: QoS 0 beyond the bound of a subscriber’s queue, or larger than the group allows.',
  },
  quotamesh_mqtt_queued_messages: { type: 'gauge', help: 'Messages that wait for their subscriber.' },
  quotamesh_mqtt_pending_publishes: { type: 'gauge', help: 'Publishes admitted and not delivered yet.' },
  quotamesh_mqtt_pending_bytes: { type: 'gauge', help: 'Their payloads.' },
  quotamesh_mqtt_held_bytes: { type: 'gauge', help: 'Read from clients, and waiting; at most mqtt.maxHeldBytes.' },
  quotamesh_mqtt_kept_subscriptions: {
    type: 'gauge',
    help: 'Subscriptions: of sessions, and of clients that are connected without one.',
  },
  quotamesh_mqtt_kept_messages: {
    type: 'gauge',
    help: 'Messages kept: for a session until acknowledged or (QoS 2) released, retained for later subscribers.',
    labels: ['kind'],
  },
  quotamesh_mqtt_kept_bytes: { type: 'gauge', help: 'Their payloads.', labels: ['kind'] },
  quotamesh_mqtt_not_kept_total: {
    type: 'counter',
    help: 'Messages that were not kept because a bound was met (docs/guide/mqtt.md).',
    labels: ['kind'],
  },
  quotamesh_mqtt_disconnects_total: {
    type: 'counter',
    help: 'Connections ended by the broker or lost, by reason (docs/guide/mqtt.md).',
    labels: ['reason'],
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

const GROUP_LABELS = ['group', 'direction'] as const;

/** Metrics of the groups of `metrics.perGroup`; no quota, share, limit and sum where a dimension has no quota. */
export const GROUP_METRICS = {
  quotamesh_group_quota_messages_per_second: groupGauge('Configured quota of the cluster.'),
  quotamesh_group_quota_bytes_per_second: groupGauge('Configured quota of the cluster.'),
  quotamesh_group_target_messages_per_second: groupGauge('Cluster rate in force: quota, cost, backends and ramp.'),
  quotamesh_group_busy: groupGauge('1 while saturated backends hold it below its quota, else 0.'),
  quotamesh_group_ramp_messages_per_second: groupGauge('Where the ramp stands: a ceiling over the target.'),
  quotamesh_group_cluster_tokens_messages: groupGauge(
    'Messages in the cluster’s bucket; negative = a debt. No series where each node has a gate.',
  ),
  quotamesh_group_cluster_tokens_bytes: groupGauge(
    'Bytes in the cluster’s bucket; negative = a debt. No series where each node has a gate.',
  ),
  quotamesh_group_cluster_depth_messages: groupGauge('Messages that the cluster’s bucket holds at most.'),
  quotamesh_group_cluster_depth_bytes: groupGauge('Bytes that the cluster’s bucket holds at most.'),
  quotamesh_group_cluster_set_point_messages: groupGauge(
    'Messages that the cluster’s bucket returns to while it is busy.',
  ),
  quotamesh_group_cluster_set_point_bytes: groupGauge('Bytes that the cluster’s bucket returns to while it is busy.'),
  quotamesh_group_cluster_correction_messages_per_second: groupGauge(
    'What the cluster is given beyond the target, because its bucket is above the set point; negative = below.',
  ),
  quotamesh_group_cluster_correction_bytes_per_second: groupGauge(
    'What the cluster is given beyond the target, because its bucket is above the set point; negative = below.',
  ),
  quotamesh_group_charge_messages: groupGauge(
    'What this node has told to have taken of the cluster’s bucket beyond what was expected of it; negative = it left as much.',
  ),
  quotamesh_group_charge_bytes: groupGauge(
    'What this node has told to have taken of the cluster’s bucket beyond what was expected of it; negative = it left as much.',
  ),
  quotamesh_group_share_messages_per_second: groupGauge('Share that this node applies.'),
  quotamesh_group_share_bytes_per_second: groupGauge('Share that this node applies.'),
  quotamesh_group_limit_messages_per_second: groupGauge(
    'What a gate enforces; where the cluster has a bucket, that decides.',
  ),
  quotamesh_group_limit_bytes_per_second: groupGauge(
    'What a gate enforces; where the cluster has a bucket, that decides.',
  ),
  quotamesh_group_share_sum_messages_per_second: groupGauge('Σ of all nodes’ shares as this node sees it.'),
  quotamesh_group_share_sum_bytes_per_second: groupGauge('Σ of all nodes’ shares as this node sees it.'),
  quotamesh_group_usage_messages_per_second: groupGauge('Usage of this node as it was reported last.'),
  quotamesh_group_usage_bytes_per_second: groupGauge('Usage of this node as it was reported last.'),
  quotamesh_group_demand_messages_per_second: groupGauge('Demand of this node as it was reported last.'),
  quotamesh_group_demand_bytes_per_second: groupGauge('Demand of this node as it was reported last.'),
  quotamesh_group_admitted_messages_total: groupCounter('Messages admitted by this node.'),
  quotamesh_group_admitted_bytes_total: groupCounter('Bytes admitted by this node.'),
  quotamesh_group_refused_messages_total: groupCounter('Messages refused by this node.'),
  quotamesh_group_refused_bytes_total: groupCounter('Bytes refused by this node.'),
  quotamesh_group_refusals_total: groupCounter('Acquires refused by this node for the quota.'),
  quotamesh_group_would_refuse_total: groupCounter(
    'Acquires granted, and messages that enforcers admitted, that the shadow of the group would have refused.',
  ),
  quotamesh_group_would_refuse_messages_total: groupCounter('Messages of those.'),
  quotamesh_group_would_grant_total: groupCounter(
    'Acquires refused at once that the shadow of the group would have granted.',
  ),
  quotamesh_group_shadow_admitted_messages_total: groupCounter('Messages that the shadow of the group has admitted.'),
  quotamesh_group_shadow_refused_messages_total: groupCounter('Messages that the shadow of the group has refused.'),
  quotamesh_group_held_back: groupGauge('Asks and connections that wait for their turn now.'),
  quotamesh_group_debt_messages: groupGauge('Messages that accepted work has left as debt.'),
  quotamesh_group_debt_bytes: groupGauge('Bytes that accepted work has left as debt.'),
} as const satisfies Readonly<Record<string, MetricRow>>;

function groupGauge(help: string) {
  return { type: 'gauge', help, labels: GROUP_LABELS } as const;
}

function groupCounter(help: string) {
  return { type: 'counter', help, labels: GROUP_LABELS } as const;
}
