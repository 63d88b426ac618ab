import type { AccessConfig } from '../../base/access/access-config.js';
import type { CoordinatorSettings, CostMeterSettings, GroupSettings } from '../../core/base/settings.js';
import type { Direction } from '../../core/base/vocabulary.js';
import type { AttachmentsConfig } from '../../core/beside/attachments/attachment.js';
import type { KeyedLimit, NodeLimit } from '../../core/limiter/level-settings.js';
import type { BudgetPer } from '../../core/strict/budget-account.js';
import type { BudgetUnit } from '../../core/strict/budget-units.js';
import type { CostFactors } from '../../core/target/cost-units.js';
import type { ListenerTlsSettings } from '../schema/access.js';
import type { NodeSettings } from '../schema/all-settings.js';
import type { XdsSettings } from '../schema/envoy.js';
import type { GroupSection as GroupInput } from '../schema/groups.js';
import type { HmacSettings } from '../schema/hmac.js';
import type { KafkaQuotaEntity } from '../schema/kafka-quota-entities.js';
import type { LimitRole } from '../schema/keys.js';
import type { MqttRule } from '../schema/mqtt-rules.js';
import type { PolledBackendSettings } from '../schema/polled-backends.js';
import type { KINDS, TopicKind } from '../schema/topic-kinds.js';
import type { TextsRead } from '../setting/text-file.js';
import type { Constants, DerivedTiming } from './constants.js';
import type { GroupAsWritten, RatesAsWritten } from './rates-as-written.js';

/** Configures a running node: no optional field, deeply frozen. Made by resolve-config.ts alone. */
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
  /** Its file is absolute. */
  readonly start: NodeSettings['start'];
  /** Groups of tenants, namespaces, topics, clients and headers. */
  readonly attachments: AttachmentsConfig;
  readonly http: HttpConfig;
  readonly mqtt: MqttConfig;
  readonly envoy: EnvoyConfig;
  readonly kafkaQuotas: KafkaQuotasConfig;
  readonly limits: LimitsConfig;
  /** Its decisionsFile is absolute. */
  readonly log: NodeSettings['log'];
  readonly metrics: NodeSettings['metrics'];
  readonly sampleIntervalMs: number;
  /** A recording of the topic has all of it. */
  readonly timing: NodeSettings['timing'] & Constants['timing'] & DerivedTiming;
  readonly limiting: CoordinatorSettings['limiting'];
  readonly costs: CostMeterSettings & CostFactors;
  readonly backends: readonly PolledBackend[];
  readonly groups: readonly GroupConfig[];
  readonly keys: KeysConfig;
  /** Group used for names that are not configured; null = such names are refused. */
  readonly defaultGroup: string | null;
}

export type RegistryConfig = NodeSettings['registry'] & Constants['registry'];

export type PolledBackend = Omit<PolledBackendSettings, 'zone'> &
  Constants['backends'] & { readonly name: string; readonly zone: string };

export interface GroupConfig extends GroupSettings {
  /** `quotaMs` is what is written: the depths that follow from it stand beside it. */
  readonly burst: GroupSettings['burst'] & Pick<GroupInput['burst'], 'quotaMs'>;
  /** strict = kept by a strict bucket (node/strict) instead of the account. */
  readonly promise: GroupInput['promise'];
  /** Slots of the cluster, one for each request that runs; null = no limit. */
  readonly concurrency: number | null;
  /** Milliseconds of a wait that nobody names, of strict groups and slots; null = a round trip to the log. */
  /** Amount that the cluster may spend in a period; null = no limit. */
  readonly budget: BudgetConfig | null;
  /** Milliseconds that who asks a strict group waits by default; null = a round trip to the log. */
  readonly waitMs: number | null;
  /** shadow = decisions are made and counted, and refuse nothing. */
  readonly mode: GroupInput['mode'];
  /** Group that is planned beside this one; null = none. */
  readonly shadow: ShadowConfig | null;
  /** False = nothing of the group is limited, counted or published. */
  readonly enabled: boolean;
  /** Treatment of a batch's work that was dropped unused. */
  readonly dropped: GroupInput['dropped'];
  /** Largest amounts a single acquire may ask for; null = derived from the quota (max-request.ts). */
  readonly maxRequest: { readonly messages: number | null; readonly bytes: number | null };
  readonly perTopic: KeyedLimit;
  readonly perClient: KeyedLimit;
  /** For people alone: the numbers beside it are what is enforced. */
  readonly asWritten: GroupAsWritten;
}

