import type { Access } from '../../base/access/access.js';
import type { NodeStatus } from '../../node/api/node-status.js';
import type { KeyCounts } from '../../node/groups/keys/key-book.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import { describeNode } from '../../node/status/describe-node.js';
import type { AcquireOutcomes } from '../http/acquire/acquire-answers.js';
import type { KeeperStatus } from '../kafka-quotas/keeper-status.js';
import type { MqttStatus } from '../mqtt/mqtt-status.js';
import { admissionReadings } from './admission-readings.js';
import { KAFKA_QUOTA_METRICS, kafkaQuotaReadings } from './kafka-quota-metrics.js';
import {
  ACCESS_METRICS,
  ADMISSION_METRICS,
  GROUP_SOURCE_METRICS,
  HTTP_METRICS,
  type MetricRow,
  MQTT_METRICS,
  NODE_METRICS,
  SIGNATURE_METRICS,
  TOPIC_METRICS,
} from './metric-table.js';
import type { RefusalExemplars } from './metrics.js';
import { nodeReadings } from './node-readings.js';
import { byLabel, type Reading } from './reading.js';

/** Sources of metrics; a node inside a program has itself alone. */
export interface MetricSources {
  readonly node: NodeParts;
  readonly access?: Access | undefined;
  readonly outcomes?: AcquireOutcomes | undefined;
  readonly incidents?: { readonly unhandledRejections: number } | undefined;
  /** Set beside an MQTT broker. */
  readonly mqtt?: (() => MqttStatus) | undefined;
  /** Set beside a keeper of Kafka's quotas. */
  readonly kafkaQuotas?: (() => KeeperStatus) | undefined;
  /** Set where /metrics may be read in OpenMetrics. */
  readonly exemplars?: RefusalExemplars | undefined;
}

export interface ReadableMetric {
  readonly name: string;
  readonly row: MetricRow;
  readonly read: Reading;
}

/** Returns all metrics; `refresh`, once per scrape, renews the status that their readings share. */
export function metricTables({ node, access, outcomes, incidents, mqtt, kafkaQuotas }: MetricSources) {
  const read = () => ({ status: describeNode(node), mqtt: mqtt?.(), kafkaQuotas: kafkaQuotas?.() });
  let now = read();
  const refresh = () => {
    now = read();
  };
  const status = () => now.status;
  const mqttNow = () => now.mqtt as MqttStatus;
  const keeperNow = () => now.kafkaQuotas as KeeperStatus;
  const metrics: readonly ReadableMetric[] = [
    joined(NODE_METRICS, nodeReadings(node, incidents, status)),
    joined(GROUP_SOURCE_METRICS, groupSourceReadings(node, status)),
    access === undefined ? [] : joined(ACCESS_METRICS, accessReadings(access)),
    joined(TOPIC_METRICS, topicReadings(status)),
    joined(SIGNATURE_METRICS, signatureReadings(status)),
    joined(ADMISSION_METRICS, admissionReadings(node)),
    outcomes === undefined ? [] : joined(HTTP_METRICS, httpReadings(outcomes)),
    mqtt === undefined ? [] : joined(MQTT_METRICS, mqttReadings(mqttNow)),
    kafkaQuotas === undefined ? [] : joined(KAFKA_QUOTA_METRICS, kafkaQuotaReadings(keeperNow)),
  ].flat();
  return { metrics, refresh };
}

function joined<Name extends string>(
  rows: Readonly<Record<Name, MetricRow>>,
  readings: Readonly<Record<Name, Reading>>,
): readonly ReadableMetric[] {
  return Object.entries<MetricRow>(rows).map(([name, row]) => ({ name, row, read: readings[name as Name] }));
}

