import type { KeeperStatus, LimitStatus } from '../kafka-quotas/keeper-status.js';
import { byLabel, countedBy, counter, gauge, type Labelled, type MetricTable } from './metric.js';

/** Metrics beside a keeper of Kafka's quotas; kafkaQuotas.maxEntities bounds series per entity and broker. */
export const KAFKA_QUOTA_METRICS: MetricTable<KeeperStatus> = {
  quotamesh_kafka_writer: gauge(
    '1 while this keeper may change the quotas in Kafka, else 0. In the whole cluster exactly one has 1.',
    ({ mayWrite }) => mayWrite,
  ),
  quotamesh_kafka_keepers: gauge(
    'Keepers whose records were read lately, and this one.',
    ({ keepers }) => keepers.length,
  ),
  quotamesh_kafka_exporters: gauge(
    'Exporters of brokers. odd: a value is no rate; silent: what it said last counts; unknown: silent for kafkaQuotas.holdMs, its broker is taken to want everything.',
    countedBy('state', ['fine', 'odd', 'silent', 'unknown'], ({ exporters }) => exporters.map(({ state }) => state)),
  ),
  quotamesh_kafka_quotas_unreadable: gauge(
    '1 while Kafka does not tell its quotas, else 0.',
    ({ kafkaProblem }) => kafkaProblem !== null,
  ),
  quotamesh_kafka_alterations_total: counter(
    'Quotas that this keeper has sent to Kafka: done, or failed.',
    byLabel('outcome', ({ alterations, alterationsFailed }) => ({ done: alterations, failed: alterationsFailed })),
  ),
  quotamesh_kafka_foreign_changes_total: counter(
    'Quotas of ours that somebody else has changed or removed; the log names each.',
    ({ foreignChanges }) => foreignChanges,
  ),
  quotamesh_kafka_entities_left: gauge(
    'Quotas that are left alone because somebody else has set them; --adopt takes them over.',
    ({ limits }) => limits.filter(({ state }) => state === 'left').length,
  ),
  quotamesh_kafka_entities_left_out: gauge(
    'Entities of patterns beyond kafkaQuotas.maxEntities: they have no quota of ours.',
    ({ leftOut }) => leftOut,
  ),
  quotamesh_kafka_quota_bytes_per_second: gauge(
    'Quota of the whole Kafka cluster.',
    ofEntities(({ quota }) => quota),
  ),
  quotamesh_kafka_in_force_bytes_per_second: gauge(
    'The rate that every broker enforces, as Kafka told it last. No series where nothing is in force.',
    ofEntities(({ inForce }) => inForce),
  ),
  quotamesh_kafka_usage_bytes_per_second: gauge(
    'The rate of all brokers together, by their exporters.',
    ofEntities(({ usage }) => usage),
  ),
  quotamesh_kafka_broker_bytes_per_second: gauge(
    'The rate of each broker, by its exporter. No series where that has been silent for kafkaQuotas.holdMs.',
    ofBrokers(({ rate }) => rate),
  ),
  quotamesh_kafka_broker_saturated: gauge(
    '1 where clients wait at the broker, or its exporter is silent for too long, else 0.',
    ofBrokers(({ isSaturated }) => Number(isSaturated)),
  ),
};

function ofEntities(read: (limit: LimitStatus) => number | null): Labelled<KeeperStatus> {
  return {
    labels: ['entity', 'quota_name'],
    read: ({ limits }, series) => {
      for (const limit of limits) {
        const value = read(limit);
        if (value !== null) series(value, { entity: limit.entity, quota_name: limit.quotaName });
      }
    },
  };
}

function ofBrokers(read: (broker: LimitStatus['brokers'][number]) => number | null): Labelled<KeeperStatus> {
  return {
    labels: ['entity', 'quota_name', 'exporter'],
    read: ({ limits }, series) => {
      for (const { entity, quotaName, brokers } of limits) {
        for (const broker of brokers) {
          const value = read(broker);
          if (value !== null) series(value, { entity, quota_name: quotaName, exporter: broker.url });
        }
      }
    },
  };
}
