import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Access } from '../access/access.js';
import type { NodeStatus } from '../api/node-status.js';
import type { AcquireOutcomes } from '../http/acquire/acquire-outcomes.js';
import type { KeeperStatus } from '../kafka-quotas/keeper-status.js';
import type { MqttStatus } from '../mqtt/mqtt-status.js';
import type { NodeParts } from '../node/node-parts.js';
import { describeNode } from '../status/describe-node.js';
import { ACCESS_METRICS, accessReadings } from './access-metrics.js';
import { admissionReadings } from './admission-readings.js';
import { GroupSeries } from './group-series.js';
import { KAFKA_QUOTA_METRICS, kafkaQuotaReadings } from './kafka-quota-metrics.js';
import { ADMISSION_METRICS, type MetricRow, MQTT_METRICS, NODE_METRICS, TOPIC_METRICS } from './metric-table.js';
import { mqttReadings } from './mqtt-readings.js';
import { nodeReadings } from './node-readings.js';
import { GROUP_SOURCE_METRICS } from './registry-metric-table.js';
import { groupSourceReadings } from './registry-metrics.js';
import { SIGNATURE_METRICS, signatureReadings } from './signature-metrics.js';
import { topicReadings } from './topic-readings.js';

/** Where the metrics come from. */
export interface MetricSources {
  readonly node: NodeParts;
  readonly access: Access;
  readonly outcomes: AcquireOutcomes;
  readonly incidents: { readonly unhandledRejections: number };
  /** Beside an MQTT broker. */
  readonly mqtt?: (() => MqttStatus) | undefined;
  /** Beside a keeper of Kafka's quotas. */
  readonly kafkaQuotas?: (() => KeeperStatus) | undefined;
}

export interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
}

export type Labels = Readonly<Record<string, string>>;

/** Tells the values of one metric, one call per series. */
export type Reading = (series: (value: number, labels?: Labels) => void) => void;

/** A registry of its own, so that an embedding program's metrics and ours do not mix. */
export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const { node } = sources;
  let status: NodeStatus = describeNode(node);
  const now = () => status;
  register(registry, NODE_METRICS, nodeReadings(sources, now));
  register(registry, GROUP_SOURCE_METRICS, groupSourceReadings(node, now));
  register(registry, ACCESS_METRICS, accessReadings(sources.access));
  register(registry, TOPIC_METRICS, topicReadings(now));
  register(registry, SIGNATURE_METRICS, signatureReadings(now));
  register(registry, ADMISSION_METRICS, admissionReadings(sources));
  const { mqtt } = sources;
  let mqttNow = mqtt?.();
  if (mqttNow !== undefined)
    register(
      registry,
      MQTT_METRICS,
      mqttReadings(() => mqttNow as MqttStatus),
    );
  const { kafkaQuotas } = sources;
  let keeperNow = kafkaQuotas?.();
  if (keeperNow !== undefined)
    register(
      registry,
      KAFKA_QUOTA_METRICS,
      kafkaQuotaReadings(() => keeperNow as KeeperStatus),
    );
  const groups = new GroupSeries(node);
  return {
    contentType: registry.contentType,
    text: async () => {
      // Once per scrape: most readings are parts of it.
      status = describeNode(node);
      mqttNow = mqtt?.();
      keeperNow = kafkaQuotas?.();
      return (await registry.metrics()) + (await groups.text());
    },
  };
}

function register<Name extends string>(
  registry: Registry,
  rows: Readonly<Record<Name, MetricRow>>,
  readings: Readonly<Record<Name, Reading>>,
): void {
  for (const [name, { type, help, labels = [] }] of Object.entries<MetricRow>(rows)) {
    const read = readings[name as Name];
    const options = { name, help, labelNames: labels, registers: [registry] };
    if (type === 'gauge') {
      const gauge = new Gauge({
        ...options,
        collect: () => {
          gauge.reset();
          read((value, given = {}) => gauge.set(given, value));
        },
      });
    } else {
      // The node counts; the registry only repeats what it has counted so far.
      const counter = new Counter({
        ...options,
        collect: () => {
          counter.reset();
          read((value, given = {}) => counter.inc(given, value));
        },
      });
    }
  }
}
