/**
 * What a cluster of two healthy nodes exports, and for each alert what has to be otherwise at the first
 * so that it fires, it alone. Values are
 * promtool's: `1x70` is 1 for 70 minutes, `0+6x70` a counter that rises by 6 a minute.
 */
export interface AlertScene {
  readonly alert: string;
  /** In place of the healthy values, or besides. */
  readonly series: Readonly<Record<string, string>>;
}

export const MINUTES = 70;
const at = (metric: string, labels = '') => (labels === '' ? metric : `${metric}{${labels}}`);
const FOR = `x${MINUTES}`;
const still = (value: number) => `${value}${FOR}`;
/** A counter. */
const rising = (perMinute: number) => `0+${perMinute}${FOR}`;

/** Series of the nodes a and b of one cluster, which is a job of Prometheus; b has those that a is compared with. */
export function seriesOf(job: string, changed: AlertScene['series']): { series: string; values: string }[] {
  const a = Object.entries({ ...HEALTHY, ...changed });
  const b = Object.entries(HEALTHY).filter(([name]) => COMPARED.test(name));
  const on =
    (instance: string) =>
    ([name, values]: [string, string]) => {
      const [metric, labels = ''] = name.split('{');
      return { series: `${metric}{job="${job}",instance="${instance}"${labels ? `,${labels}` : '}'}`, values };
    };
  return [...a.map(on('a')), ...b.map(on('b'))];
}

const COMPARED = /^(up|quotamesh_(ready|node_info|members|registry_offset))\b/;

