import type { Access } from '../../base/access/access.js';
import type { NodeStatus } from '../../node/api/node-status.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import { describeNode } from '../../node/status/describe-node.js';
import type { AcquireOutcomes } from '../http/acquire/acquire-outcomes.js';
import type { KeeperStatus } from '../kafka-quotas/keeper-status.js';
import type { MqttStatus } from '../mqtt/mqtt-status.js';
import { ACCESS_METRICS, accessReadings } from './access-metrics.js';
import { admissionReadings } from './admission-readings.js';
import { httpReadings } from './http-readings.js';
import { KAFKA_QUOTA_METRICS, kafkaQuotaReadings } from './kafka-quota-metrics.js';
import {
  ADMISSION_METRICS,
  HTTP_METRICS,
  type MetricRow,
  MQTT_METRICS,
  NODE_METRICS,
  TOPIC_METRICS,
} from './metric-table.js';
import { mqttReadings } from './mqtt-readings.js';
import { nodeReadings } from './node-readings.js';
import type { RefusalExemplars } from './refusal-exemplars.js';
import { GROUP_SOURCE_METRICS } from './registry-metric-table.js';
import { groupSourceReadings } from './registry-metrics.js';
import { SIGNATURE_METRICS, signatureReadings } from './signature-metrics.js';

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

export type Labels = Readonly<Record<string, string>>;

/** Reads a metric, with one call per series. */
export type Reading = (series: (value: number, labels?: Labels) => void) => void;

/** Row of a metric, and its reading. */
export interface ReadableMetric {
  readonly name: string;
  readonly row: MetricRow;
  readonly read: Reading;
}

export class MetricTables {
  readonly metrics: readonly ReadableMetric[];
  readonly #refresh: () => void;

  constructor(sources: MetricSources) {
    const read = () => ({
      status: describeNode(sources.node),
      mqtt: sources.mqtt?.(),
      kafkaQuotas: sources.kafkaQuotas?.(),
    });
    let now = read();
    this.#refresh = () => {
      now = read();
    };
    this.metrics = metricsOf(sources, () => now);
  }

  /** Refreshes the status that readings share; once per scrape. */
  refresh(): void {
    this.#refresh();
  }
}

interface StatusNow {
  readonly status: NodeStatus;
  readonly mqtt: MqttStatus | undefined;
  readonly kafkaQuotas: KeeperStatus | undefined;
}

function metricsOf(sources: MetricSources, now: () => StatusNow): readonly ReadableMetric[] {
  const { node, access, outcomes, incidents, mqtt, kafkaQuotas } = sources;
  const status = () => now().status;
  const mqttNow = () => now().mqtt as MqttStatus;
  const keeperNow = () => now().kafkaQuotas as KeeperStatus;
  return [
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
}

function joined<Name extends string>(
  rows: Readonly<Record<Name, MetricRow>>,
  readings: Readonly<Record<Name, Reading>>,
): readonly ReadableMetric[] {
  return Object.entries<MetricRow>(rows).map(([name, row]) => ({ name, row, read: readings[name as Name] }));
}

export function topicReadings(status: () => NodeStatus): Readonly<Record<keyof typeof TOPIC_METRICS, Reading>> {
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
    quotamesh_topic_records_ignored_total: (series) => {
      for (const [cause, count] of Object.entries(status().recordsIgnored)) series(count, { cause });
    },
    quotamesh_topic_pending_appends: (series) => series(status().topic.pendingAppends),
  };
}
