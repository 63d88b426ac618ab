import type { AccessConfig } from '../../access/access-config.js';
import type { AttachmentsConfig } from '../../core/attachments/attachment.js';
import type { CostQuota, RampModeName, RampSettings } from '../../core/base/settings.js';
import type { Direction, Headroom, IsolationPolicy, Rates } from '../../core/base/vocabulary.js';
import type {
  GroupConfig,
  HmacConfig,
  HttpConfig,
  HttpTlsConfig,
  MqttRule,
  PolledBackend,
  ResolvedConfig,
  TopicConfig,
} from '../resolved/resolved-config.js';
import type { GroupValues } from './read-groups.js';
import type { SettingValues } from './read-node.js';

export interface ConfigParts {
  readonly source: string;
  readonly node: SettingValues;
  readonly auth: AccessConfig | null;
  readonly httpTls: HttpTlsConfig | null;
  readonly files: readonly string[];
  readonly topic: SettingValues;
  readonly backends: readonly PolledBackend[];
  readonly groups: GroupValues;
  readonly mqttRules: readonly MqttRule[];
  readonly attachments: AttachmentsConfig;
}

/**
 * Puts valid values into the shape of the result. The casts are covered by the settings table: its rows are typed by
 * the result's keys, and their kinds are tested against the result.
 */
export function buildConfig({
  source,
  node,
  auth,
  httpTls,
  files,
  topic,
  backends,
  groups,
  mqttRules,
  attachments,
}: ConfigParts): ResolvedConfig {
  return deepFreeze({
    cluster: node.get('cluster') as string,
    nodeId: node.get('node') as string,
    source,
    files,
    auth,
    insecure: node.get('insecure') as boolean,
    topic: topicOf(topic),
    registry: below(node, 'registry') as unknown as ResolvedConfig['registry'],
    attachments,
    http: httpOf(node, httpTls),
    mqtt: { ...below(node, 'mqtt'), rules: mqttRules } as unknown as ResolvedConfig['mqtt'],
    limits: {
      ...directionsOf(node, 'limits'),
      burstMs: node.get('limits.burstMs') as number,
      maxWaiting: node.get('limits.maxWaiting') as number,
      maxReservations: node.get('limits.maxReservations') as number,
      reservationMs: node.get('limits.reservationMs') as number,
      maxNodes: node.get('limits.maxNodes') as number,
      maxGroupsPerNode: node.get('limits.maxGroupsPerNode') as number,
      maxRows: node.get('limits.maxRows') as number,
    },
    log: below(node, 'log') as unknown as ResolvedConfig['log'],
    metrics: below(node, 'metrics') as unknown as ResolvedConfig['metrics'],
    sampleIntervalMs: node.get('sampleIntervalMs') as number,
    timing: below(node, 'timing') as unknown as ResolvedConfig['timing'],
    limiting: below(node, 'limiting') as unknown as ResolvedConfig['limiting'],
    costs: below(node, 'costs') as unknown as ResolvedConfig['costs'],
    backends,
    groups: Array.from(groups, ([name, values]) => ({ ...buildGroup(name, values), ...alone(topic) })),
    defaultGroup: node.get('defaultGroup') as string | null,
  });
}