const HEALTHY: Readonly<Record<string, string>> = {
  [at('up')]: still(1),
  [at('quotamesh_node_info', 'topic="kafka"')]: still(1),
  [at('quotamesh_ready')]: still(1),
  [at('quotamesh_members', 'state="alive"')]: still(2),
  [at('quotamesh_incarnation')]: still(3),
  [at('quotamesh_share_sum_ratio')]: still(1),
  [at('quotamesh_pool_agreed')]: still(1),
  ...Object.fromEntries(
    ['topic-lost', 'isolated', 'partitions-added', 'topic-settings', 'registry-lost', 'attachment-dangling'].map(
      (reason) => [at('quotamesh_degraded', `reason="${reason}"`), still(0)],
    ),
  ),
  [at('quotamesh_lanes', 'link="fallback"')]: still(0),
  [at('quotamesh_topic_appends_failed_total')]: still(7),
  [at('quotamesh_topic_reconnects_total')]: still(2),
  [at('quotamesh_report_round_trip_seconds')]: still(0.004),
  // Records of other clusters on the same topic are as it should be.
  [at('quotamesh_topic_records_ignored_total', 'cause="other-cluster"')]: rising(600),
  [at('quotamesh_topic_records_ignored_total', 'cause="repeated"')]: rising(1),
  [at('quotamesh_topic_records_ignored_total', 'cause="bad-crc"')]: still(1),
  [at('quotamesh_topic_records_ignored_total', 'cause="too-many-backends"')]: still(0),
  [at('quotamesh_topic_records_ignored_total', 'cause="too-many-nodes"')]: still(0),
  [at('quotamesh_topic_unverified_records_total', 'log="reports",cause="unsigned"')]: still(4),
  [at('quotamesh_topic_foreign_entries_total')]: still(0),
  [at('quotamesh_config_refused')]: still(0),
  [at('quotamesh_config_needs_restart')]: still(0),
  [at('quotamesh_config_differing_groups')]: still(0),
  [at('quotamesh_registry_ready')]: still(1),
  [at('quotamesh_registry_offset')]: rising(60),
  [at('quotamesh_registry_refused_groups')]: still(0),
  [at('quotamesh_registry_records_ignored_total')]: still(0),
  [at('quotamesh_registry_changes_total', 'outcome="made"')]: rising(1),
  [at('quotamesh_registry_changes_total', 'outcome="unconfirmed"')]: still(0),
  [at('quotamesh_registry_changes_total', 'outcome="too-fast"')]: still(0),
  // Callers without any token (a browser, a probe) are counted and raise no alert.
  [at('quotamesh_auth_failures_total', 'listener="http",reason="missing"')]: rising(60),
  [at('quotamesh_auth_failures_total', 'listener="http",reason="unknown"')]: rising(1),
  [at('quotamesh_group_demand_messages_per_second', 'group="orders",direction="publish"')]: still(900),
  [at('quotamesh_group_target_messages_per_second', 'group="orders",direction="publish"')]: still(1000),
  [at('quotamesh_refused_messages_total', 'direction="publish"')]: rising(10),
  [at('quotamesh_attempted_messages_total', 'direction="publish"')]: rising(1000),
  [at('quotamesh_waited_seconds_total')]: rising(30),
  [at('quotamesh_waits_total', 'outcome="granted"')]: rising(30),
  [at('quotamesh_waits_total', 'outcome="otherwise"')]: rising(0),
  [at('quotamesh_http_acquires_total', 'outcome="granted"')]: rising(600),
  [at('quotamesh_http_acquires_total', 'outcome="rejected"')]: rising(1),
  [at('quotamesh_http_acquires_total', 'outcome="not-ready"')]: still(3),
  [at('quotamesh_http_connections_ended_total', 'reason="not-reading"')]: still(3),
  [at('quotamesh_http_reservations_ended_total', 'outcome="full"')]: still(0),
  [at('quotamesh_http_reservations_ended_total', 'outcome="expired"')]: rising(1),
  [at('quotamesh_backends', 'state="well"')]: still(3),
  [at('quotamesh_backends', 'state="saturated"')]: still(0),
  [at('quotamesh_backends', 'state="silent"')]: still(0),
  [at('quotamesh_backend_polls_total', 'outcome="failed"')]: still(1),
  [at('quotamesh_mqtt_connections')]: still(100),
  [at('quotamesh_mqtt_throttled_connections', 'reason="groupRate"')]: still(20),
  [at('quotamesh_mqtt_dropped_messages_total')]: still(0),
  [at('quotamesh_mqtt_not_kept_total', 'kind="session"')]: still(0),
  [at('quotamesh_kafka_writer')]: still(1),
  [at('quotamesh_kafka_quotas_unreadable')]: still(0),
  [at('quotamesh_kafka_exporters', 'state="fine"')]: still(3),
  [at('quotamesh_kafka_exporters', 'state="odd"')]: still(0),
  [at('quotamesh_kafka_exporters', 'state="silent"')]: still(0),
  [at('quotamesh_kafka_exporters', 'state="unknown"')]: still(0),
  [at('quotamesh_kafka_alterations_total', 'outcome="done"')]: rising(60),
  [at('quotamesh_kafka_alterations_total', 'outcome="failed"')]: still(2),
  [at('quotamesh_kafka_entities_left')]: still(0),
  [at('quotamesh_kafka_entities_left_out')]: still(0),
  [at('quotamesh_round_seconds_total')]: rising(3),
  [at('nodejs_eventloop_lag_p99_seconds')]: still(0.012),
  [at('process_open_fds')]: still(100),
  [at('process_max_fds')]: still(1000),
  [at('quotamesh_unhandled_rejections_total')]: still(0),
};

