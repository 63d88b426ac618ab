import type { AccessConfig } from '../../access/access-config.js';
import type { AttachmentsConfig } from '../../core/attachments/attachment.js';
import type { CoordinatorSettings, CostMeterSettings, GroupSettings } from '../../core/base/settings.js';
import type { KeyedLimit, NodeLimit } from '../../core/limiter/level-settings.js';
import type { TopicSplitName } from '../../core/limiter/topic-split.js';
import type { CostFactors } from '../../core/target/cost-units.js';

/** What the node runs with: no optional field, deeply frozen. Made only by resolve-config.ts. */
export interface ResolvedConfig {
  readonly cluster: string;
  readonly nodeId: string;
  /** File the configuration came from, for messages; `(inline)` for an object given to createNode. */
  readonly source: string;
  /** Files beside it that were read (tokens, certificates of the listeners), absolute: they are watched like it. */
  readonly files: readonly string[];
  /** null = there is no `auth:`: callers on this machine have every role. */
  readonly auth: AccessConfig | null;
  /** Listeners may be open to other machines without `auth:`. */
  readonly insecure: boolean;
  readonly topic: TopicConfig;
  readonly registry: RegistryConfig;
  /** Which tenant, namespace, topic, client or header belongs to which group. */
  readonly attachments: AttachmentsConfig;
  readonly http: HttpConfig;
  readonly mqtt: MqttConfig;
  readonly limits: LimitsConfig;
  readonly log: LogConfig;
  readonly metrics: MetricsConfig;
  /** Sampling period of the runtime's round, ms. */
  readonly sampleIntervalMs: number;
  /** Everything of CoordinatorSettings that does not come from the environment of the process. */
  readonly timing: Omit<
    CoordinatorSettings,
    | 'cluster'
    | 'nodeId'
    | 'version'
    | 'nonce'
    | 'partitions'
    | 'groups'
    | 'sampleIntervalMs'
    | 'limiting'
    | 'maxNodes'
    | 'maxRows'
    | 'maxGroupsPerNode'
    | 'costs'
  >;
  readonly limiting: CoordinatorSettings['limiting'];
  readonly costs: CostsConfig;
  /** Backends whose health this cluster polls. */
  readonly backends: readonly PolledBackend[];
  readonly groups: readonly GroupConfig[];
  /** Group used for names that are not configured; null = such names are refused. */
  readonly defaultGroup: string | null;
}

/** Groups that are defined at run time. */
export interface RegistryConfig {
  readonly enabled: boolean;
  /** Of the Kafka topic; null = that of the reports with `-registry` behind it. */
  readonly name: string | null;
  /** From other machines too. */
  readonly remoteChanges: boolean;
  readonly maxGroups: number;
  /** Places that are attached at run time. */
  readonly maxAttachments: number;
  /** Of groups and attachments, through this node. */
  readonly changesPerSecond: number;
  /** Changes that the trail keeps. */
  readonly auditedChanges: number;
}

/** What is kept of costs, and how bytes become cost units. */
export interface CostsConfig extends CostMeterSettings, CostFactors {}

export interface PolledBackend {
  readonly name: string;
  readonly url: string;
  /** Name of the metric, perhaps with labels. */
  readonly metric: string;
  readonly zone: string;
  readonly target: number;
  readonly spring: number;
  readonly everyMs: number;
  readonly timeoutMs: number;
}

export interface GroupConfig extends GroupSettings {
  /** false = nothing of the group is limited, counted or told to others, whatever else it says. */
  readonly enabled: boolean;
  /** What becomes of work of a batch that was dropped before it used what the quota protects. */
  readonly dropped: DroppedWork;
  /** Largest amounts a single acquire may ask for; null = derived from the quota (max-request.ts). */
  readonly maxRequest: { readonly messages: number | null; readonly bytes: number | null };
  /** Debt that work may leave that cannot be refused, in milliseconds of the limit. */
  readonly debtMs: number;
  /** How this node divides its share over its own topics. */
  readonly topics: TopicSplitName;
  readonly perTopic: KeyedLimit;
  readonly perClient: KeyedLimit;
}

export const DROPPED_WORK = ['handed-back', 'counted'] as const;
export type DroppedWork = (typeof DROPPED_WORK)[number];

export interface LimitsConfig extends NodeLimit {
  /** Acquires that wait at once. */
  readonly maxWaiting: number;
  /** Reservations over HTTP that are open at once, and for how long each may be. */
  readonly maxReservations: number;
  readonly reservationMs: number;
  /** Node ids that the usage map knows at once. */
  readonly maxNodes: number;
  /** The most groups that one node may have in use, and the most rows of all nodes in the usage map. */
  readonly maxGroupsPerNode: number;
  readonly maxRows: number;
}

