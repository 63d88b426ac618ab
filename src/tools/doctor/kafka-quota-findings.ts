import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import type { Finding } from '../../config/setting/topic-kind.js';
import { KeyPattern } from '../../core/account/keys/key-pattern.js';
import { bytesOf } from '../../doors/kafka-quotas/entity-parts.js';
import { readExporter } from '../../doors/kafka-quotas/exporter-page.js';
import { markersOf } from '../../doors/kafka-quotas/quota-keeper.js';
import { roughnessOf, troubleOfConsumers } from '../../doors/kafka-quotas/window-roughness.js';
import { good, looked, noted, wrong } from '../../topic/findings/finding.js';
import { quotaAdmin } from '../../topic/kafka/examine-kafka.js';
import type { KafkaTopicConfig } from '../../topic/kafka/kind.js';

type Found = Promise<readonly Finding[]>;

const ABOUT_WINDOWS = 'windows of client quotas';

/** Checks the needs of `quotamesh kafka-quotas`: exporters' pages, rights on quotas, smoothing windows. */
export async function quotaFindings(config: ResolvedConfig, topic: KafkaTopicConfig, timeoutMs: number): Found {
  const { kafkaQuotas } = config;
  if (kafkaQuotas.entities.length === 0) return [];
  const pages = kafkaQuotas.exporters.map((exporter) => {
    const about = `exporter ${exporter}`;
    return looked(about, timeoutMs, async () => {
      const { problem } = await readExporter(exporter, { ...kafkaQuotas, timeoutMs });
      if (problem === null) return good(about, 'its page can be read');
      return wrong(about, new QuotameshError('EXPORTER_UNREADABLE', { exporter, reason: problem }));
    });
  });
  const windows = looked(ABOUT_WINDOWS, timeoutMs, () => windowFindings(topic, timeoutMs, keepsConsumers(config)));
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

async function windowFindings(topic: KafkaTopicConfig, timeoutMs: number, hasConsumers: boolean): Found {
  const admin = quotaAdmin(topic, timeoutMs);
  try {
    // Unused answer: who may not see quotas may not write them either.
    await admin.describe();
    const found = await admin.windows();
    const findings = found.flatMap(({ broker, windows, windowSeconds }) => {
      const trouble = roughnessOf(windows, windowSeconds) ?? (hasConsumers ? troubleOfConsumers(windows) : null);
      return trouble === null
        ? []
        : [noted(ABOUT_WINDOWS, new QuotameshError('KAFKA_QUOTA_WINDOWS', { broker, trouble }))];
    });
    if (findings.length > 0) return findings;
    return [good(ABOUT_WINDOWS, `one window at each of ${found.length} brokers: rates are smooth`)];
  } catch (error) {
    const reason = (error as Error).message;
    return [wrong(ABOUT_WINDOWS, new QuotameshError('TOPIC_UNREACHABLE', { topic: topic.name, reason }))];
  } finally {
    await admin.close();
  }
}
