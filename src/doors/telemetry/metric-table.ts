import type { Access } from '../../base/access/access.js';
import type { NodeStatus, SignatureStatus } from '../../node/api/node-status.js';
import type { KeyCounts } from '../../node/groups/keys/key-book.js';
import type { EnvoyStatus } from '../envoy/envoy-status.js';
import type { AcquireOutcomes } from '../http/acquire/acquire-answers.js';
import type { MqttStatus } from '../mqtt/mqtt-status.js';
import { byLabel, counter, gauge, type Labelled, type MetricTable } from './metric.js';
import type { NodeNow } from './node-metrics.js';

/** Metrics of YAML, the registry and templates of keys. */
export const GROUP_SOURCE_METRICS: MetricTable<NodeNow> = {
  quotamesh_config_reloads_total: counter(
    'Configurations read after the start: taken, refused (a mistake; the groups stay as they were).',
    byLabel('outcome', ({ status: { configuration: of } }) => ({ taken: of.taken, refused: of.refused })),
  ),
  quotamesh_config_refused: gauge(
    '1 while the files of the configuration have a mistake.',
    ({ status: { configuration } }) => configuration.refusedBecause !== null,
  ),
  quotamesh_config_needs_restart: gauge(
    'Settings that the files have differently from what is in force; only a restart changes them.',
    ({ status: { configuration } }) => configuration.needsRestart.length,
  ),
  quotamesh_config_differing_groups: gauge(
    'Groups that the YAML of other nodes has otherwise, or not at all.',
    ({ status: { configuration } }) => configuration.differingGroups,
  ),
  quotamesh_config_hidden: gauge(
    'Groups, key templates and scopes of the files that definitions of run time hide: the files count no more there.',
    ({ status: { configuration } }) => configuration.hiddenByRunTime,
  ),
  quotamesh_groups: gauge(
    'Groups in force.',
    byLabel('origin', ({ node, status: { registry } }) => ({
      'run-time': registry.groups,
      yaml: Math.max(0, node.groups.numbers.size - registry.groups),
    })),
  ),
  quotamesh_keys_live: gauge('Keys in memory (keys.maxLive).', perTemplate('live')),
  quotamesh_keys_loud: gauge(
    'Keys that are groups like any other now, because this or another node uses more than what is spent without publishing it.',
    perTemplate('loud'),
  ),
  quotamesh_keys_refused_total: counter(
    'Requests refused because there was no room for their key (keys.maxLive, keys.maxLoud).',
    perTemplate('refused'),
  ),
  quotamesh_keys_over_quota_total: counter('Requests refused by the quota of their key.', perTemplate('overQuota')),
  quotamesh_keys_limits_refused_total: counter(
    'Limits that came with requests and were refused: by a caller who may not, above allowLimits, or no limits at all.',
    perTemplate('limitsRefused'),
  ),
  quotamesh_registry_ready: gauge(
    '1 when all that was in the registry at the start has been read, or there is none.',
    ({ status: { registry } }) => registry.ready,
  ),
  quotamesh_registry_offset: gauge(
    'Offset after the last record read of the registry; the difference between nodes is how far one lags behind.',
    ({ status: { registry } }) => registry.offset,
  ),
  quotamesh_registry_changes_total: counter(
    'Changes asked for at this node, by outcome: made, late (somebody else was faster), invalid, unconfirmed, too-fast (429, registry.changesPerSecond).',
    byLabel('outcome', ({ node: { registry } }) => registry?.changes ?? {}),
  ),
  quotamesh_registry_refused_groups: gauge(
    'Groups whose definition this node cannot use.',
    ({ status: { registry } }) => registry.refused.length,
  ),
  quotamesh_registry_records_ignored_total: counter(
    'Records of the registry that mean nothing here.',
    ({ status: { registry } }) => registry.recordsIgnored,
  ),
  quotamesh_registry_audited_changes: gauge(
    'Changes that GET /v1/audit can tell; registry.auditedChanges at most.',
    ({ node: { registry } }) => registry?.audited ?? 0,
  ),
  quotamesh_registry_attachments: gauge(
    'Scopes that were attached at run time; at registry.maxAttachments one more is refused.',
    ({ node }) => node.attachments.size,
  ),
};

