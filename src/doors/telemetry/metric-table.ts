import { REPORT_REASONS } from '../../core/report/report-reason.js';

export interface MetricRow {
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly labels: readonly string[];
}

export function gauge(help: string, ...labels: readonly string[]): MetricRow {
  return { type: 'gauge', help, labels };
}

export function counter(help: string, ...labels: readonly string[]): MetricRow {
  return { type: 'counter', help, labels };
}

/**
 * All own metrics, by Prometheus' conventions (base units, `_total`). Registration, typed readings and
 * docs/reference/metrics.md follow from this table. All are read at the scrape from counters of the node.
 */
export const NODE_METRICS = {
  quotamesh_build_info: gauge('Always 1; the version.', 'version', 'node_version'),
  quotamesh_node_info: gauge('Always 1; who this is.', 'cluster', 'node', 'topic'),
  quotamesh_ready: gauge('1 while the node decides, else 0.'),
  quotamesh_degraded: gauge(
    '1 while something is not as it should be. topic-lost: the topic cannot be read or written; topic-throttled: the store holds own requests back by a quota of its own; alone: the topic was away when the node started, which takes quota / the number of nodes known last; isolated: own records do not come back; epoch: the topic holds another log, and shares are held until everybody has spoken in it; partitions-added: the topic has more than this cluster works with, and nodes that start are refused; topic-settings: somebody has set the topic, or that of the registry, so that it may lose records or nodes that start are refused; registry-lost: that of the registry; reports-wait: more reports are due than timing.maxReportsPerSecond lets this node write, for over 5 s; attachment-dangling: a scope is attached to what does not exist.',
    'reason',
  ),
  quotamesh_incarnation: gauge('Lives of this node id as counted in the topic.'),
  quotamesh_members: gauge('Nodes of the cluster as this one sees them.', 'state'),
  quotamesh_longest_silence_seconds: gauge(
    'Time since the last sign of life of the alive node that has been silent for longest, this one included.',
  ),
  quotamesh_oldest_report_age_seconds: gauge(
    'Age of the oldest report of an alive node about a lane served here. Unchanged groups are reported again only after timing.forcedReportMs.',
  ),
  quotamesh_share_sum_ratio: gauge(
    'The largest sum of all nodes’ shares divided by the target, over at most 1,000 lanes served here; above 1 the strategy overshoots.',
  ),
  quotamesh_lanes: gauge(
    'Lanes (direction of a group) served here, by isolation state: linked, held (share kept), fallback (isolation policy).',
    'link',
  ),
  quotamesh_busy_lanes: gauge(
    'Lanes served here that saturated backends hold below their quota; quotamesh_group_busy tells which.',
  ),
  quotamesh_backends: gauge(
    'Backends with known health: well, saturated (they limit), silent (nobody has spoken of them for limiting.healthValidMs).',
    'state',
  ),
  quotamesh_backend_busiest_ratio: gauge(
    'The busiest group’s part of a backend’s cost, 0 to 1; GET /v1/backends and the log line of busy groups name it.',
    'backend',
  ),
  quotamesh_backend_busy_groups: gauge(
    'Groups and directions that each cost a backend at least a hundredth of what it does; a log line names them every five seconds.',
    'backend',
  ),
  quotamesh_backend_polls_total: counter(
    'Polls of backends by this node: good, failed (no answer, garbage, not a number).',
    'outcome',
  ),
  quotamesh_cost_lanes: gauge('Lanes whose costs are kept here; at costs.maxLanes one more is refused.'),
  quotamesh_topic_epochs_total: counter(
    'The number of times that a topic turned out to hold another log than before: made anew, shortened, or restored from elsewhere.',
    'topic',
  ),
  quotamesh_isolated_partitions: gauge('Partitions through which own records do not come back.'),
  quotamesh_rounds_total: counter('Rounds (sample, report, converge).'),
  quotamesh_round_seconds_total: counter('Time spent in rounds; divided by rounds: their mean.'),
  quotamesh_last_rebalancing_seconds: gauge(
    'The seconds that the last rebalancing took, from the first share that moved until the last.',
  ),
  quotamesh_pool_size: gauge('The number that divides groups of strategy equal; no series where there are none.'),
  quotamesh_pool_agreed: gauge(
    '1 while all nodes have applied the size of the pool; 0 while newcomers wait and the size cannot fall.',
  ),
  quotamesh_report_round_trip_seconds: gauge(
    'From appending the last own record to reading it back; 0 before the first.',
  ),
  quotamesh_reports_written_total: counter(
    `Reports of this life of the node, by what made each due first. ${Object.entries(REPORT_REASONS)
      .map((row) => row.join(': '))
      .join('; ')}.`,
    'reason',
  ),
  quotamesh_reports_waiting: gauge(
    'Reports that are due and wait, because this node writes timing.maxReportsPerSecond at most. A report tells of up to timing.groupsPerRecord groups.',
  ),
  quotamesh_reports_held_back_total: counter(
    'Reports that had to wait for that, each counted once, however long it waited.',
  ),
  quotamesh_unhandled_rejections_total: counter('Failures inside libraries that the node has survived.'),
};

