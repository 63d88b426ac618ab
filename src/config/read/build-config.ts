import type { AccessConfig } from '../../base/access/access-config.js';
import type { CostQuota, RampSettings } from '../../core/base/settings.js';
import type { Direction, Rates } from '../../core/base/vocabulary.js';
import type { AttachmentsConfig } from '../../core/beside/attachments/attachment.js';
import { BUDGET_UNITS } from '../../core/strict/budget-units.js';
import { CONSTANTS, type Constants, derivedTiming, type OtherConstants } from '../resolved/constants.js';
import type { RatesAsWritten } from '../resolved/rates-as-written.js';
import type {
  BudgetConfig,
  GroupConfig,
  KafkaQuotasConfig,
  KeyTemplate,
  ListenAddress,
  ListenerTlsConfig,
  PolledBackend,
  ResolvedConfig,
  TopicConfig,
  XdsConfig,
} from '../resolved/resolved-config.js';
import type { NodeSettings } from '../schema/all-settings.js';
import { GROUP, type GroupSection } from '../schema/groups.js';
import type { LimitRole } from '../schema/keys.js';
import type { MqttRule } from '../schema/mqtt-rules.js';
import { kindOf } from '../schema/topic-kinds.js';
import { givenRate, perSecond, type RateName, type RatesRead } from '../setting/written-rate.js';
import { plannedSettings } from './planned-settings.js';
import type { KeyBounds, KeysRead, TemplateRead } from './read-keys.js';
import type { ReadTopic } from './read-topic.js';

export interface ConfigParts {
  readonly source: string;
  readonly node: NodeSettings & { readonly node: string };
  /** Absolute. */
  readonly decisionsFile: string | null;
  readonly startFile: string | null;
  readonly envoyRules: string | null;
  readonly envoyXds: XdsConfig | null;
  readonly auth: Omit<AccessConfig, 'failuresPerMinute'> | null;
  readonly httpTls: ListenerTlsConfig | null;
  readonly mqttTls: ListenerTlsConfig | null;
  readonly envoyTls: ListenerTlsConfig | null;
  readonly files: readonly string[];
  readonly topic: ReadTopic;
  readonly backends: readonly Omit<PolledBackend, 'timeoutMs'>[];
  readonly groups: ReadonlyMap<string, GroupSection>;
  readonly keys: KeysRead;
  readonly mqttRules: readonly MqttRule[];
  readonly kafkaQuotas: Pick<KafkaQuotasConfig, 'exporters' | 'entities'>;
  readonly attachments: AttachmentsConfig;
  readonly constants: OtherConstants;
}

/** Puts what was read without mistakes into the result's shape. */
export function buildConfig({ node, groups, backends, auth, keys, constants, ...parts }: ConfigParts): ResolvedConfig {
  const { node: nodeId, cluster, insecure, sampleIntervalMs, defaultGroup } = node;
  const { http, mqtt, envoy, registry, start, limits, log, metrics, timing, limiting, costs } = node;
  const of = <Section extends keyof Constants>(section: Section): Constants[Section] => {
    return { ...CONSTANTS[section], ...constants[section] };
  };
  const topic = topicOf(parts.topic, of);
  return deepFreeze({
    cluster,
    nodeId,
    source: parts.source,
    files: parts.files,
    auth: auth && { ...auth, ...of('auth') },
    insecure,
    topic,
    registry: { ...registry, ...of('registry') },
    start: { ...start, file: parts.startFile },
    attachments: parts.attachments,
    http: { ...http, ...of('http'), tls: parts.httpTls },
    mqtt: { ...mqtt, ...of('mqtt'), rules: parts.mqttRules, tls: parts.mqttTls },
    envoy: {
      ...envoy,
      ...of('envoy'),
      listen: addressIn(envoy.listen),
      rules: parts.envoyRules,
      xds: parts.envoyXds,
      tls: parts.envoyTls,
    },
    kafkaQuotas: { ...node.kafkaQuotas, ...of('kafkaQuotas'), ...parts.kafkaQuotas },
    limits: { ...limits, ...of('limits'), ...directionsOf(limits), asWritten: inDirections(limits) },
    log: { ...log, decisionsFile: parts.decisionsFile },
    metrics,
    sampleIntervalMs,
    timing: { ...timing, ...derivedTiming(timing, sampleIntervalMs), ...of('timing') },
    limiting: { ...limiting, ...of('limiting') },
    costs: { ...costs, ...of('costs') },
    backends: backends.map((backend) => ({ ...backend, ...of('backends') })),
    groups: Array.from(groups, ([name, settings]) => withAll(buildGroup(name, settings), alone(topic))),
    keys: { ...(keys.bounds as KeyBounds), templates: keys.templates.map(buildTemplate), ...of('keys') },
    defaultGroup,
  });
}

/** Reads HOST:PORT; IPv6 stands in brackets. */
function addressIn(text: string | null): ListenAddress | null {
  if (text === null) return null;
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) };
}

