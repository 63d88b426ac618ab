import { resolve } from 'node:path';
import { isMapping } from '../../base/input/mapping.js';
import type { Members, ValueOf } from '../../config/setting/section.js';
import { KAFKA_TOPIC_NAME, NODE_NAME } from '../../config/setting/setting.js';
import { valueAt } from '../../config/setting/setting-value.js';
import type { TextsRead } from '../../config/setting/text-file.js';
import { TLS } from '../../config/setting/tls.js';
import {
  checkTls,
  given,
  type KindMistakes,
  type Log,
  logsOf,
  type SoundOf,
  tlsOf,
  topicKind,
  withEnabled,
} from '../../config/setting/topic-kind.js';
import { SASL, saslWay, tokenEndpointProblem } from './sasl.js';

const SETTINGS = {
  brokers: {
    kind: 'addresses',
    default: null,
    defaultText: 'none: required with kind kafka',
    remedy: 'Name at least one broker, e.g. `brokers: ["127.0.0.1:9092"]`.',
    missedBy: 'everybody',
    buys: 'Where to begin: one reachable broker is enough, three survive the loss of two.',
    costs: 'Nothing.',
  },
  name: {
    kind: 'name',
    default: 'quotamesh-reports',
    pattern: KAFKA_TOPIC_NAME,
    missedBy: 'several clusters on a Kafka',
    buys: 'The topic of the reports: compacted, created when missing, verified otherwise.',
    costs: 'Clusters that share a topic stay apart but read each other’s records.',
  },
  clientId: {
    kind: 'name',
    default: null,
    defaultText: 'quotamesh-<node>',
    pattern: NODE_NAME,
    missedBy: 'Kafka’s quotas by client id',
    buys: 'The name in Kafka’s own logs, metrics and quotas.',
    costs: 'Nothing.',
  },
  partitions: {
    kind: 'count',
    default: 1,
    min: 1,
    max: 16,
    missedBy: 'very many groups',
    buys: 'Spreads the reports of very many groups over several brokers. Used only when the topic is created.',
    costs: 'A heartbeat per node and partition, and a fetch loop per broker. A group stays in one partition.',
  },
  replicationFactor: {
    kind: 'count',
    default: -1,
    defaultText: '-1: the default of the Kafka cluster',
    min: -1,
    max: 32,
    remedy: 'Use -1 for the default of the Kafka cluster, or 1 and up.',
    missedBy: 'durability',
    buys: 'The topic survives the loss of more brokers. Used only when the topic is created.',
    costs: 'Kafka’s disk and network, and a little time per append.',
  },
  acceptSingleReplica: {
    kind: 'switch',
    default: false,
    missedBy: 'strict groups on a Kafka of one broker',
    buys: 'true: strict groups are kept by a topic of fewer than three replicas, and of one in sync.',
    costs: 'Who loses that broker’s disk loses what was granted; the same may then be admitted again.',
  },
  compression: {
    kind: 'choice',
    default: 'none',
    choices: ['none', 'gzip', 'snappy', 'lz4', 'zstd'],
    missedBy: 'slow links',
    buys: 'Large batches are smaller; packed reports gain little (docs/operate/scale.md).',
    costs:
      'CPU at every writer and reader. snappy and lz4 need a package (snappy, lz4-napi) and zstd Node.js 22.15 at every node: one without it stops reading, because it would see another log than the others.',
  },
  fetchMinBytes: {
    kind: 'bytes',
    default: 1,
    min: 1,
    max: 2 ** 24,
    missedBy: 'readers short of CPU',
    buys: 'Fewer, larger fetches where changes are many (docs/operate/scale.md).',
    costs: 'Every record, also the own echo, may wait for a quarter of a second.',
  },
  tls: TLS,
  sasl: SASL,
} as const satisfies Members;

const CONSTANTS = {
  /** At least `requestTimeoutMs`: the next append must not overtake a running request. */
  appendTimeoutMs: 5000,
  /** A broker that is down is given up later. */
  connectionTimeoutMs: 3000,
  /** A frozen broker is noticed later. More than `fetchMaxWaitMs`, or an idle topic would pass for a dead one. */
  requestTimeoutMs: 3000,
  /** Fewer empty answers of an idle topic; stopping takes up to as long. */
  fetchMaxWaitMs: 250,
  /** Fewer fetches where records never stop coming; each record may wait as long. */
  fetchIntervalMs: 40,
};