export const ALERT_SCENES: readonly AlertScene[] = [
  { alert: 'QuotameshDown', series: { [at('up')]: still(0) } },
  { alert: 'QuotameshNotReady', series: { [at('quotamesh_ready')]: still(0) } },
  { alert: 'QuotameshMembersMissing', series: { [at('quotamesh_members', 'state="alive"')]: still(1) } },
  { alert: 'QuotameshNodeStartsAgain', series: { [at('quotamesh_incarnation')]: rising(1) } },
  { alert: 'QuotameshShareSumAboveTarget', series: { [at('quotamesh_share_sum_ratio')]: still(1.1) } },
  { alert: 'QuotameshPoolNotAgreed', series: { [at('quotamesh_pool_agreed')]: still(0) } },
  {
    alert: 'QuotameshNodesRefused',
    series: { [at('quotamesh_topic_records_ignored_total', 'cause="too-many-nodes"')]: rising(6) },
  },
  { alert: 'QuotameshTopicLost', series: { [at('quotamesh_degraded', 'reason="topic-lost"')]: still(1) } },
  { alert: 'QuotameshIsolated', series: { [at('quotamesh_degraded', 'reason="isolated"')]: still(1) } },
  { alert: 'QuotameshIsolationPolicy', series: { [at('quotamesh_lanes', 'link="fallback"')]: still(4) } },
  {
    alert: 'QuotameshPartitionsAdded',
    series: { [at('quotamesh_degraded', 'reason="partitions-added"')]: still(1) },
  },
  { alert: 'QuotameshTopicSettings', series: { [at('quotamesh_degraded', 'reason="topic-settings"')]: still(1) } },
  { alert: 'QuotameshAppendsFailing', series: { [at('quotamesh_topic_appends_failed_total')]: rising(12) } },
  { alert: 'QuotameshTopicReconnecting', series: { [at('quotamesh_topic_reconnects_total')]: rising(1) } },
  { alert: 'QuotameshReportsSlow', series: { [at('quotamesh_report_round_trip_seconds')]: still(2) } },
  { alert: 'QuotameshStartedAlone', series: { [at('quotamesh_degraded', 'reason="alone"')]: still(1) } },
  { alert: 'QuotameshTopicThrottled', series: { [at('quotamesh_degraded', 'reason="topic-throttled"')]: still(1) } },
  { alert: 'QuotameshReportsWait', series: { [at('quotamesh_degraded', 'reason="reports-wait"')]: still(1) } },
  {
    alert: 'QuotameshRecordsUnreadable',
    series: { [at('quotamesh_topic_records_ignored_total', 'cause="newer-wire-version"')]: rising(1) },
  },
  {
    alert: 'QuotameshRecordsUnsigned',
    series: { [at('quotamesh_topic_unverified_records_total', 'log="reports",cause="unsigned"')]: rising(1) },
  },
  { alert: 'QuotameshForeignEntries', series: { [at('quotamesh_topic_foreign_entries_total')]: rising(1) } },
  { alert: 'QuotameshConfigRefused', series: { [at('quotamesh_config_refused')]: still(1) } },
  { alert: 'QuotameshConfigNeedsRestart', series: { [at('quotamesh_config_needs_restart')]: still(2) } },
  { alert: 'QuotameshYamlDiffers', series: { [at('quotamesh_config_differing_groups')]: still(1) } },
  { alert: 'QuotameshRegistryLost', series: { [at('quotamesh_degraded', 'reason="registry-lost"')]: still(1) } },
  { alert: 'QuotameshRegistryNotRead', series: { [at('quotamesh_registry_ready')]: still(0) } },
  { alert: 'QuotameshRegistryBehind', series: { [at('quotamesh_registry_offset')]: still(0) } },
  { alert: 'QuotameshRegistryGroupRefused', series: { [at('quotamesh_registry_refused_groups')]: still(1) } },
  {
    alert: 'QuotameshRegistryRecordsUnreadable',
    series: { [at('quotamesh_registry_records_ignored_total')]: rising(1) },
  },
  {
    alert: 'QuotameshChangesUnconfirmed',
    series: { [at('quotamesh_registry_changes_total', 'outcome="unconfirmed"')]: rising(1) },
  },
  {
    alert: 'QuotameshChangesTooFast',
    series: { [at('quotamesh_registry_changes_total', 'outcome="too-fast"')]: rising(6) },
  },
  {
    alert: 'QuotameshAttachmentDangling',
    series: { [at('quotamesh_degraded', 'reason="attachment-dangling"')]: still(1) },
  },
  { alert: 'QuotameshStrictRefuses', series: { [at('quotamesh_degraded', 'reason="strict"')]: still(1) } },
  { alert: 'QuotameshStrictAwaits', series: { [at('quotamesh_degraded', 'reason="strict-awaits"')]: still(1) } },
  { alert: 'QuotameshEnvoyRulesAway', series: { [at('quotamesh_degraded', 'reason="rules-away"')]: still(1) } },
  {
    alert: 'QuotameshGroupThrottledLong',
    series: {
      [at('quotamesh_group_demand_messages_per_second', 'group="orders",direction="publish"')]: still(1300),
    },
  },
  {
    alert: 'QuotameshRefusingMuch',
    series: { [at('quotamesh_refused_messages_total', 'direction="publish"')]: rising(500) },
  },
  { alert: 'QuotameshWaitingLong', series: { [at('quotamesh_waited_seconds_total')]: rising(240) } },
  {
    alert: 'QuotameshAcquiresUnanswered',
    series: { [at('quotamesh_http_acquires_total', 'outcome="not-ready"')]: rising(1) },
  },
  {
    alert: 'QuotameshRequestsRejected',
    series: { [at('quotamesh_http_acquires_total', 'outcome="rejected"')]: rising(60) },
  },
  {
    alert: 'QuotameshReservationsFull',
    series: { [at('quotamesh_http_reservations_ended_total', 'outcome="full"')]: rising(1) },
  },
  {
    alert: 'QuotameshReservationsExpire',
    series: { [at('quotamesh_http_reservations_ended_total', 'outcome="expired"')]: rising(30) },
  },
  { alert: 'QuotameshBackendsSaturated', series: { [at('quotamesh_backends', 'state="saturated"')]: still(1) } },
  { alert: 'QuotameshBackendsSilent', series: { [at('quotamesh_backends', 'state="silent"')]: still(1) } },
  {
    alert: 'QuotameshBackendPollsFailing',
    series: { [at('quotamesh_backend_polls_total', 'outcome="failed"')]: rising(6) },
  },
  {
    alert: 'QuotameshBackendsFull',
    series: { [at('quotamesh_topic_records_ignored_total', 'cause="too-many-backends"')]: rising(6) },
  },
  {
    alert: 'QuotameshAttemptsFailing',
    series: { [at('quotamesh_auth_failures_total', 'listener="http",reason="unknown"')]: rising(30) },
  },
  {
    alert: 'QuotameshConnectionsEnded',
    series: { [at('quotamesh_http_connections_ended_total', 'reason="not-reading"')]: rising(1) },
  },
  {
    alert: 'QuotameshMqttThrottledLong',
    series: { [at('quotamesh_mqtt_throttled_connections', 'reason="groupRate"')]: still(80) },
  },
  { alert: 'QuotameshMqttDropping', series: { [at('quotamesh_mqtt_dropped_messages_total')]: rising(6) } },
  {
    alert: 'QuotameshMqttConnectionsEnded',
    series: { [at('quotamesh_mqtt_disconnects_total', 'reason="held-full"')]: rising(1) },
  },
  { alert: 'QuotameshMqttNotKept', series: { [at('quotamesh_mqtt_not_kept_total', 'kind="session"')]: rising(6) } },
  { alert: 'QuotameshKafkaQuotasUnwritten', series: { [at('quotamesh_kafka_writer')]: still(0) } },
  // As if both nodes of the job had 1.
  { alert: 'QuotameshKafkaQuotasTwoWriters', series: { [at('quotamesh_kafka_writer')]: still(2) } },
  { alert: 'QuotameshKafkaQuotasUnreadable', series: { [at('quotamesh_kafka_quotas_unreadable')]: still(1) } },
  {
    alert: 'QuotameshKafkaExporterSilent',
    series: { [at('quotamesh_kafka_exporters', 'state="unknown"')]: still(1) },
  },
  { alert: 'QuotameshKafkaExporterOdd', series: { [at('quotamesh_kafka_exporters', 'state="odd"')]: still(1) } },
  {
    alert: 'QuotameshKafkaAlterationsFailing',
    series: { [at('quotamesh_kafka_alterations_total', 'outcome="failed"')]: rising(6) },
  },
  { alert: 'QuotameshKafkaQuotasLeft', series: { [at('quotamesh_kafka_entities_left')]: still(1) } },
  { alert: 'QuotameshKafkaEntitiesFull', series: { [at('quotamesh_kafka_entities_left_out')]: still(1) } },
  { alert: 'QuotameshRoundsSlow', series: { [at('quotamesh_round_seconds_total')]: rising(45) } },
  { alert: 'QuotameshEventLoopLate', series: { [at('nodejs_eventloop_lag_p99_seconds')]: still(0.4) } },
  { alert: 'QuotameshFilesRunningOut', series: { [at('process_open_fds')]: still(900) } },
  { alert: 'QuotameshFailuresSurvived', series: { [at('quotamesh_unhandled_rejections_total')]: rising(1) } },
];
