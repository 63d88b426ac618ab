import { GENERATED, table } from './markdown.mjs';

/** docs/reference/metrics.md from the metric tables (src/doors/telemetry/metric-table.ts and beside it). */
export function renderMetrics({
  NODE_METRICS,
  GROUP_SOURCE_METRICS,
  ACCESS_METRICS,
  TOPIC_METRICS,
  SIGNATURE_METRICS,
  ADMISSION_METRICS,
  HTTP_METRICS,
  MQTT_METRICS,
  ENVOY_METRICS,
  KAFKA_QUOTA_METRICS,
  GROUP_METRICS,
}) {
  return `${GENERATED}

# Metrics

\`GET /metrics\` answers in the Prometheus text format. All metrics are read at the scrape from what the node counts
anyway. Rates are units per second, times seconds, sizes bytes. Beside the metrics below there are prom-client's usual
ones of the process (\`process_*\`, \`nodejs_*\`), among them the lag of the event loop
(\`nodejs_eventloop_lag_seconds\`; the minimum, mean and percentiles beside it contain the 10 ms of the timer that
measures them).

What is worth an alert: [alerts.md](../operate/alerts.md), with the rules for Prometheus; a dashboard for Grafana:
[deployment.md](../operate/deployment.md#prometheus-and-grafana).

## Node

${metricTable(NODE_METRICS)}

## Where groups come from

${metricTable(GROUP_SOURCE_METRICS)}

## Access

Who was not let in ([access.md](../operate/access.md)).

${metricTable(ACCESS_METRICS)}

## Topic

${metricTable(TOPIC_METRICS)}

## Signatures

Only where records are signed: setting \`topic.hmac\` (docs/operate/kafka-security.md).

${metricTable(SIGNATURE_METRICS)}

## Admission

Sums over all groups of this node.

${metricTable(ADMISSION_METRICS)}

## HTTP

${metricTable(HTTP_METRICS)}

## MQTT broker

Only of \`quotamesh mqtt\` (docs/guide/mqtt.md).

${metricTable(MQTT_METRICS)}

## Envoy

Only where \`envoy.listen\` is set (docs/guide/envoy.md).

${metricTable(ENVOY_METRICS)}

## Keeper of Kafka’s quotas

Only of \`quotamesh kafka-quotas\` (docs/guide/kafka-quotas.md).

${metricTable(KAFKA_QUOTA_METRICS)}

## Groups

Only for the groups that \`metrics.perGroup\` names (docs/reference/settings.md): up to 34 series per group and direction,
24 where the cluster has no bucket for the group. A dimension without quota has no series of quota, share, limit and
share sum; one that nobody has used here yet has only its quota and counters.

${metricTable(GROUP_METRICS)}
`;
}

function metricTable(metrics) {
  const rows = Object.entries(metrics).map(([name, { type, labels, help }]) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    help,
  ]);
  return table(['Metric', 'Type', 'Labels', 'Meaning'], rows);
}
