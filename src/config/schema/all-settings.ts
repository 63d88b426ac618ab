import type { z } from 'zod';
import { READ_ELSEWHERE, rowsOf, type Section, type SettingRows, section } from '../setting/section.js';
import { TLS } from '../setting/tls.js';
import { AUTH } from './access.js';
import { ATTACHMENTS } from './attachments.js';
import { ENVOY } from './envoy.js';
import { GROUP } from './groups.js';
import { HMAC } from './hmac.js';
import { KAFKA_QUOTAS } from './kafka-quotas.js';
import { KEYS } from './keys.js';
import { NODE_LIMITS } from './limits.js';
import { MQTT } from './mqtt.js';
import { HTTP, LOG, METRICS, OUTERMOST_SETTINGS } from './node.js';
import { POLLED_BACKEND } from './polled-backends.js';
import { COSTS, LIMITING } from './target.js';
import { TIMING } from './timing.js';
import { KINDS, KINDS_WITH_TLS, kindOf, TOPIC_KIND, type TopicKind } from './topic-kinds.js';

interface SettingsSection {
  /** Path of the section in YAML; '' for the top level. Group settings stand under `defaults` and `groups.<name>`. */
  readonly path: string;
  readonly title: string;
  /** Key below `path` → row. */
  readonly rows: SettingRows;
}

/** Groups that are defined at run time, for the whole cluster (docs/operate/administration.md). */
export const REGISTRY = section({
  enabled: {
    kind: 'switch',
    default: true,
    missedBy: 'groups in YAML alone',
    buys: 'Groups can be made, changed and deleted while the nodes run, at any node for all of them.',
    costs: 'A second topic, which a node reads before it is ready. All nodes must be configured alike.',
  },
  remoteChanges: {
    kind: 'switch',
    default: false,
    missedBy: 'closed networks',
    buys: 'Without `auth:`, groups can be changed by callers of other machines too. With it, roles decide, and this means nothing.',
    costs: 'Whoever reaches the HTTP port of a node without `auth:` can change every quota.',
  },
  maxGroups: {
    kind: 'count',
    default: 100_000,
    min: 1,
    max: 1_000_000,
    missedBy: 'large numbers of tenants',
    buys: 'More groups that come at run time. One more is refused by name.',
    costs: 'About 3 KB each. Names that were deleted count until the node starts anew.',
  },
});

/** Starts a node while the topic is away (docs/operate/when-the-topic-is-away.md). */
export const START = section({
  policy: {
    kind: 'choice',
    default: 'wait',
    choices: ['wait', 'alone'],
    missedBy: 'deploys during an outage',
    buys: 'alone: a node that starts while the topic is away decides after timing.isolationAfterMs, with quota / the number of nodes known last. A deploy during an outage does not take the service down.',
    costs:
      'Groups of the registry are unknown until the topic comes; nodes that start and nodes that were isolated before may add up to more than the quota.',
  },
  file: {
    kind: 'text',
    default: null,
    defaultText: 'none: nothing is kept',
    missedBy: 'deploys during an outage',
    buys: 'A file of this node alone, relative to this YAML, in which it keeps how many nodes there are.',
    costs: 'A small file written when that number changes. Two nodes must not name the same one.',
  },
  nodeCount: {
    kind: 'count',
    default: null,
    defaultText: 'none: only the file counts',
    min: 1,
    max: 10_000,
    missedBy: 'first starts during an outage',
    buys: 'The number of nodes where the file does not know it yet. Where both know one, the larger one counts.',
    costs: 'Too small a number lets all of them together admit more than the quota; too large a one, less.',
  },
});

/** Lists all sections but topic, backends, keys and groups. Those are read by rules of their own. */
export const NODE = section({
  ...OUTERMOST_SETTINGS,
  auth: AUTH,
  http: HTTP,
  mqtt: MQTT,
  envoy: ENVOY,
  kafkaQuotas: KAFKA_QUOTAS,
  limits: NODE_LIMITS,
  log: LOG,
  metrics: METRICS,
  timing: TIMING,
  limiting: LIMITING,
  costs: COSTS,
  registry: REGISTRY,
  start: START,
  attachments: ATTACHMENTS,
  topic: READ_ELSEWHERE,
  backends: READ_ELSEWHERE,
  defaults: READ_ELSEWHERE,
  groups: READ_ELSEWHERE,
  keys: READ_ELSEWHERE,
});
export type NodeSettings = z.output<typeof NODE>;