function perTemplate(count: keyof KeyCounts): Labelled<NodeNow> {
  return byLabel('template', ({ node: { keys } }) => {
    return Object.fromEntries(Array.from(keys?.counts ?? [], ([template, counts]) => [template, counts[count]]));
  });
}

export const ACCESS_METRICS: MetricTable<Access> = {
  quotamesh_auth_enabled: gauge(
    '1 while `auth:` is in force, 0 while every caller has every role.',
    ({ isOpen }) => !isOpen,
  ),
  quotamesh_auth_failures_total: counter(
    'Requests and logins that were refused: missing (nothing shown), unknown (wrong token, certificate without rule), untrusted (certificate of another authority), limited (too many failures of the address), denied (known, without the role or the tenant).',
    {
      labels: ['listener', 'reason'],
      read: ({ failures }, series) => {
        for (const [key, count] of failures) {
          const [listener = '', reason = ''] = key.split(' ');
          series(count, { listener, reason });
        }
      },
    },
  ),
};

/** Metrics of the topic of the reports. */
export const TOPIC_METRICS: MetricTable<NodeStatus> = {
  quotamesh_topic_records_read_total: counter('Records read, of all nodes.', ({ topic }) => topic.counters.recordsRead),
  quotamesh_topic_read_bytes_total: counter('Keys and values read.', ({ topic }) => topic.counters.bytesRead),
  quotamesh_topic_records_appended_total: counter(
    'Own records appended.',
    ({ topic }) => topic.counters.recordsAppended,
  ),
  quotamesh_topic_appended_bytes_total: counter(
    'Keys and values appended.',
    ({ topic }) => topic.counters.bytesAppended,
  ),
  quotamesh_topic_appends_failed_total: counter(
    'Appends that were refused or not acknowledged in time.',
    ({ topic }) => topic.counters.appendsFailed,
  ),
  quotamesh_topic_reconnects_total: counter(
    'Times the topic came back after a loss.',
    ({ topic }) => topic.counters.reconnects,
  ),
  quotamesh_topic_foreign_entries_total: counter(
    'Entries in the store of the topic that no node has written; ignored.',
    ({ topic }) => topic.counters.foreignEntries,
  ),
  quotamesh_topic_malformed_answers_total: counter(
    'Answers of the server that its protocol does not allow, or that were too long; each has ended its connection.',
    ({ topic }) => topic.counters.malformedAnswers,
  ),
  quotamesh_topic_throttled_seconds_total: counter(
    "Time for which brokers held back this node's own requests, because its user or client id is above a client quota (kafka).",
    ({ topic }) => topic.counters.throttledMs / 1000,
  ),
  quotamesh_topic_records_ignored_total: counter(
    'Records read and not used, by cause: what could not be decoded, what is old or repeated, and what claims too much.',
    byLabel('cause', ({ recordsIgnored }) => recordsIgnored),
  ),
  quotamesh_topic_pending_appends: gauge(
    'Own records that wait to be appended; at most one per key.',
    ({ topic }) => topic.pendingAppends,
  ),
};

/** Metrics of signed records (topic.hmac). */
export const SIGNATURE_METRICS: MetricTable<NodeStatus> = {
  quotamesh_topic_unverified_records_total: counter(
    'Records read that this cluster has not signed: unsigned, unknown-key, wrong-signature. Ignored with topic.hmac.verify: require.',
    perLog('cause', ({ unverified }) => unverified),
  ),
  quotamesh_topic_unverified_keys: gauge(
    'Keys of the topic whose newest record is signed with no key of ours (signer none), or with the previous one; at most 10,000 are counted.',
    perLog('signer', ({ unverifiedKeys, previousKeys }) => ({ none: unverifiedKeys, 'previous-key': previousKeys })),
  ),
  quotamesh_topic_signed_apart: gauge(
    '1 while other nodes write and none of them signs as this one does: this node is not ready, or isolated. Look at topic.hmac.key.',
    byLabel('log', ({ signatures }) =>
      Object.fromEntries(signatures.map(({ log, isApart }) => [log, Number(isApart)])),
    ),
  ),
};