/** Metrics of YAML, the registry and templates of keys. */
export const GROUP_SOURCE_METRICS = {
  quotamesh_config_reloads_total: counter(
    'Configurations read after the start: taken, refused (a mistake; the groups stay as they were).',
    'outcome',
  ),
  quotamesh_config_refused: gauge('1 while the files of the configuration have a mistake.'),
  quotamesh_config_needs_restart: gauge(
    'Settings that the files have differently from what is in force; only a restart changes them.',
  ),
  quotamesh_config_differing_groups: gauge('Groups that the YAML of other nodes has otherwise, or not at all.'),
  quotamesh_config_hidden: gauge(
    'Groups, key templates and scopes of the files that definitions of run time hide: the files count no more there.',
  ),
  quotamesh_groups: gauge('Groups in force.', 'origin'),
  quotamesh_keys_live: gauge('Keys in memory (keys.maxLive).', 'template'),
  quotamesh_keys_loud: gauge(
    'Keys that are groups like any other now, because this or another node uses more than what is spent without publishing it.',
    'template',
  ),
  quotamesh_keys_made_total: counter('Keys that their first use has made here.', 'template'),
  quotamesh_keys_forgotten_total: counter('Keys forgotten after their buckets were full again.', 'template'),
  quotamesh_keys_refused_total: counter(
    'Requests refused because there was no room for their key (keys.maxLive, keys.maxLoud).',
    'template',
  ),
  quotamesh_keys_over_quota_total: counter('Requests refused by the quota of their key.', 'template'),
  quotamesh_keys_limits_refused_total: counter(
    'Limits that came with requests and were refused: by a caller who may not, above allowLimits, or no limits at all.',
    'template',
  ),
  quotamesh_keys_granted_unpublished_total: counter(
    'Requests granted of what this node may spend without telling others.',
    'template',
  ),
  quotamesh_registry_ready: gauge('1 when all that was in the registry at the start has been read, or there is none.'),
  quotamesh_registry_offset: gauge(
    'Offset after the last record read of the registry; the difference between nodes is how far one lags behind.',
  ),
  quotamesh_registry_revision: gauge('Revision of the newest change that was applied here.'),
  quotamesh_registry_changes_total: counter(
    'Changes asked for at this node, by outcome: made, late (somebody else was faster), invalid, unconfirmed, too-fast (429, registry.changesPerSecond).',
    'outcome',
  ),
  quotamesh_registry_change_seconds: gauge(
    'The seconds that the last change asked for here took until the log had decided; 0 before the first.',
  ),
  quotamesh_registry_applied_total: counter('Changes of groups applied here, of all nodes.'),
  quotamesh_registry_refused_groups: gauge('Groups whose definition this node cannot use.'),
  quotamesh_registry_records_ignored_total: counter('Records of the registry that mean nothing here.'),
  quotamesh_registry_audited_changes: gauge('Changes that GET /v1/audit can tell; registry.auditedChanges at most.'),
  quotamesh_registry_attachments: gauge(
    'Scopes that were attached at run time; at registry.maxAttachments one more is refused.',
  ),
};

