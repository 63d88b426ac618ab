import { Document } from 'yaml';
import type { AccessConfig } from '../../base/access/access-config.js';
import { isMapping, type Mapping } from '../../base/input/mapping.js';
import type { Direction } from '../../core/base/vocabulary.js';
import { CONSTANTS, derivedTiming } from '../resolved/constants.js';
import type { RatesAsWritten } from '../resolved/rates-as-written.js';
import type {
  AllowedLimits,
  BudgetConfig,
  EnvoyConfig,
  GroupConfig,
  KeysConfig,
  KeyTemplate,
  LimitsConfig,
  ListenAddress,
  ListenerTlsConfig,
  ResolvedConfig,
  ShadowConfig,
  TopicConfig,
} from '../resolved/resolved-config.js';
import { XDS } from '../schema/envoy.js';
import { TOPIC_KINDS } from '../schema/topic-kinds.js';
import { rowsOf, type SettingRows } from '../setting/section.js';
import { withoutUrlSecrets } from '../setting/setting-text.js';
import { type RatesRead, type RatesSpelled, spelledRate, type WrittenRate } from '../setting/written-rate.js';

/**
 * The effective configuration as YAML, every default written out, secrets masked. Without secrets in it, it can be
 * used as a configuration file with the same result.
 */
export function describeConfig(config: ResolvedConfig): string {
  const { source, nodeId, topic, limits, groups, keys, backends, defaultGroup, cluster, files, ...others } = config;
  const { auth, http, mqtt, envoy, ...rest } = others;
  const described = {
    cluster,
    node: nodeId,
    ...(auth === null ? {} : { auth: describeAuth(auth) }),
    http: describeListener(http),
    topic: describeTopic(topic),
    limits: describeLimits(limits),
    mqtt: describeListener(mqtt),
    envoy: describeEnvoy(envoy),
    ...rest,
    ...(defaultGroup === null ? {} : { defaultGroup }),
    ...(backends.length === 0
      ? {}
      : { backends: Object.fromEntries(backends.map(({ name, ...rest }) => [name, mapped(rest, shownValue)])) }),
    groups: Object.fromEntries(groups.map((group) => [group.name, describeGroupConfig(group)])),
    keys: describeKeys(keys),
  };
  const document = new Document(withoutConstants(described), { aliasDuplicateObjects: false });
  return `# effective configuration of ${source}\n${document}`;
}

/** Leaves out what no configuration sets. */
function withoutConstants(described: Mapping): Mapping {
  const entries = Object.entries(described).map(([section, value]) => {
    if (section === 'backends') return [section, mapped(value as Mapping, (one) => without(section, one as object))];
    return [section, isMapping(value) ? without(section === 'topic' ? String(value.kind) : section, value) : value];
  });
  return Object.fromEntries(entries);
}

function mapped(mapping: object, change: (value: unknown) => unknown): Mapping {
  return Object.fromEntries(Object.entries(mapping).map(([key, value]) => [key, change(value)]));
}

function without(section: string, settings: object): Mapping {
  const constants = { ...NOT_SET[section] };
  return Object.fromEntries(Object.entries(settings).filter(([key]) => !Object.hasOwn(constants, key)));
}

const NOT_SET: Readonly<Record<string, object | undefined>> = {
  ...CONSTANTS,
  timing: { ...CONSTANTS.timing, ...derivedTiming({ stalenessMs: 0, heartbeatMs: 0 }, 0) },
};

function describeKeys({ templates, ...bounds }: KeysConfig): Mapping {
  return {
    ...bounds,
    ...Object.fromEntries(templates.map((template) => [template.pattern, describeTemplate(template)])),
  };
}

/** Describes a template as YAML below its pattern, defaults written out. */
export function describeTemplate({ group, overrides, allowLimits }: KeyTemplate): Mapping {
  const others = Object.fromEntries(overrides.map((override) => [override.name, describeGroupConfig(override)]));
  return {
    ...describeGroupConfig(group),
    ...(overrides.length === 0 ? {} : { overrides: others }),
    ...(allowLimits === null ? {} : { allowLimits: describeAllowed(allowLimits) }),
  };
}

function describeAllowed({ role, asWritten }: AllowedLimits): Mapping {
  return { role, quota: describeDirections(asWritten) };
}

const MASK = '***';