function perLog(label: string, read: (of: SignatureStatus) => Readonly<Record<string, number>>): Labelled<NodeStatus> {
  return {
    labels: ['log', label],
    read: ({ signatures }, series) => {
      for (const one of signatures) {
        for (const [name, count] of Object.entries(read(one))) series(count, { log: one.log, [label]: name });
      }
    },
  };
}

export const HTTP_METRICS: MetricTable<AcquireOutcomes> = {
  quotamesh_http_acquires_total: counter(
    'Acquires over HTTP by outcome: granted, refused (429), not-ready (503), rejected (wrong requests, 4xx).',
    byLabel('outcome', ({ granted, refused, notReady, rejected }) => ({
      granted,
      refused,
      'not-ready': notReady,
      rejected,
    })),
  ),
  quotamesh_http_connections: gauge('Connections to the HTTP listener.', ({ connections }) => connections.open),
  quotamesh_http_held_bytes: gauge(
    'Memory of pipelined requests that wait, of bodies above 16 KiB on their way, and of answers above 16 KiB that are not taken yet; at most http.maxHeldBytes.',
    ({ connections }) => connections.heldBytes,
  ),
  quotamesh_http_connections_ended_total: counter(
    'Connections that the HTTP listener has ended, by reason: idle-full (idle, and a newcomer took its place at http.maxConnections), full (a newcomer, and none was idle), pipelined (more than http.maxPipelined), not-reading (http.notReadingMs), held-full (http.maxHeldBytes).',
    byLabel('reason', ({ connections }) => connections.ended),
  ),
  quotamesh_http_reservations: gauge(
    'Reservations over HTTP that are open now.',
    ({ reservations }) => reservations.open,
  ),
  quotamesh_http_reservations_ended_total: counter(
    'Reservations over HTTP by how they ended: committed, cancelled, expired (charged as estimated), full (refused, limits.maxReservations).',
    byLabel('outcome', ({ reservations: { open: _, ...ended } }) => ended),
  ),
  quotamesh_http_slots: gauge('Slots over HTTP whose lease runs now.', ({ slots }) => slots.open),
  quotamesh_http_slots_ended_total: counter(
    'Slots over HTTP by how they ended: released, expired (the lease was not renewed), full (refused, limits.maxReservations).',
    byLabel('outcome', ({ slots: { open: _, ...ended } }) => ended),
  ),
};

export const ENVOY_METRICS: MetricTable<EnvoyStatus> = {
  quotamesh_envoy_connections: gauge('Connections of gateways to the gRPC listener.', ({ connections }) => connections),
  quotamesh_envoy_open_calls: gauge('Calls that are not over, streams among them.', ({ openCalls }) => openCalls),
  quotamesh_envoy_requests_total: counter(
    'Requests to the rate limit service, by their answer.',
    byLabel('answer', ({ requests: { ok, overLimit } }) => ({ ok, 'over-limit': overLimit })),
  ),
  quotamesh_envoy_descriptors_total: counter(
    'Descriptors of those, by what became of them; owed: charged though less was left; unlimited: nothing has their name.',
    byLabel('outcome', ({ descriptors }) => descriptors),
  ),
  quotamesh_envoy_refused_total: counter(
    'Refused descriptors, by the rule: a group, or a template.',
    byLabel('rule', ({ refusedBy }) => refusedBy),
  ),
  quotamesh_envoy_unknown_domain_total: counter(
    'Requests of domains that nothing limits.',
    ({ unknownDomain }) => unknownDomain,
  ),
  quotamesh_envoy_overrides_refused_total: counter(
    'Limits with requests that no template allowed.',
    ({ overridesRefused }) => overridesRefused,
  ),
  quotamesh_envoy_failed_calls_total: counter(
    'Calls that failed, by the code of their error (docs/reference/errors.md).',
    byLabel('code', ({ failed }) => failed),
  ),
  quotamesh_envoy_rules: gauge('Rules of envoyproxy/ratelimit in force.', ({ rules }) => rules?.rules ?? 0),
  quotamesh_envoy_xds_connected: gauge(
    '1 = the management server of envoy.xds answers; 0 also where none is configured.',
    ({ xds }) => (xds?.isConnected === true ? 1 : 0),
  ),
  quotamesh_envoy_rules_taken_total: counter(
    'Rules taken after the start: files that changed, or responses of xDS.',
    ({ rules }) => rules?.taken ?? 0,
  ),
  quotamesh_envoy_rules_refused: gauge(
    '1 = the newest rules have a mistake, and older ones are in force (GET /v1/envoy tells it).',
    ({ rules }) => (rules?.refusedBecause == null ? 0 : 1),
  ),
  quotamesh_envoy_reservations: gauge(
    'Reservations of Kuadrant’s dialect that are not over.',
    ({ reservations }) => reservations.open,
  ),
  quotamesh_envoy_reservations_expired_total: counter(
    'Reservations that nobody has committed in time, and that came back.',
    ({ reservations }) => reservations.expired,
  ),
  quotamesh_envoy_connections_ended_total: counter(
    'Connections that were ended by the listener or lost, by reason.',
    byLabel('reason', ({ ended }) => ended),
  ),
  quotamesh_envoy_quota_streams: gauge(
    'Envoys that enforce quotas by themselves, one per domain (docs/guide/envoy-quotas.md).',
    ({ quota }) => quota.streams,
  ),
  quotamesh_envoy_quota_buckets: gauge('Their buckets.', ({ quota }) => quota.buckets),
  quotamesh_envoy_quota_refused_buckets: gauge(
    'Buckets in their last reports that are told nothing; `GET /v1/envoy` says why.',
    ({ quota }) => Object.values(quota.refused).reduce((sum, count) => sum + count, 0),
  ),
  quotamesh_envoy_quota_reports_total: counter('Their reports.', ({ quota }) => quota.reports),
  quotamesh_envoy_quota_assignments_total: counter(
    'Shares that they were told, renewals and abandoned buckets included.',
    ({ quota }) => quota.assignments,
  ),
};