export const ACCESS_METRICS = {
  quotamesh_auth_enabled: gauge('1 while `auth:` is in force, 0 while every caller has every role.'),
  quotamesh_auth_failures_total: counter(
    'Requests and logins that were refused: missing (nothing shown), unknown (wrong token, certificate without rule), untrusted (certificate of another authority), limited (too many failures of the address), denied (known, without the role or the tenant).',
    'listener',
    'reason',
  ),
};

export const TOPIC_METRICS = {
  quotamesh_topic_records_read_total: counter('Records read, of all nodes.'),
  quotamesh_topic_read_bytes_total: counter('Keys and values read.'),
  quotamesh_topic_records_appended_total: counter('Own records appended.'),
  quotamesh_topic_appended_bytes_total: counter('Keys and values appended.'),
  quotamesh_topic_appends_failed_total: counter('Appends that were refused or not acknowledged in time.'),
  quotamesh_topic_reconnects_total: counter('Times the topic came back after a loss.'),
  quotamesh_topic_foreign_entries_total: counter(
    'Entries in the store of the topic that no node has written; ignored (redis).',
  ),
  quotamesh_topic_malformed_answers_total: counter(
    'Answers of the server that its protocol does not allow, or that were too long; each has ended its connection (kafka, redis).',
  ),
  quotamesh_topic_throttled_seconds_total: counter(
    "Time for which brokers held back this node's own requests, because its user or client id is above a client quota (kafka).",
  ),
  quotamesh_topic_records_ignored_total: counter(
    'Records read and not used, by cause: what could not be decoded, what is old or repeated, and what claims too much.',
    'cause',
  ),
  quotamesh_topic_pending_appends: gauge('Own records that wait to be appended; at most one per key.'),
};

/** Metrics of signed records (topic.hmac). */
export const SIGNATURE_METRICS = {
  quotamesh_topic_verified_records_total: counter(
    'Records read that this cluster has signed, by key: key, next-key, previous-key.',
    'log',
    'signer',
  ),
  quotamesh_topic_unverified_records_total: counter(
    'Records read that this cluster has not signed: unsigned, unknown-key, wrong-signature. Ignored with topic.hmac.verify: require.',
    'log',
    'cause',
  ),
  quotamesh_topic_unverified_keys: gauge(
    'Keys of the topic whose newest record is signed with no key of ours (signer none), or with the previous one; at most 10,000 are counted.',
    'log',
    'signer',
  ),
  quotamesh_topic_signed_apart: gauge(
    '1 while other nodes write and none of them signs as this one does: this node is not ready, or isolated. Look at topic.hmac.key.',
    'log',
  ),
  quotamesh_topic_strangers: gauge(
    'The number of nodes that write to the topic of the reports and do not sign as this one does.',
    'log',
  ),
};