export interface HttpConfig {
  readonly host: string;
  readonly port: number;
  readonly bodyLimitBytes: number;
  readonly maxConnections: number;
  /** The most requests of one connection that wait behind the one under way. */
  readonly maxPipelined: number;
  /** The most bytes that all connections hold: waiting requests, large bodies on their way, large answers not taken. */
  readonly maxHeldBytes: number;
  readonly notReadingMs: number;
  /** null = plain HTTP. */
  readonly tls: HttpTlsConfig | null;
}

/** PEM texts. */
export interface HttpTlsConfig {
  readonly cert: string;
  readonly key: string;
  readonly passphrase: string | null;
  /** Authority of client certificates; null = none are asked for. */
  readonly clientCa: string | null;
  /** required: who has none, or one of another authority, does not get through the handshake. */
  readonly clientCertificates: 'optional' | 'required';
}

/** Of `quotamesh mqtt`. */
export interface MqttConfig {
  readonly host: string;
  readonly port: number;
  readonly maxConnections: number;
  readonly maxPacketBytes: number;
  readonly maxPendingPublishes: number;
  readonly maxPendingBytes: number;
  readonly maxQueuedMessages: number;
  readonly maxQueuedBytes: number;
  readonly notReadingMs: number;
  readonly maxSessionMessages: number;
  readonly maxSessionBytes: number;
  readonly maxSubscriptions: number;
  readonly maxFiltersPerPacket: number;
  readonly maxRetainedMessages: number;
  readonly maxRetainedBytes: number;
  /** 0 = none at all. */
  readonly connectsPerSecond: number;
  /** null = unlimited, 0 = none at all. */
  readonly subscribesPerSecond: number | null;
  readonly rules: readonly MqttRule[];
}

export interface LogConfig {
  readonly level: string;
  /** 0 = never. */
  readonly targetEveryMs: number;
  /** Absolute path of the decision log; null = none is written. */
  readonly decisionsFile: string | null;
}

export interface MetricsConfig {
  /** Series per group: none (default), all, or the named groups. */
  readonly perGroup: 'none' | 'all' | readonly string[];
}

export type TopicConfig = NoTopicConfig | (SharedTopicConfig & Signing);

type SharedTopicConfig = MemoryTopicConfig | EmbeddedTopicConfig | KafkaTopicConfig | RedisTopicConfig;

interface Signing {
  /** Null = records are not signed. */
  readonly hmac: HmacConfig | null;
}

/** What both topics' records are signed with. */
export interface HmacConfig {
  /** Signs, and verifies; the other two only verify. */
  readonly key: string;
  readonly nextKey: string | null;
  readonly previousKey: string | null;
  /** What becomes of records that none of them has signed: require = ignored, warn = believed all the same. */
  readonly verify: 'require' | 'warn';
}

/** Nothing is shared: every node takes its part of the quota, and is told how many parts there are. */
export interface NoTopicConfig {
  readonly kind: 'none';
  readonly nodeCount: number;
}

export interface MemoryTopicConfig {
  readonly kind: 'memory';
  readonly appendTimeoutMs: number;
}

export interface EmbeddedTopicConfig {
  readonly kind: 'embedded';
  /** Folder shared by the processes of one cluster on this machine; absolute after resolving. */
  readonly path: string;
  readonly appendTimeoutMs: number;
}

export interface KafkaTopicConfig {
  readonly kind: 'kafka';
  readonly brokers: readonly string[];
  readonly name: string;
  readonly clientId: string;
  /** Used only when the topic is created. */
  readonly partitions: number;
  readonly replicationFactor: number;
  /** Compression of the produced batches. */
  readonly compression: 'none' | 'gzip';
  readonly appendTimeoutMs: number;
  readonly connectionTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly fetchMaxWaitMs: number;
  readonly fetchMinBytes: number;
  readonly fetchIntervalMs: number;
  readonly tls: boolean | Readonly<Record<string, unknown>>;
  readonly sasl: Readonly<Record<string, string>> | null;
}

export interface RedisTopicConfig {
  readonly kind: 'redis';
  /** The server; where `sentinel.master` is given, the Sentinels. */
  readonly addresses: readonly string[];
  readonly username: string | null;
  readonly password: string | null;
  readonly db: number;
  readonly prefix: string;
  readonly appendTimeoutMs: number;
  readonly connectionTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly readIntervalMs: number;
  readonly settleMs: number;
  readonly tls: boolean | Readonly<Record<string, unknown>>;
  readonly sentinel: {
    readonly master: string | null;
    readonly username: string | null;
    readonly password: string | null;
    readonly tls: boolean;
  };
}

/** Which messages belong to which group; null = not asked for, or not known. */
export interface MqttRule {
  readonly clientId: string | null;
  readonly username: string | null;
  readonly topic: string | null;
  readonly tenant: string | null;
  readonly namespace: string | null;
  /** null = the group `tenant/namespace`, and without one what tenant and namespace are attached to. */
  readonly group: string | null;
}