function topicReadings(status: () => NodeStatus): Readonly<Record<keyof typeof TOPIC_METRICS, Reading>> {
  const counters = () => status().topic.counters;
  return {
    quotamesh_topic_records_read_total: (series) => series(counters().recordsRead),
    quotamesh_topic_read_bytes_total: (series) => series(counters().bytesRead),
    quotamesh_topic_records_appended_total: (series) => series(counters().recordsAppended),
    quotamesh_topic_appended_bytes_total: (series) => series(counters().bytesAppended),
    quotamesh_topic_appends_failed_total: (series) => series(counters().appendsFailed),
    quotamesh_topic_reconnects_total: (series) => series(counters().reconnects),
    quotamesh_topic_foreign_entries_total: (series) => series(counters().foreignEntries),
    quotamesh_topic_malformed_answers_total: (series) => series(counters().malformedAnswers),
    quotamesh_topic_throttled_seconds_total: (series) => series(counters().throttledMs / 1000),
    quotamesh_topic_records_ignored_total: byLabel('cause', () => status().recordsIgnored),
    quotamesh_topic_pending_appends: (series) => series(status().topic.pendingAppends),
  };
}

function accessReadings(access: Access): Readonly<Record<keyof typeof ACCESS_METRICS, Reading>> {
  return {
    quotamesh_auth_enabled: (series) => series(access.isOpen ? 0 : 1),
    quotamesh_auth_failures_total: (series) => {
      for (const [key, count] of access.failures) {
        const [listener = '', reason = ''] = key.split(' ');
        series(count, { listener, reason });
      }
    },
  };
}

function httpReadings(outcomes: AcquireOutcomes): Readonly<Record<keyof typeof HTTP_METRICS, Reading>> {
  const { connections, reservations } = outcomes;
  return {
    quotamesh_http_acquires_total: byLabel('outcome', () => {
      const { granted, refused, notReady, rejected } = outcomes;
      return { granted, refused, 'not-ready': notReady, rejected };
    }),
    quotamesh_http_connections: (series) => series(connections.open),
    quotamesh_http_held_bytes: (series) => series(connections.heldBytes),
    quotamesh_http_connections_ended_total: byLabel('reason', () => connections.ended),
    quotamesh_http_reservations: (series) => series(reservations.open),
    quotamesh_http_reservations_ended_total: byLabel('outcome', () => {
      const { open: _, ...ended } = reservations;
      return ended;
    }),
  };
}

function mqttReadings(now: () => MqttStatus): Readonly<Record<keyof typeof MQTT_METRICS, Reading>> {
  return {
    quotamesh_mqtt_connections: (series) => series(now().connections),
    quotamesh_mqtt_throttled_connections: byLabel('reason', () => now().throttledBy),
    quotamesh_mqtt_throttled_seconds_total: (series) => series(now().throttledMs / 1000),
    quotamesh_mqtt_connects_total: byLabel('outcome', () => now().connects),
    quotamesh_mqtt_publishes_total: byLabel('outcome', () => {
      const { atOnce, afterWaiting, unlimited, rejected } = now().publishes;
      return { 'at-once': atOnce, 'after-waiting': afterWaiting, unlimited, rejected };
    }),
    quotamesh_mqtt_dispatched_messages_total: (series) => series(now().dispatched),
    quotamesh_mqtt_dropped_messages_total: (series) => series(now().dropped),
    quotamesh_mqtt_queued_messages: (series) => series(now().queued),
    quotamesh_mqtt_pending_publishes: (series) => series(now().pendingPublishes),
    quotamesh_mqtt_pending_bytes: (series) => series(now().pendingBytes),
    quotamesh_mqtt_held_bytes: (series) => series(now().heldBytes),
    quotamesh_mqtt_kept_subscriptions: (series) => series(now().kept.subscriptions),
    quotamesh_mqtt_kept_messages: (series) => {
      series(now().kept.sessionMessages, { kind: 'session' });
      series(now().kept.retainedMessages, { kind: 'retained' });
    },
    quotamesh_mqtt_kept_bytes: (series) => {
      series(now().kept.sessionBytes, { kind: 'session' });
      series(now().kept.retainedBytes, { kind: 'retained' });
    },
    quotamesh_mqtt_not_kept_total: (series) => {
      series(now().kept.sessionDropped, { kind: 'session' });
      series(now().kept.retainedDropped, { kind: 'retained' });
    },
    quotamesh_mqtt_disconnects_total: byLabel('reason', () => now().disconnects),
  };
}