export const ADMISSION_METRICS = {
  quotamesh_admitted_messages_total: counter('Messages admitted.', 'direction'),
  quotamesh_admitted_bytes_total: counter('Bytes admitted.', 'direction'),
  quotamesh_attempted_messages_total: counter(
    'Messages asked for, retries of the same work not counted again.',
    'direction',
  ),
  quotamesh_attempted_bytes_total: counter('Bytes asked for, retries of the same work not counted again.', 'direction'),
  quotamesh_refused_messages_total: counter('Messages refused; of what waits once, when it begins to.', 'direction'),
  quotamesh_refused_bytes_total: counter('Bytes of those.', 'direction'),
  quotamesh_exempt_requests_total: counter(
    'Requests of scopes that an attachment exempts: granted without a limit, and counted nowhere else.',
    'direction',
  ),
  quotamesh_exempt_messages_total: counter('Messages of those.', 'direction'),
  quotamesh_exempt_bytes_total: counter('Bytes of those.', 'direction'),
  quotamesh_refusals_total: counter(
    'Acquires refused for the quota; one that waits counts once, when it begins to.',
    'direction',
  ),
  quotamesh_level_refusals_total: counter(
    'Acquires refused by the limit of the node, of a topic (a part of the share included) or of a client; those of the groups are in quotamesh_refusals_total.',
    'level',
  ),
  quotamesh_would_refuse_total: counter(
    'Acquires granted, and messages that enforcers admitted, that the shadow of their group would have refused.',
    'direction',
  ),
  quotamesh_would_grant_total: counter(
    'Acquires refused at once that the shadow of their group would have granted.',
    'direction',
  ),
  quotamesh_held_back: gauge('Asks and connections that wait for their turn now.', 'direction'),
  quotamesh_waits_total: counter(
    'Acquires that have waited, by how it ended: granted, or otherwise (time was up, aborted, stopped).',
    'outcome',
  ),
  quotamesh_waited_seconds_total: counter('Time that they have waited; divided by waits: their mean.'),
  quotamesh_debt_messages: gauge('Messages that accepted work has left as debt, over all groups.', 'direction'),
  quotamesh_debt_bytes: gauge('Bytes that accepted work has left as debt, over all groups.', 'direction'),
  quotamesh_let_off_messages_total: counter(
    'Messages of work that could not be refused, beyond the debt of debtMs: nobody pays for them. Rising: a caller takes more than its node may owe.',
    'direction',
  ),
  quotamesh_let_off_bytes_total: counter('The same in bytes.', 'direction'),
  quotamesh_enforcers: gauge('Enforcers (docs/guide/enforce.md) that have parts at this node.'),
  quotamesh_enforcer_reports_total: counter('Reports of enforcers that were taken.'),
  quotamesh_enforcer_lower_counts_total: counter(
    'Reports with lower counts than the life had told before: requests that others have passed on the way. Many are two processes with one name and life, of which only the higher counts are charged.',
  ),
  quotamesh_enforcers_ended_total: counter(
    'Lives of enforcers that ended: silent (no report within their time to live), replaced (by a newer life).',
    'how',
  ),
  quotamesh_enforcer_reports_refused_total: counter(
    'Reports that were refused: of a life that was replaced, or for want of room.',
  ),
  quotamesh_batches: gauge('Batches (docs/guide/batches-and-refunds.md) that are open now.'),
  quotamesh_batches_granted_total: counter('Batches granted, of the library and over HTTP.'),
  quotamesh_batches_ended_total: counter(
    'Batches by how they ended: refunded, or expired (with their window or time, or because their group has another limiter or window; all of it counts as used).',
    'outcome',
  ),
  quotamesh_refunds_refused_total: counter(
    'Refunds that gave nothing back: without a grant, late, twice, too large, or wrong.',
  ),
};

export const HTTP_METRICS = {
  quotamesh_http_acquires_total: counter(
    'Acquires over HTTP by outcome: granted, refused (429), not-ready (503), rejected (wrong requests, 4xx).',
    'outcome',
  ),
  quotamesh_http_connections: gauge('Connections to the HTTP listener.'),
  quotamesh_http_held_bytes: gauge(
    'Memory of pipelined requests that wait, of bodies above 16 KiB on their way, and of answers above 16 KiB that are not taken yet; at most http.maxHeldBytes.',
  ),
  quotamesh_http_connections_ended_total: counter(
    'Connections that the HTTP listener has ended, by reason: idle-full (idle, and a newcomer took its place at http.maxConnections), full (a newcomer, and none was idle), pipelined (more than http.maxPipelined), not-reading (http.notReadingMs), held-full (http.maxHeldBytes).',
    'reason',
  ),
  quotamesh_http_reservations: gauge('Reservations over HTTP that are open now.'),
  quotamesh_http_reservations_ended_total: counter(
    'Reservations over HTTP by how they ended: committed, cancelled, expired (charged as estimated), full (refused, limits.maxReservations).',
    'outcome',
  ),
};

