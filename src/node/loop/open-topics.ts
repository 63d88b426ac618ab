import { join } from 'node:path';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { ReportTopic } from '../../base/ports/report-topic.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { KafkaTopicConfig, ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { nodeKeyOf } from '../../core/base/ids.js';
import { isGroupStateKey, nodeRecordKey } from '../../core/base/protocol/record.js';
import type { EmbeddedTopicOptions } from '../../topic/embedded/embedded-topic.js';
import { openToOthers } from '../../topic/embedded/private-folder.js';
import { createMemoryLog, type MemoryLog } from '../../topic/memory/memory-log.js';
import { MemoryTopic } from '../../topic/memory/memory-topic.js';

/** Opens no topic, but makes those that the configuration requires. */
export async function openTopics(config: ResolvedConfig, telemetry: Telemetry) {
  const topic = await createTopic(config, telemetry);
  return { topic, registryTopic: await createRegistryTopic(config, telemetry) };
}

/** Makes the configured topic; loads only its client. */
export async function createTopic(config: ResolvedConfig, telemetry: Telemetry): Promise<ReportTopic> {
  return withSignatures(await adapterOf(config, telemetry), config, 'reports', telemetry);
}

async function adapterOf({ cluster, topic }: ResolvedConfig, telemetry: Telemetry): Promise<ReportTopic> {
  switch (topic.kind) {
    case 'none':
      // `topic: none` has a log of its own, and works like others.
      return new MemoryTopic(createMemoryLog(), ALONE);
    case 'memory':
      return new MemoryTopic(memoryLogOf(cluster), topic);
    case 'embedded': {
      const open = await openToOthers(topic.path);
      if (open !== null)
        telemetry.log('warn', 'folder of the topic is open to others', { path: topic.path, reason: open });
      return createEmbeddedTopic(topic);
    }
    case 'kafka': {
      const { KafkaReportTopic } = await import('../../topic/kafka/kafka-report-topic.js');
      return new KafkaReportTopic(topic, logsOf(telemetry, 'kafka'));
    }
    case 'redis': {
      const { RedisReportTopic } = await import('../../topic/redis/redis-report-topic.js');
      return new RedisReportTopic({ cluster, log: 'reports' }, topic, logsOf(telemetry, 'redis'));
    }
  }
}

/** Makes the registry's topic: one partition, kept for ever. Null = the registry is off, or nothing is shared. */
async function createRegistryTopic(config: ResolvedConfig, telemetry: Telemetry): Promise<ReportTopic | null> {
  if (!config.registry.enabled) return null;
  const topic = await registryAdapterOf(config, telemetry);
  return topic && withSignatures(topic, config, 'registry', telemetry);
}

async function registryAdapterOf(config: ResolvedConfig, telemetry: Telemetry): Promise<ReportTopic | null> {
  const { cluster, topic } = config;
  switch (topic.kind) {
    case 'none':
      return null;
    case 'memory':
      return new MemoryTopic(memoryLogOf(`${cluster}/registry`), topic);
    case 'embedded':
      return createEmbeddedTopic({ ...topic, path: join(topic.path, 'registry'), durable: true });
    case 'kafka': {
      const { KafkaReportTopic } = await import('../../topic/kafka/kafka-report-topic.js');
      return new KafkaReportTopic(
        { ...topic, name: kafkaNameOf(topic, 'registry'), partitions: 1 },
        {
          keepsForever: true,
          ...logsOf(telemetry, 'kafka-registry'),
        },
      );
    }
    case 'redis': {
      const { RedisReportTopic } = await import('../../topic/redis/redis-report-topic.js');
      return new RedisReportTopic({ cluster, log: 'registry' }, topic, {
        keepsForever: true,
        ...logsOf(telemetry, 'redis-registry'),
      });
    }
  }
}

/** Makes the log of keepers, in the Kafka whose quotas they keep. */
export async function createKeeperTopic(config: ResolvedConfig, telemetry: Telemetry): Promise<KeeperTopic> {
  const { topic: kafka } = config;
  if (kafka.kind !== 'kafka' || config.kafkaQuotas.entities.length === 0) {
    const reason = 'kafkaQuotas.entities names nobody, and a topic of kind kafka is needed';
    throw new QuotameshError('USAGE', { reason: `${config.source}: ${reason} (docs/guide/kafka-quotas.md)` });
  }
  const { KafkaReportTopic } = await import('../../topic/kafka/kafka-report-topic.js');
  const name = kafkaNameOf(kafka, 'kafka-quotas');
  const hooks = { keepsForever: true, ...logsOf(telemetry, 'kafka-quotas') };
  const own = new KafkaReportTopic({ ...kafka, name, partitions: 1 }, hooks);
  return { topic: await withSignatures(own, config, 'kafka-quotas', telemetry), kafka };
}

export interface KeeperTopic {
  readonly topic: ReportTopic;
  readonly kafka: KafkaTopicConfig;
}

/** Makes the embedded topic; a missing package ends the start, which would else be waited for. */
async function createEmbeddedTopic(options: EmbeddedTopicOptions): Promise<ReportTopic> {
  const { EmbeddedTopic } = await import('../../topic/embedded/embedded-topic.js');
  const { loadLmdb } = await import('../../topic/embedded/load-lmdb.js');
  await loadLmdb();
  return new EmbeddedTopic(options);
}

function logsOf(telemetry: Telemetry, component: string): Telemetry {
  return { log: (level, message, facts) => telemetry.log(level, message, { component, ...facts }) };
}

export type Log = 'reports' | 'registry' | 'kafka-quotas';

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
    log: topic.kind === 'kafka' ? kafkaNameOf(topic, log) : log,
    name: log === 'reports' ? 'topic' : `${log} topic`,
  });
}

/** Names the Kafka topic of a log. */
export function kafkaNameOf({ name }: KafkaTopicConfig, log: Log): string {
  return log === 'reports' ? name : `${name}-${log}`;
}

const ALONE = { appendTimeoutMs: 5000 };

/** Logs by cluster: nodes of one process share one, as processes share a folder. */
const memoryLogs = new Map<string, MemoryLog>();

function memoryLogOf(cluster: string): MemoryLog {
  const known = memoryLogs.get(cluster);
  if (known !== undefined) return known;
  const log = createMemoryLog();
  memoryLogs.set(cluster, log);
  return log;
}