function describeLimits({ asWritten, ...limits }: LimitsConfig): Mapping {
  return { ...limits, ...describeDirections(asWritten) };
}

/** Tokens of their file stand among the others. A hash tells whether a token that somebody has found is one of these. */
function describeAuth({ tokens, certificates, ...others }: AccessConfig): Mapping {
  return {
    tokens: tokens.map(({ hash: _, ...token }) => withoutNulls({ ...token, hash: MASK })),
    certificates: certificates.map(withoutNulls),
    ...others,
  };
}

function describeEnvoy({ listen, xds, ...others }: EnvoyConfig): Mapping {
  return {
    ...describeListener(others),
    listen: listen === null ? null : shownAddress(listen),
    ...(xds === null ? {} : { xds: { ...xds, tls: masked('tls.', xds.tls, rowsOf(XDS)) } }),
  };
}

function shownAddress({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function describeListener<Listener extends { readonly tls: ListenerTlsConfig | null }>({ tls, ...others }: Listener) {
  if (tls === null) return others;
  const { key: _, passphrase, ...plain } = tls;
  return { ...others, tls: withoutNulls({ ...plain, key: MASK, passphrase: passphrase === null ? null : MASK }) };
}

function withoutNulls(written: object): Mapping {
  return Object.fromEntries(Object.entries(written).filter(([, value]) => value !== null));
}

function describeTopic({ kind, ...topic }: TopicConfig): Mapping {
  return { kind, ...masked('', topic, rowsOf(TOPIC_KINDS[kind])) };
}

function masked(prefix: string, options: object, rows: SettingRows): Mapping {
  const given = Object.entries(withoutNulls(options)).map(([key, value]) => {
    const path = `${prefix}${key}`;
    if (isMapping(value)) return [key, { ...(key === 'tls' && { enabled: true }), ...masked(`${path}.`, value, rows) }];
    return [key, rows[path]?.secret === undefined ? shownValue(value) : MASK];
  });
  return Object.fromEntries(given);
}

/** A URL whose query has values cannot be told whole: they may be tokens. */
function shownValue(value: unknown): unknown {
  return typeof value === 'string' && URL.canParse(value) ? withoutUrlSecrets(value) : value;
}

/** A group as YAML would write it, every default written out. */
export function describeGroupConfig(group: GroupConfig): Mapping {
  const {
    name: _,
    nodeCount: _ofTheTopic,
    quota: _ofDirections,
    cost: _ofQuota,
    asWritten,
    shadow,
    budget,
    ...described
  } = group;
  const { slewPerSecond, ramp, perTopic, perClient, burst, ...others } = described;
  const { ofQuota: _fromQuota, ...depth } = burst;
  return {
    quota: { publish: describeQuota(group, 'publish'), dispatch: describeQuota(group, 'dispatch') },
    ...(slewPerSecond === Infinity ? {} : { slewPerSecond }),
    ...(budget === null ? {} : { budget: describeBudget(budget) }),
    ...others,
    ramp: ramp && without('ramp', ramp),
    burst: depth,
    perTopic: { ...perTopic, ...describeDirections(asWritten.perTopic) },
    perClient: { ...perClient, ...describeDirections(asWritten.perClient) },
    ...(shadow === null ? {} : { shadow: describePlan(shadow.plan) }),
  };
}

/** Describes a group's shadow without what it leaves to the group. */
function describePlan({ quota, strategy, burst }: ShadowConfig['plan']): Mapping {
  return withoutNulls({
    quota: describeDirections(quota),
    strategy,
    burst: withoutNulls(burst),
  });
}

function describeBudget({ unit, amount, ...calendar }: BudgetConfig) {
  return { [unit]: amount, ...calendar };
}

/** Spells the quota of one direction as YAML, rates in their units. */
export function describeQuota({ asWritten }: Pick<GroupConfig, 'asWritten'>, direction: Direction): RatesSpelled {
  return describeRates(asWritten.quota[direction]);
}

function describeDirections({ publish, dispatch }: RatesAsWritten) {
  return { publish: describeRates(publish), dispatch: describeRates(dispatch) };
}

/** Leaves out unlimited rates, and a slew limit that is not set. */
function describeRates(read: RatesRead): RatesSpelled {
  return mapped(withoutNulls(read), (rate) => spelledRate(rate as WrittenRate));
}
