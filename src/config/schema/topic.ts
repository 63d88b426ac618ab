import type { Members } from '../setting/section.js';
import { KAFKA_TOPIC_NAME, NODE_NAME, type Setting } from '../setting/setting.js';
import { SASL } from './sasl.js';
import { TLS } from './tls.js';

export const TOPIC_KIND = {
  kind: 'choice',
  default: 'embedded',
  choices: ['none', 'memory', 'embedded', 'kafka', 'redis'],
  missedBy: 'everybody',
  buys: 'none: nothing is shared. memory: one process, for tests. embedded: the processes of one machine. kafka, redis: any machines.',
  costs: 'kafka needs a Kafka cluster, redis a Redis; embedded needs a local (not a network) file system.',
} as const satisfies Setting;

export const NO_TOPIC = {
  nodeCount: {
    kind: 'count',
    default: null,
    defaultText: 'none: required with kind none',
    min: 1,
    max: 10_000,
    remedy: 'Say how many nodes share the quota, e.g. `nodeCount: 3`.',
    missedBy: 'nodes without a store',
    buys: 'No store at all: every node takes quota / nodeCount, whatever the others use. Hot, as groups are.',
    costs: 'What one node does not use nobody else may, and the count must be right: raise it before a node comes.',
  },
} as const satisfies Members;

export const MEMORY_TOPIC = {} as const satisfies Members;

export const EMBEDDED_TOPIC = {
  path: {
    kind: 'text',
    default: './state',
    missedBy: 'several clusters on a machine',
    buys: 'The folder that the processes of a cluster share. Relative paths start at that of the configuration file.',
    costs: 'A few MB of disk; it must lie on a local file system.',
  },
} as const satisfies Members;

export const KAFKA_TOPIC = {
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
