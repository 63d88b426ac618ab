import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { ReportTopic } from '../../base/ports/report-topic.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { kindOf } from '../../config/schema/topic-kinds.js';
import type { Log } from '../../config/setting/topic-kind.js';
import { nodeKeyOf } from '../../core/base/ids.js';
import { isGroupStateKey, nodeRecordKey } from '../../core/base/protocol/record.js';
import type { KafkaTopicConfig } from '../../topic/kafka/kind.js';

/** Opens no topic, but makes those that the configuration requires. */
export async function openTopics(config: ResolvedConfig, telemetry: Telemetry) {
  const topic = await createTopic(config, telemetry);
  return { topic, registryTopic: await createRegistryTopic(config, telemetry) };
}

/** Makes the configured topic; loads only its client. */
export async function createTopic(config: ResolvedConfig, telemetry: Telemetry): Promise<ReportTopic> {
  // Every kind has a log of reports.
  return (await createLog(config, 'reports', telemetry))!;
}

/**
 * The registry's topic: one partition beside that of the reports, kept for ever. Null where the registry is off, or
 * nothing is shared.
 */
async function createRegistryTopic(config: ResolvedConfig, telemetry: Telemetry): Promise<ReportTopic | null> {
  return config.registry.enabled ? createLog(config, 'registry', telemetry) : null;
}

/** Makes the log of strict groups: one partition, of which only the last seconds count. */
export async function createStrictTopic(config: ResolvedConfig, telemetry: Telemetry): Promise<ReportTopic> {
  const topic = await createLog(config, 'strict', telemetry);
  if (topic !== null) return topic;
  const { kind } = config.topic;
  throw new QuotameshError('STRICT_TOPIC', { kind, reason: kindOf(kind).strictLacks ?? 'it has no log for them' });
}

async function createLog(config: ResolvedConfig, log: Log, telemetry: Telemetry): Promise<ReportTopic | null> {
  const { cluster, topic } = config;
  const own = await kindOf(topic.kind).open(topic, { cluster, log, telemetry });
  return own && withSignatures(own, config, log, telemetry);
}

/** Opens the log of the keepers of Kafka's quotas. It lies in the Kafka whose quotas they keep. */
export async function createKeeperTopic(config: ResolvedConfig, telemetry: Telemetry): Promise<KeeperTopic> {
  const { topic: kafka } = config;
  if (kafka.kind !== 'kafka' || config.kafkaQuotas.entities.length === 0) {
    const reason = 'kafkaQuotas.entities names nobody, and a topic of kind kafka is needed';
    throw new QuotameshError('USAGE', { reason: `${config.source}: ${reason} (docs/guide/kafka-quotas.md)` });
  }
  // Kafka has such a log.
  return { topic: (await createLog(config, 'kafka-quotas', telemetry))!, kafka };
}

interface KeeperTopic {
  readonly topic: ReportTopic;
  readonly kafka: KafkaTopicConfig;
}

async function withSignatures(own: ReportTopic, config: ResolvedConfig, log: Log, telemetry: Telemetry) {
  const { cluster, topic } = config;
  if (topic.kind === 'none' || topic.hmac === null) return own;
  const { SignedTopic } = await import('../../topic/signed/signed-topic.js');
  const { KinWatch } = await import('../../topic/signed/kin-watch.js');
  const { isolationAfterMs: kinMs, stalenessMs: strangerMs } = config.timing;
  const ownKey = nodeRecordKey(nodeKeyOf(cluster, config.nodeId));
  return new SignedTopic(own, {
    ...(log === 'reports' && { kin: new KinWatch({ ownKey, kinMs, strangerMs }) }),
    cluster,
    hmac: topic.hmac,
    telemetry,
    isShared: log === 'reports' ? isGroupStateKey : () => true,
    log: kindOf(topic.kind).nameOf?.(topic, log) ?? log,
    name: log === 'reports' ? 'topic' : `${log} topic`,
  });
}
