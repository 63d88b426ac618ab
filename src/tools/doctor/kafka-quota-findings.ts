import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { KeyPattern } from '../../core/account/keys/key-pattern.js';
import { bytesOf } from '../../doors/kafka-quotas/group-bytes.js';
import { markersOf } from '../../doors/kafka-quotas/markers-of.js';
import { readExporter } from '../../doors/kafka-quotas/read-exporter.js';
import { roughnessOf, troubleOfConsumers } from '../../doors/kafka-quotas/window-roughness.js';
import { ClientQuotaAdmin } from '../../topic/kafka/client-quota-admin.js';
import type { KafkaTopicConfig } from '../../topic/kafka/kind.js';
import { type Finding, good, looked, noted, wrong } from './finding.js';

/** Checks the needs of `quotamesh kafka-quotas`: exporters' pages, rights on quotas, smoothing windows. */
export async function quotaFindings(
  config: ResolvedConfig,
  topic: KafkaTopicConfig,
  timeoutMs: number,
): Promise<readonly Finding[]> {
  const { kafkaQuotas } = config;
  if (kafkaQuotas.entities.length === 0) return [];
  const pages = kafkaQuotas.exporters.map((exporter) =>
    looked(`exporter ${exporter}`, timeoutMs, async () => {
      const { problem } = await readExporter(exporter, { ...kafkaQuotas, timeoutMs });
      const about = `exporter ${exporter}`;
      if (problem === null) return good(about, 'its page can be read');
      return wrong(about, new QuotameshError('EXPORTER_UNREADABLE', { exporter, reason: problem }));
    }),
  );
  const windows = looked('windows of client quotas', timeoutMs, () =>
    windowFindings(topic, timeoutMs, keepsConsumers(config)),
  );
  return (await Promise.all([...pages, windows])).flat();
}

function keepsConsumers({ kafkaQuotas, groups, keys }: ResolvedConfig): boolean {
  // The configuration has been checked, its patterns too.
  const isOf = (pattern: string, name: string) => (KeyPattern.of(pattern) as KeyPattern).matches(name);
  const templateOf = (name: string) => keys.templates.find(({ pattern }) => isOf(pattern, name));
  const quotaOf = (name: string) => {
    const group = groups.find((each) => each.name === name) ?? templateOf(name)?.group;
    return group === undefined ? null : bytesOf(group);
  };
  return markersOf(kafkaQuotas.entities, quotaOf).some(({ name }) => name === 'consumer_byte_rate');
}

async function windowFindings(
  topic: KafkaTopicConfig,
  timeoutMs: number,
  hasConsumers: boolean,
): Promise<readonly Finding[]> {
  const about = 'windows of client quotas';
  const patient = { ...topic, connectionTimeoutMs: Math.min(topic.connectionTimeoutMs, timeoutMs) };
  const admin = new ClientQuotaAdmin(patient, () => undefined);
  try {
    // Unused answer: who may not see quotas may not write them either.
    await admin.describe();
    const found = await admin.windows();
    const rough = found.flatMap(({ broker, windows, windowSeconds }) => {
      const text = roughnessOf(windows, windowSeconds);
      return text === null ? [] : [noted(about, new QuotameshError('KAFKA_QUOTAS_ROUGH', { broker, windows: text }))];
    });
    const troubled = found.flatMap(({ broker, windows }) => {
      const trouble = hasConsumers ? troubleOfConsumers(windows) : null;
      return trouble === null ? [] : [noted(about, new QuotameshError('KAFKA_QUOTAS_FETCHES', { broker, trouble }))];
    });
    const findings = [...rough, ...troubled];
    if (findings.length > 0) return findings;
    return [good(about, `one window at each of ${found.length} brokers: rates are smooth`)];
  } catch (error) {
    return [
      wrong(about, new QuotameshError('TOPIC_UNREACHABLE', { topic: topic.name, reason: (error as Error).message })),
    ];
  } finally {
    await admin.close();
  }
}
