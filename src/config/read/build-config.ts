import type { AccessConfig } from '../../access/access-config.js';
import type { AttachmentsConfig } from '../../core/attachments/attachment.js';
import type { CostQuota, RampSettings } from '../../core/base/settings.js';
import type { Direction, Rates } from '../../core/base/vocabulary.js';
import type {
  GroupConfig,
  HmacConfig,
  HttpTlsConfig,
  MqttRule,
  PolledBackend,
  ResolvedConfig,
  TopicConfig,
} from '../resolved/resolved-config.js';
import type { NodeSettings } from '../schema/all-settings.js';
import { GROUP, type GroupSettings } from '../schema/groups.js';
import type { SettingValues } from './read-node.js';

export interface ConfigParts {
  readonly source: string;
  readonly node: NodeSettings & { readonly node: string };
  /** Absolute. */
  readonly decisionsFile: string | null;
  readonly auth: AccessConfig | null;
  readonly httpTls: HttpTlsConfig | null;
  readonly files: readonly string[];
  readonly topic: SettingValues;
  readonly backends: readonly PolledBackend[];
  readonly groups: ReadonlyMap<string, GroupSettings>;
  readonly mqttRules: readonly MqttRule[];
  readonly attachments: AttachmentsConfig;
}

/** Puts what was read without a mistake into the shape of the result. */
export function buildConfig({
  source,
  node,
  decisionsFile,
  auth,
  httpTls,
  files,
  topic,
  backends,
  groups,
  mqttRules,
  attachments,
}: ConfigParts): ResolvedConfig {
  const { node: nodeId, cluster, insecure, sampleIntervalMs, defaultGroup } = node;
  const { http, mqtt, registry, limits, log, metrics, timing, limiting, costs } = node;
  return deepFreeze({
    cluster,
    nodeId,
    source,
    files,
    auth,
    insecure,
    topic: topicOf(topic),
    registry,
    attachments,
    http: { ...http, tls: httpTls },
    mqtt: { ...mqtt, rules: mqttRules },
    limits: { ...limits, ...directionsOf(limits) },
    log: { ...log, decisionsFile },
    metrics,
    sampleIntervalMs,
    timing,
    limiting,
    costs,
    backends,
    groups: Array.from(groups, ([name, settings]) => ({ ...buildGroup(name, settings), ...alone(topic) })),
    defaultGroup,
  });
}

function topicOf(topic: SettingValues): TopicConfig {
  const own = Object.entries(below(topic, 'topic')).filter(([key]) => !key.includes('.'));
  const parts: Readonly<Record<string, () => object>> = {
    kafka: () => ({ tls: tlsOf(topic), sasl: saslOf(topic) }),
    redis: () => ({ tls: tlsOf(topic), sentinel: below(topic, 'topic.sentinel') }),
  };
  const kind = String(topic.get('topic.kind'));
  const signing = kind === 'none' ? {} : { hmac: hmacOf(topic) };
  return { ...Object.fromEntries(own), ...parts[kind]?.(), ...signing } as unknown as TopicConfig;
}

/** What only groups of a node without a topic have: nobody tells who wants what, so all get the same. */
function alone(topic: SettingValues): Partial<GroupConfig> {
  if (topic.get('topic.kind') !== 'none') return {};
  return { strategy: 'equal', nodeCount: topic.get('topic.nodeCount') as number };
}

/** What Node.js's tls.connect takes. */
function tlsOf(topic: SettingValues): boolean | Readonly<Record<string, unknown>> {
  const { enabled, ...options } = below(topic, 'topic.tls');
  return enabled === true && Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null));
}

function hmacOf(topic: SettingValues): HmacConfig | null {
  const hmac = below(topic, 'topic.hmac');
  return hmac.key === null ? null : (hmac as unknown as HmacConfig);
}

function saslOf(topic: SettingValues): Readonly<Record<string, string>> | null {
  const sasl = below(topic, 'topic.sasl');
  if (sasl.mechanism === null) return null;
  return Object.fromEntries(Object.entries(sasl).filter((entry): entry is [string, string] => entry[1] !== null));
}

/** Quotas without a value are unlimited, and nothing of them is reserved. */
export function buildGroup(name: string, settings: GroupSettings): GroupConfig {
  const { quota, ramp, perTopic, perClient, weights, slewPerSecond, promise: _, ...plain } = settings;
  // Whatever limits is read as absent, so that no part of a node has to ask whether the group is enabled.
  const limiting = settings.enabled ? settings : UNLIMITED;
  return {
    name,
    ...plain,
    quota: directionsOf(limiting.quota),
    cost: { publish: costOf(limiting.quota.publish), dispatch: costOf(limiting.quota.dispatch) },
    ramp: rampOf(limiting.ramp),
    nodeCount: 0,
    weights: weights ?? Object.create(null),
    slewPerSecond: slewPerSecond ?? Number.POSITIVE_INFINITY,
    perTopic: { ...directionsOf(limiting.perTopic), max: perTopic.max },
    perClient: { ...directionsOf(limiting.perClient), max: perClient.max },
  };
}

const UNLIMITED: GroupSettings = GROUP.parse({});

interface WrittenRates {
  readonly messagesPerSecond: number | null;
  readonly bytesPerSecond: number | null;
}

function directionsOf({ publish, dispatch }: Readonly<Record<Direction, WrittenRates>>): Record<Direction, Rates> {
  return { publish: ratesOf(publish), dispatch: ratesOf(dispatch) };
}

function ratesOf({ messagesPerSecond, bytesPerSecond }: WrittenRates): Rates {
  return [messagesPerSecond ?? Number.POSITIVE_INFINITY, bytesPerSecond ?? Number.POSITIVE_INFINITY];
}

function costOf({ costPerSecond, reservedCostPerSecond }: GroupSettings['quota'][Direction]): CostQuota {
  return { total: costPerSecond ?? Number.POSITIVE_INFINITY, reserved: reservedCostPerSecond };
}

function rampOf({ fromPerSecond, ...others }: GroupSettings['ramp']): RampSettings | null {
  return fromPerSecond === null ? null : { fromPerSecond, ...others };
}

/** The values whose path begins with `prefix`, by the rest of their path. */
function below(values: SettingValues, prefix: string): Record<string, unknown> {
  const own = [...values].filter(([path]) => path.startsWith(`${prefix}.`));
  return Object.fromEntries(own.map(([path, value]) => [path.slice(prefix.length + 1), value]));
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const child of Object.values(value)) deepFreeze(child);
  return Object.freeze(value);
}