export const MQTT_METRICS = {
  quotamesh_mqtt_connections: gauge('Connections.'),
  quotamesh_mqtt_throttled_connections: gauge(
    'Connections that are not read, by reason (docs/guide/mqtt.md); one may be held for several.',
    'reason',
  ),
  quotamesh_mqtt_throttled_seconds_total: counter('Time for which connections were not read, of all together.'),
  quotamesh_mqtt_connects_total: counter('CONNECT: accepted, refused.', 'outcome'),
  quotamesh_mqtt_publishes_total: counter(
    'Publishes that went on at once, after-waiting for quota, unlimited (no group), or were rejected.',
    'outcome',
  ),
  quotamesh_mqtt_dispatched_messages_total: counter('Messages sent to subscribers.'),
  quotamesh_mqtt_dropped_messages_total: counter(
    'Messages not sent: QoS 0 beyond the bound of a subscriber’s queue, or larger than the group allows.',
  ),
  quotamesh_mqtt_queued_messages: gauge('Messages that wait for their subscriber.'),
  quotamesh_mqtt_pending_publishes: gauge('Publishes admitted and not delivered yet.'),
  quotamesh_mqtt_pending_bytes: gauge('Their payloads and topics, and 256 bytes each.'),
  quotamesh_mqtt_held_bytes: gauge(
    'Read from clients and not handed on, or not read by them yet, with 256 bytes per message; at most mqtt.maxHeldBytes.',
  ),
  quotamesh_mqtt_kept_subscriptions: gauge(
    'Subscriptions: of sessions, and of clients that are connected without one; a filter counts once more for each 256 bytes.',
  ),
  quotamesh_mqtt_kept_messages: gauge(
    'Messages kept: for a session until acknowledged or (QoS 2) released, retained for later subscribers.',
    'kind',
  ),
  quotamesh_mqtt_kept_bytes: gauge('Their payloads and topics, and 256 bytes each.', 'kind'),
  quotamesh_mqtt_not_kept_total: counter(
    'Messages that were not kept because a bound was met (docs/guide/mqtt.md).',
    'kind',
  ),
  quotamesh_mqtt_disconnects_total: counter(
    'Connections ended by the broker or lost, by reason (docs/guide/mqtt.md).',
    'reason',
  ),
};

/** Metrics of the groups of `metrics.perGroup`; no quota, share, limit and sum where a dimension has no quota. */
export const GROUP_METRICS = {
  quotamesh_group_quota_messages_per_second: groupGauge('Configured quota of the cluster.'),
  quotamesh_group_quota_bytes_per_second: groupGauge('Configured quota of the cluster.'),
  quotamesh_group_target_messages_per_second: groupGauge('Cluster rate in force: quota, cost, backends and ramp.'),
  quotamesh_group_busy: groupGauge('1 while saturated backends hold it below its quota, else 0.'),
  quotamesh_group_ramp_messages_per_second: groupGauge('The rate of the ramp now: a ceiling over the target.'),
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
    'The rate that the cluster is given beyond the target, because its bucket is above the set point; negative = below.',
  ),
  quotamesh_group_cluster_correction_bytes_per_second: groupGauge(
    'The rate that the cluster is given beyond the target, because its bucket is above the set point; negative = below.',
  ),
  quotamesh_group_charge_messages: groupGauge(
    'The amount that this node has reported to have taken of the cluster’s bucket beyond its expected part; negative = it left as much.',
  ),
  quotamesh_group_charge_bytes: groupGauge(
    'The amount that this node has reported to have taken of the cluster’s bucket beyond its expected part; negative = it left as much.',
  ),
  quotamesh_group_share_messages_per_second: groupGauge('Share that this node applies.'),
  quotamesh_group_share_bytes_per_second: groupGauge('Share that this node applies.'),
  quotamesh_group_limit_messages_per_second: groupGauge(
    'The rate that a gate enforces; where the cluster has a bucket, that decides.',
  ),
  quotamesh_group_limit_bytes_per_second: groupGauge(
    'The rate that a gate enforces; where the cluster has a bucket, that decides.',
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
};

function groupGauge(help: string): MetricRow {
  return gauge(help, 'group', 'direction');
}

function groupCounter(help: string): MetricRow {
  return counter(help, 'group', 'direction');
}