export const MQTT_METRICS: MetricTable<MqttStatus> = {
  quotamesh_mqtt_connections: gauge('Connections.', ({ connections }) => connections),
  quotamesh_mqtt_throttled_connections: gauge(
    'Connections that are not read, by reason (docs/guide/mqtt.md); one may be held for several.',
    byLabel('reason', ({ throttledBy }) => throttledBy),
  ),
  quotamesh_mqtt_connects_total: counter(
    'CONNECT: accepted, refused.',
    byLabel('outcome', ({ connects }) => connects),
  ),
  quotamesh_mqtt_publishes_total: counter(
    'Publishes that went on at once, after-waiting for quota, unlimited (no group), or were rejected.',
    byLabel('outcome', ({ publishes: { atOnce, afterWaiting, unlimited, rejected } }) => ({
      'at-once': atOnce,
      'after-waiting': afterWaiting,
      unlimited,
      rejected,
    })),
  ),
  quotamesh_mqtt_dispatched_messages_total: counter('Messages sent to subscribers.', ({ dispatched }) => dispatched),
  quotamesh_mqtt_dropped_messages_total: counter(
    'Messages not sent: QoS 0 beyond the bound of a subscriber’s queue, or larger than the group allows.',
    ({ dropped }) => dropped,
  ),
  quotamesh_mqtt_queued_messages: gauge('Messages that wait for their subscriber.', ({ queued }) => queued),
  quotamesh_mqtt_held_bytes: gauge(
    'Read from clients and not handed on, or not read by them yet, with 256 bytes per message; at most mqtt.maxHeldBytes.',
    ({ heldBytes }) => heldBytes,
  ),
  quotamesh_mqtt_kept_messages: gauge(
    'Messages kept: for a session until acknowledged or (QoS 2) released, retained for later subscribers.',
    byLabel('kind', ({ kept }) => ({ session: kept.sessionMessages, retained: kept.retainedMessages })),
  ),
  quotamesh_mqtt_not_kept_total: counter(
    'Messages that were not kept because a bound was met (docs/guide/mqtt.md).',
    byLabel('kind', ({ kept }) => ({ session: kept.sessionDropped, retained: kept.retainedDropped })),
  ),
  quotamesh_mqtt_disconnects_total: counter(
    'Connections ended by the broker or lost, by reason (docs/guide/mqtt.md).',
    byLabel('reason', ({ disconnects }) => disconnects),
  ),
};
