import type { AccessConfig } from '../../access/access-config.js';
import type { AttachmentsConfig } from '../../core/attachments/attachment.js';
import type { CoordinatorSettings, CostMeterSettings, GroupSettings } from '../../core/base/settings.js';
import type { Direction } from '../../core/base/vocabulary.js';
import type { KeyedLimit, NodeLimit } from '../../core/limiter/level-settings.js';
import type { TopicSplitName } from '../../core/limiter/topic-split.js';
import type { CostFactors } from '../../core/target/cost-units.js';
import type { NodeSettings } from '../schema/all-settings.js';
import type { GroupSettings as GroupInput } from '../schema/groups.js';

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
  /** Its decisionsFile is absolute. */
  readonly log: NodeSettings['log'];
  readonly metrics: NodeSettings['metrics'];
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

/** Groups that are defined at run time; name: null = the name of the topic of reports with `-registry` behind it. */
export type RegistryConfig = NodeSettings['registry'];

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
  readonly dropped: GroupInput['dropped'];
  /** Largest amounts a single acquire may ask for; null = derived from the quota (max-request.ts). */
  readonly maxRequest: { readonly messages: number | null; readonly bytes: number | null };
  /** Debt that work may leave that cannot be refused, in milliseconds of the limit. */
  readonly debtMs: number;
  /** How this node divides its share over its own topics. */
  readonly topics: TopicSplitName;
  readonly perTopic: KeyedLimit;
  readonly perClient: KeyedLimit;
}

export type LimitsConfig = NodeLimit & Omit<NodeSettings['limits'], Direction>;

/** Of the listener; tls: null = plain HTTP. */
export type HttpConfig = Omit<NodeSettings['http'], 'tls'> & { readonly tls: HttpTlsConfig | null };

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

/** Of `quotamesh mqtt`; connectsPerSecond 0 = none at all, subscribesPerSecond null = unlimited. */
export type MqttConfig = Omit<NodeSettings['mqtt'], 'rules'> & { readonly rules: readonly MqttRule[] };

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