/** The settings table: every key that a configuration may hold, by section. */
export const SETTINGS = {
  node: { path: '', title: 'Node', rows: OUTERMOST_SETTINGS },
  auth: { path: 'auth', title: 'Access', rows: rowsOf(AUTH) },
  http: { path: 'http', title: 'HTTP', rows: own(HTTP) },
  mqtt: { path: 'mqtt', title: 'MQTT broker', rows: own(MQTT) },
  envoy: { path: 'envoy', title: 'Envoy', rows: own(ENVOY) },
  listenerTls: {
    path: '',
    title: 'TLS of HTTP, MQTT and Envoy’s listener',
    rows: tlsRows(section({ http: HTTP, mqtt: MQTT, envoy: ENVOY })),
  },
  kafkaQuotas: { path: 'kafkaQuotas', title: 'Kafka’s client quotas', rows: rowsOf(KAFKA_QUOTAS) },
  limits: { path: 'limits', title: 'Limits of the node', rows: rowsOf(NODE_LIMITS) },
  log: { path: 'log', title: 'Log', rows: rowsOf(LOG) },
  metrics: { path: 'metrics', title: 'Metrics', rows: rowsOf(METRICS) },
  timing: { path: 'timing', title: 'Timing', rows: rowsOf(TIMING) },
  limiting: { path: 'limiting', title: 'Limiting', rows: rowsOf(LIMITING) },
  costs: { path: 'costs', title: 'Costs', rows: rowsOf(COSTS) },
  registry: { path: 'registry', title: 'Registry', rows: rowsOf(REGISTRY) },
  attachments: { path: 'attachments', title: 'Attachments', rows: rowsOf(ATTACHMENTS) },
  topic: { path: 'topic', title: 'Topic', rows: { kind: TOPIC_KIND } },
  ...kindSections(),
  topicTls: { path: 'topic', title: `TLS of a topic of kind ${KINDS_WITH_TLS}`, rows: rowsOf(section({ tls: TLS })) },
  hmac: { path: 'topic', title: 'Topic of any kind but none', rows: rowsOf(section({ hmac: HMAC })) },
  start: { path: 'start', title: 'Start', rows: rowsOf(START) },
  keys: { path: 'keys', title: 'Keys', rows: rowsOf(KEYS) },
  group: { path: 'defaults', title: 'Group', rows: rowsOf(GROUP) },
} as const satisfies Readonly<Record<string, SettingsSection>>;

function kindSections() {
  const sections = (Object.keys(KINDS) as TopicKind[]).map((kind) => {
    const rows = own(section(kindOf(kind).settings));
    return [kind, { path: 'topic', title: `Topic of kind ${kind}`, rows }] as const;
  });
  return Object.fromEntries(sections) as Record<TopicKind, SettingsSection>;
}

/** Leaves out the rows of TLS: the same in several sections, they stand in their own. */
function own(of: Section): SettingRows {
  const others = Object.entries(rowsOf(of)).filter(([key]) => !key.startsWith('tls.'));
  return Object.fromEntries(others);
}

function tlsRows(of: Section): SettingRows {
  return Object.fromEntries(Object.entries(rowsOf(of)).filter(([key]) => key.includes('.tls.')));
}

/** Stands below `backends.<name>`; no variables, because there may be many. */
export const POLLED_BACKENDS: SettingsSection = {
  path: 'backends.<name>',
  title: 'Backend to poll',
  rows: rowsOf(POLLED_BACKEND),
};

export const SECTIONS: readonly SettingsSection[] = Object.values(SETTINGS);

/** `timing.heartbeatMs`. */
export function yamlPath(section: SettingsSection, key: string): string {
  return section.path === '' ? key : `${section.path}.${key}`;
}

/** `timing.heartbeatMs` → `QUOTAMESH_TIMING_HEARTBEAT_MS`; null where text in one variable would be clumsy. */
export function environmentName(section: SettingsSection, key: string): string | null {
  const { kind, of } = section.rows[key] ?? {};
  if (section === POLLED_BACKENDS || kind === 'weights' || (of && of.isJsonInVariable !== true)) return null;
  const words = yamlPath(section, key)
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('.', '_');
  return `QUOTAMESH_${words.toUpperCase()}`;
}