export interface BudgetConfig {
  readonly unit: BudgetUnit;
  readonly amount: number;
  readonly per: BudgetPer;
  readonly timezone: string;
  /** Part of the amount that a period may leave. */
  readonly carry: number;
  /** Parts that are told when they are spent, the least first. */
  readonly warnAt: readonly number[];
}

export interface ShadowConfig extends GroupConfig {
  /** As it was written: the settings beside it are laid over those of the group. */
  readonly plan: GroupInput['shadow'];
}

export interface KeysConfig {
  readonly maxLive: number;
  readonly maxLoud: number;
  readonly maxLimits: number;
  readonly publishNames: boolean;
  readonly templates: readonly KeyTemplate[];
}

export interface KeyTemplate {
  /** `key:{id}` (core/account/keys/key-pattern.ts). */
  readonly pattern: string;
  /** Settings of its keys, under the pattern's name. */
  readonly group: GroupConfig;
  /** Keys that are otherwise, under their own names. */
  readonly overrides: readonly GroupConfig[];
  /** Limits that may come with requests; null = none. */
  readonly allowLimits: AllowedLimits | null;
}

export interface AllowedLimits {
  readonly role: LimitRole;
  /** At most; Infinity where nothing was written, so that no limit may come. */
  readonly quota: GroupSettings['quota'];
  readonly asWritten: RatesAsWritten;
}

export type LimitsConfig = NodeLimit &
  Omit<NodeSettings['limits'], Direction> &
  Constants['limits'] & { readonly asWritten: RatesAsWritten };

/** The HTTP listener; tls: null = plain HTTP. */
export type HttpConfig = Omit<NodeSettings['http'], 'tls'> &
  Constants['http'] & { readonly tls: ListenerTlsConfig | null };

/** PEM texts. Without a clientCa clients are asked for no certificates. */
export type ListenerTlsConfig = TextsRead<ListenerTlsSettings> & { readonly cert: string; readonly key: string };

/** Settings of `quotamesh mqtt`. connectsPerSecond 0 = nobody may connect; subscribesPerSecond null = unlimited. */
export type MqttConfig = Omit<NodeSettings['mqtt'], 'rules' | 'tls'> &
  Constants['mqtt'] & {
    readonly rules: readonly MqttRule[];
    readonly tls: ListenerTlsConfig | null;
  };

/** The gRPC listener for Envoy; listen: null = there is none. Its `rules` are absolute. */
export type EnvoyConfig = Omit<NodeSettings['envoy'], 'listen' | 'xds' | 'tls'> &
  Constants['envoy'] & {
    readonly listen: ListenAddress | null;
    /** null = no management server is asked for rules. */
    readonly xds: XdsConfig | null;
    readonly tls: ListenerTlsConfig | null;
  };

export type XdsConfig = TextsRead<XdsSettings> & { readonly url: string };

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export type KafkaQuotasConfig = Omit<NodeSettings['kafkaQuotas'], 'exporters' | 'entities'> &
  Constants['kafkaQuotas'] & {
    readonly exporters: readonly string[];
    readonly entities: readonly KafkaQuotaEntity[];
  };

export type TopicConfig = { [Kind in TopicKind]: ConfigOfKind<Kind> }[TopicKind];

/** Completes the settings of a topic of this kind. `hmac: null` = records are not signed. */
type ConfigOfKind<Kind extends TopicKind> = ReturnType<(typeof KINDS)[Kind]['configOf']> &
  Constants[Kind] & { readonly kind: Kind } & (Kind extends 'none' ? unknown : { readonly hmac: HmacConfig | null });

export type HmacConfig = TextsRead<HmacSettings> & { readonly key: string };