export const KAFKA_TOPIC = topicKind({
  says: 'any machines; needs a Kafka cluster',
  sharedBy: 'processes',
  strictLacks: null,
  settings: SETTINGS,
  constants: CONSTANTS,
  complete: (read, { written, folder, nodeId }) => {
    const { clientId, sasl, tls } = read;
    const tokenFile = typeof sasl.tokenFile === 'string' ? resolve(folder, sasl.tokenFile) : sasl.tokenFile;
    return {
      ...read,
      clientId: clientId === null ? `quotamesh-${nodeId}`.slice(0, 128) : clientId,
      tls: withEnabled(tls, written),
      sasl: { ...sasl, tokenFile },
    };
  },
  check: (read, mistakes, written) => {
    checkTls(read.tls, mistakes);
    mistakes.require('brokers', 'with kind kafka');
    if (read.replicationFactor === 0) {
      const remedy = mistakes.remedyOf('replicationFactor');
      mistakes.add(['replicationFactor'], { problem: 'must not be 0', allowed: '-1, or 1 to 32', remedy });
    }
    if (isMapping(valueAt(written, 'sasl'))) checkSasl(read.sasl, mistakes);
  },
  configOf,
  nameOf: kafkaNameOf,
  open: async (config, opening) => {
    const { KafkaReportTopic } = await import('./kafka-report-topic.js');
    const hooks = logsOf(opening, 'kafka');
    if (opening.log === 'reports') return new KafkaReportTopic(config, hooks);
    const kept = { ...config, name: kafkaNameOf(config, opening.log), partitions: 1 };
    return new KafkaReportTopic(kept, { keepsForever: true, isStrict: opening.log === 'strict', ...hooks });
  },
  examine: async (config, visit) => (await import('./examine-kafka.js')).examineKafka(config, visit),
  hasCodecs: true,
});

/** Settings as the adapter takes them. */
export type KafkaTopicConfig = ReturnType<typeof configOf> & typeof CONSTANTS;

function configOf({ brokers, clientId, tls, sasl, ...others }: TextsRead<ValueOf<typeof SETTINGS>>) {
  return {
    ...others,
    kind: 'kafka' as const,
    // Without brokers there would have been a mistake.
    brokers: brokers!,
    clientId: clientId!,
    tls: tlsOf(tls),
    /** null = connections do not prove who they are. */
    sasl: sasl.mechanism === null ? null : given(sasl),
  };
}

/** Names the topic of a log in Kafka. */
export function kafkaNameOf({ name }: Pick<KafkaTopicConfig, 'name'>, log: Log): string {
  return log === 'reports' ? name : `${name}-${log}`;
}

function checkSasl(sasl: SoundOf<typeof SETTINGS>['sasl'], mistakes: KindMistakes): void {
  const { mechanism, ...others } = sasl;
  const { tokenFile, tokenEndpoint } = others;
  const { needs, takes } = saslWay(mechanism, typeof tokenFile === 'string');
  for (const key of needs) mistakes.require(`sasl.${key}`, 'with sasl');
  const given = Object.entries(others).filter(([, value]) => typeof value === 'string');
  const rest = given.filter(([key]) => ![...needs, ...takes].includes(key));
  for (const [key] of mechanism === null ? [] : rest) {
    const allowed = `with ${mechanism}: ${[...needs, ...takes].map((known) => `sasl.${known}`).join(', ')}`;
    const problem = `means nothing with sasl.mechanism ${mechanism}${tokenFile ? ' and sasl.tokenFile' : ''}`;
    mistakes.add(['sasl', key], { problem, allowed, remedy: 'Remove it.' });
  }
  const problem = typeof tokenEndpoint === 'string' ? tokenEndpointProblem(tokenEndpoint) : null;
  if (problem === null) return;
  const remedy = 'Give the https URL of the token endpoint.';
  mistakes.add(['sasl', 'tokenEndpoint'], { problem, allowed: 'an https URL without credentials', remedy });
}
