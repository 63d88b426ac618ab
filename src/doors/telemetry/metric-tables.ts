import type { Access } from '../../base/access/access.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import { describeNode } from '../../node/status/describe-node.js';
import type { EnvoyStatus } from '../envoy/envoy-status.js';
import type { AcquireOutcomes } from '../http/acquire/acquire-answers.js';
import type { KeeperStatus } from '../kafka-quotas/keeper-status.js';
import type { MqttStatus } from '../mqtt/mqtt-status.js';
import { ADMISSION_METRICS } from './admission-metrics.js';
import { KAFKA_QUOTA_METRICS } from './kafka-quota-metrics.js';
import type { MetricRow, MetricTable, Series } from './metric.js';
import {
  ACCESS_METRICS,
  ENVOY_METRICS,
  GROUP_SOURCE_METRICS,
  HTTP_METRICS,
  MQTT_METRICS,
  SIGNATURE_METRICS,
  TOPIC_METRICS,
} from './metric-table.js';
import type { RefusalExemplars } from './metrics.js';
import { NODE_METRICS, type NodeNow } from './node-metrics.js';

/** Sources of metrics; a node inside a program has itself alone. */
export interface MetricSources extends Pick<NodeNow, 'incidents'> {
  readonly node: NodeParts;
  readonly access?: Access | undefined;
  readonly outcomes?: AcquireOutcomes | undefined;
  /** Set beside an MQTT broker. */
  readonly mqtt?: (() => MqttStatus) | undefined;
  /** Set beside a keeper of Kafka's quotas. */
  readonly kafkaQuotas?: (() => KeeperStatus) | undefined;
  /** Set beside a listener for Envoy. */
  readonly envoy?: (() => EnvoyStatus) | undefined;
  /** Set where /metrics may be read in OpenMetrics. */
  readonly exemplars?: RefusalExemplars | undefined;
}

export interface ReadableMetric extends MetricRow {
  readonly name: string;
  read(series: Series): void;
}

/** Returns all metrics; `refresh`, once per scrape, renews the status that their readings share. */
export function metricTables({ node, access, outcomes, incidents, mqtt, kafkaQuotas, envoy }: MetricSources) {
  const read = () => {
    const beside = { mqtt: mqtt?.(), kafkaQuotas: kafkaQuotas?.(), envoy: envoy?.() };
    return { node, incidents, status: describeNode(node), ...beside };
  };
  let now = read();
  const refresh = () => {
    now = read();
  };
  const metrics: readonly ReadableMetric[] = [
    readable(NODE_METRICS, () => now),
    readable(GROUP_SOURCE_METRICS, () => now),
    access === undefined ? [] : readable(ACCESS_METRICS, () => access),
    readable(TOPIC_METRICS, () => now.status),
    readable(SIGNATURE_METRICS, () => now.status),
    readable(ADMISSION_METRICS, () => node),
    outcomes === undefined ? [] : readable(HTTP_METRICS, () => outcomes),
    mqtt === undefined ? [] : readable(MQTT_METRICS, () => now.mqtt as MqttStatus),
    kafkaQuotas === undefined ? [] : readable(KAFKA_QUOTA_METRICS, () => now.kafkaQuotas as KeeperStatus),
    envoy === undefined ? [] : readable(ENVOY_METRICS, () => now.envoy as EnvoyStatus),
  ].flat();
  return { metrics, refresh };
}

function readable<Source>(table: MetricTable<Source>, source: () => Source): readonly ReadableMetric[] {
  return Object.entries(table).map(([name, { type, help, labels, read }]) => {
    return { name, type, help, labels, read: (series) => read(source(), series) };
  });
}