/** Takes what was read without a mistake: every field is there. */
export function buildTemplate({ pattern, settings, overrides, allowLimits }: TemplateRead): KeyTemplate {
  return {
    pattern: pattern.text,
    group: buildGroup(pattern.text, settings as GroupSection),
    overrides: Array.from(overrides, ([name, override]) => buildGroup(name, override as GroupSection)),
    allowLimits: allowLimits && {
      role: allowLimits.role as LimitRole,
      quota: directionsOf(allowLimits.quota),
      asWritten: allowLimits.quota,
    },
  };
}

function topicOf(topic: ReadTopic, of: <Kind extends keyof Constants>(kind: Kind) => Constants[Kind]): TopicConfig {
  const { kind, ...read } = topic;
  const own = { ...kindOf(kind).configOf(read), ...of(kind), kind };
  return (topic.kind === 'none' ? own : { ...own, hmac: topic.hmac.key === null ? null : topic.hmac }) as TopicConfig;
}

/** Divides groups equally where there is no topic, as nobody publishes demand. */
export function alone(topic: TopicConfig): Partial<GroupConfig> {
  return topic.kind === 'none' ? { strategy: 'equal', nodeCount: topic.nodeCount } : {};
}

function budgetOf({ per, timezone, carry, warnAt, ...amounts }: GroupSection['budget']): BudgetConfig | null {
  const unit = BUDGET_UNITS.find((each) => amounts[each] !== null);
  if (unit === undefined) return null;
  const thresholds = [...new Set(warnAt)].sort((one, other) => one - other);
  return { unit, amount: amounts[unit] as number, per, timezone, carry, warnAt: thresholds };
}

/** Quotas without a value are unlimited, and nothing of them is reserved. */
export function buildGroup(name: string, settings: GroupSection): GroupConfig {
  const { quota, ramp, perTopic, perClient, weights, slewPerSecond, shadow, budget, ...plain } = settings;
  const planned = plannedSettings(settings) as GroupSection | null;
  // Whatever limits is read as absent, so that no part of a node has to ask whether the group is enabled.
  const limiting = settings.enabled ? settings : UNLIMITED;
  return {
    name,
    ...plain,
    concurrency: settings.enabled ? settings.concurrency : null,
    budget: settings.enabled ? budgetOf(budget) : null,
    quota: directionsOf(limiting.quota),
    cost: { publish: costOf(limiting.quota.publish), dispatch: costOf(limiting.quota.dispatch) },
    burst: burstOf(limiting),
    ramp: limiting.ramp.fromPerSecond === null ? null : ({ ...limiting.ramp, ...CONSTANTS.ramp } as RampSettings),
    nodeCount: 0,
    weights: weights ?? Object.create(null),
    slewPerSecond: slewPerSecond ?? Infinity,
    perTopic: { ...directionsOf(limiting.perTopic), max: perTopic.max },
    perClient: { ...directionsOf(limiting.perClient), max: perClient.max },
    asWritten: { quota: limiting.quota, perTopic: limiting.perTopic, perClient: limiting.perClient },
    // No group can have such a name, in no configuration.
    shadow: planned === null ? null : { ...buildGroup(`${name} (shadow)`, planned), plan: shadow },
  };
}

/** Fields for a group, and for what is planned beside it. */
export function withAll(group: GroupConfig, fields: Partial<GroupConfig>): GroupConfig {
  return { ...group, ...fields, shadow: group.shadow && { ...group.shadow, ...fields } };
}

const UNLIMITED: GroupSection = GROUP.parse({});

/** A depth that is told in time of the quota; without one, all of a quota that is told per minute, hour or day. */
function burstOf({ burst, quota }: GroupSection): GroupConfig['burst'] {
  const depthOf = (read: RatesRead, name: 'messages' | 'bytes') => {
    const rate = givenRate(read, name);
    if (rate === null || rate.amount === 0) return null;
    if (burst.quotaMs !== null) return (perSecond(rate) * burst.quotaMs) / 1000;
    return rate.per === 'second' ? null : Math.max(1, rate.amount);
  };
  const ofQuota = (read: RatesRead) => ({ messages: depthOf(read, 'messages'), bytes: depthOf(read, 'bytes') });
  const [publish, dispatch] = [ofQuota(quota.publish), ofQuota(quota.dispatch)];
  const isGiven = [publish, dispatch].some(({ messages, bytes }) => messages !== null || bytes !== null);
  return isGiven ? { ...burst, ofQuota: { publish, dispatch } } : burst;
}

function inDirections({ publish, dispatch }: RatesAsWritten): RatesAsWritten {
  return { publish, dispatch };
}

function directionsOf({ publish, dispatch }: RatesAsWritten): Record<Direction, Rates> {
  return { publish: ratesOf(publish), dispatch: ratesOf(dispatch) };
}

function ratesOf(read: RatesRead): Rates {
  return [perSecondOf(read, 'messages'), perSecondOf(read, 'bytes')];
}

function costOf(read: RatesRead): CostQuota {
  return { total: perSecondOf(read, 'cost'), reserved: perSecondOf(read, 'reservedCost') };
}

function perSecondOf(read: RatesRead, name: RateName): number {
  const rate = givenRate(read, name);
  return rate === null ? Infinity : perSecond(rate);
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const child of Object.values(value)) deepFreeze(child);
  return Object.freeze(value);
}