function groupSourceReadings(
  node: NodeParts,
  status: () => NodeStatus,
): Readonly<Record<keyof typeof GROUP_SOURCE_METRICS, Reading>> {
  return {
    quotamesh_config_reloads_total: (series) => {
      const { taken, refused } = status().configuration;
      series(taken, { outcome: 'taken' });
      series(refused, { outcome: 'refused' });
    },
    quotamesh_config_refused: (series) => series(status().configuration.refusedBecause === null ? 0 : 1),
    quotamesh_config_needs_restart: (series) => series(status().configuration.needsRestart.length),
    quotamesh_config_differing_groups: (series) => series(status().configuration.differingGroups),
    quotamesh_config_hidden: (series) => series(status().configuration.hiddenByRunTime),
    quotamesh_groups: (series) => {
      const { groups } = status().registry;
      series(groups, { origin: 'run-time' });
      series(Math.max(0, node.groups.numbers.size - groups), { origin: 'yaml' });
    },
    quotamesh_keys_live: perTemplate(node, 'live'),
    quotamesh_keys_loud: perTemplate(node, 'loud'),
    quotamesh_keys_made_total: perTemplate(node, 'made'),
    quotamesh_keys_forgotten_total: perTemplate(node, 'forgotten'),
    quotamesh_keys_refused_total: perTemplate(node, 'refused'),
    quotamesh_keys_over_quota_total: perTemplate(node, 'overQuota'),
    quotamesh_keys_limits_refused_total: perTemplate(node, 'limitsRefused'),
    quotamesh_keys_granted_unpublished_total: perTemplate(node, 'granted'),
    quotamesh_registry_ready: (series) => series(status().registry.ready ? 1 : 0),
    quotamesh_registry_offset: (series) => series(status().registry.offset),
    quotamesh_registry_revision: (series) => series(node.registry?.revision ?? 0),
    quotamesh_registry_changes_total: byLabel('outcome', () => node.registry?.changes ?? {}),
    quotamesh_registry_change_seconds: (series) => series((node.registry?.lastChangeMs ?? 0) / 1000),
    quotamesh_registry_applied_total: (series) => series(node.registry?.applied ?? 0),
    quotamesh_registry_refused_groups: (series) => series(status().registry.refused.length),
    quotamesh_registry_records_ignored_total: (series) => series(status().registry.recordsIgnored),
    quotamesh_registry_audited_changes: (series) => series(node.registry?.audited ?? 0),
    quotamesh_registry_attachments: (series) => series(node.attachments.size),
  };
}

function perTemplate({ keys }: NodeParts, count: keyof KeyCounts): Reading {
  return (series) => {
    for (const [template, counts] of keys?.counts ?? []) series(counts[count], { template });
  };
}

function signatureReadings(status: () => NodeStatus): Readonly<Record<keyof typeof SIGNATURE_METRICS, Reading>> {
  type Signatures = NodeStatus['signatures'][number];
  const perLog = (label: string, read: (of: Signatures) => Readonly<Record<string, number>>): Reading => {
    return (series) => {
      for (const one of status().signatures) {
        for (const [name, count] of Object.entries(read(one))) series(count, { log: one.log, [label]: name });
      }
    };
  };
  return {
    quotamesh_topic_verified_records_total: perLog('signer', ({ verified }) => verified),
    quotamesh_topic_unverified_records_total: perLog('cause', ({ unverified }) => unverified),
    quotamesh_topic_signed_apart: (series) => {
      for (const { log, isApart } of status().signatures) series(isApart ? 1 : 0, { log });
    },
    quotamesh_topic_strangers: (series) => {
      for (const { log, strangers } of status().signatures) series(strangers, { log });
    },
    quotamesh_topic_unverified_keys: perLog('signer', ({ unverifiedKeys, previousKeys }) => {
      return { none: unverifiedKeys, 'previous-key': previousKeys };
    }),
  };
}