function httpOf(node: SettingValues, tls: HttpTlsConfig | null): HttpConfig {
  const plain = Object.entries(below(node, 'http')).filter(([key]) => !key.startsWith('tls.'));
  return { ...Object.fromEntries(plain), tls } as unknown as HttpConfig;
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
export function buildGroup(name: string, values: SettingValues): GroupConfig {
  const enabled = values.get('enabled') as boolean;
  const limiting = enabled ? values : new Map<string, unknown>();
  return {
    name,
    enabled,
    // Whatever limits is read as absent, so that no part of a node has to ask whether the group is enabled.
    quota: directionsOf(limiting, 'quota'),
    cost: { publish: costOf(limiting, 'quota.publish'), dispatch: costOf(limiting, 'quota.dispatch') },
    ramp: rampOf(limiting),
    expectedCost: values.get('expectedCost') as number,
    strategy: values.get('strategy') as string,
    nodeCount: 0,
    floorRatio: values.get('floorRatio') as number,
    allowanceRatio: values.get('allowanceRatio') as number,
    weights: (values.get('weights') ?? Object.create(null)) as GroupConfig['weights'],
    headroom: values.get('headroom') as Headroom,
    smoothingMs: values.get('smoothingMs') as number,
    slewPerSecond: (values.get('slewPerSecond') as number | null) ?? Number.POSITIVE_INFINITY,
    minShareRatio: values.get('minShareRatio') as number,
    maxShareRatio: values.get('maxShareRatio') as number,
    limiter: values.get('limiter') as GroupConfig['limiter'],
    windowMs: values.get('windowMs') as number,
    dropped: values.get('dropped') as GroupConfig['dropped'],
    burstMs: values.get('burstMs') as number,
    burstMinMessages: values.get('burstMinMessages') as number,
    isolation: {
      policy: values.get('isolation.policy') as IsolationPolicy,
      holdMs: values.get('isolation.holdMs') as number,
    },
    maxRequest: {
      messages: values.get('maxRequest.messages') as number | null,
      bytes: values.get('maxRequest.bytes') as number | null,
    },
    debtMs: values.get('debtMs') as number,
    topics: values.get('topics') as GroupConfig['topics'],
    perTopic: { ...directionsOf(limiting, 'perTopic'), max: values.get('perTopic.max') as number },
    perClient: { ...directionsOf(limiting, 'perClient'), max: values.get('perClient.max') as number },
  };
}

function directionsOf(values: SettingValues, path: RatesPath): Record<Direction, Rates> {
  const { publish, dispatch } = RATE_KEYS[path];
  return { publish: ratesOf(values, publish), dispatch: ratesOf(values, dispatch) };
}

function ratesOf(values: SettingValues, [messages, bytes]: RateKeys): Rates {
  const rate = (key: string) => (values.get(key) as number | null | undefined) ?? Number.POSITIVE_INFINITY;
  return [rate(messages), rate(bytes)];
}

function costOf(values: SettingValues, direction: string): CostQuota {
  return {
    total: (values.get(`${direction}.costPerSecond`) as number | null) ?? Number.POSITIVE_INFINITY,
    reserved: (values.get(`${direction}.reservedCostPerSecond`) as number | undefined) ?? 0,
  };
}

function rampOf(values: SettingValues): RampSettings | null {
  const fromPerSecond = values.get('ramp.fromPerSecond') as number | null;
  if (fromPerSecond === null || fromPerSecond === undefined) return null;
  return {
    fromPerSecond,
    mode: values.get('ramp.mode') as RampModeName,
    toPerSecond: values.get('ramp.toPerSecond') as number | null,
    overMs: values.get('ramp.overMs') as number,
    thresholdRatio: values.get('ramp.thresholdRatio') as number,
    coolDownMs: values.get('ramp.coolDownMs') as number,
    pausePenaltyRatio: values.get('ramp.pausePenaltyRatio') as number,
    timeToLiveMs: values.get('ramp.timeToLiveMs') as number,
  };
}

type RatesPath = 'quota' | 'limits' | 'perTopic' | 'perClient';
type RateKeys = readonly [string, string];

/** Put together once, not for each of 10,000 groups. */
const RATE_KEYS: Readonly<Record<RatesPath, Record<Direction, RateKeys>>> = {
  quota: rateKeysOf('quota'),
  limits: rateKeysOf('limits'),
  perTopic: rateKeysOf('perTopic'),
  perClient: rateKeysOf('perClient'),
};

function rateKeysOf(path: RatesPath): Record<Direction, RateKeys> {
  const keys = (direction: Direction) =>
    [`${path}.${direction}.messagesPerSecond`, `${path}.${direction}.bytesPerSecond`] as const;
  return { publish: keys('publish'), dispatch: keys('dispatch') };
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
