import type { Setting } from '../setting/setting.js';
import { AUTH_SETTINGS } from './access.js';
import { ATTACHMENT_SETTINGS } from './attachments.js';
import { GROUP_SETTINGS } from './groups.js';
import { HMAC_SETTINGS } from './hmac.js';
import { NODE_LIMIT_SETTINGS } from './limits.js';
import { MQTT_SETTINGS } from './mqtt.js';
import { HTTP_SETTINGS, LOG_SETTINGS, METRICS_SETTINGS, NODE_SETTINGS } from './node.js';
import { POLLED_BACKEND_SETTINGS } from './polled-backends.js';
import { REDIS_TOPIC_SETTINGS } from './redis.js';
import { REGISTRY_SETTINGS } from './registry.js';
import { COST_SETTINGS, LIMITING_SETTINGS } from './target.js';
import { TIMING_SETTINGS } from './timing.js';
import {
  EMBEDDED_TOPIC_SETTINGS,
  FILE_SETTINGS,
  KAFKA_TOPIC_SETTINGS,
  MEMORY_TOPIC_SETTINGS,
  NO_TOPIC_SETTINGS,
  TOPIC_SETTINGS,
} from './topic.js';

export type SettingRows = Readonly<Record<string, Setting>>;

export interface SettingsSection {
  /** Path of the section in YAML; '' for the top level. Group settings stand under `defaults` and `groups.<name>`. */
  readonly path: string;
  readonly title: string;
  /** Key below `path` → row. */
  readonly rows: SettingRows;
}

export type TopicKind = (typeof TOPIC_SETTINGS.kind.choices)[number];

/** The settings table: every key that a configuration may hold, by section. */
export const SETTINGS = {
  node: { path: '', title: 'Node', rows: NODE_SETTINGS },
  auth: { path: 'auth', title: 'Access', rows: AUTH_SETTINGS },
  http: { path: 'http', title: 'HTTP', rows: HTTP_SETTINGS },
  mqtt: { path: 'mqtt', title: 'MQTT broker', rows: MQTT_SETTINGS },
  limits: { path: 'limits', title: 'Limits of the node', rows: NODE_LIMIT_SETTINGS },
  log: { path: 'log', title: 'Log', rows: LOG_SETTINGS },
  metrics: { path: 'metrics', title: 'Metrics', rows: METRICS_SETTINGS },
  timing: { path: 'timing', title: 'Timing', rows: TIMING_SETTINGS },
  limiting: { path: 'limiting', title: 'Limiting', rows: LIMITING_SETTINGS },
  costs: { path: 'costs', title: 'Costs', rows: COST_SETTINGS },
  registry: { path: 'registry', title: 'Registry', rows: REGISTRY_SETTINGS },
  attachments: { path: 'attachments', title: 'Attachments', rows: ATTACHMENT_SETTINGS },
  topic: { path: 'topic', title: 'Topic', rows: TOPIC_SETTINGS },
  none: { path: 'topic', title: 'Topic of kind none', rows: NO_TOPIC_SETTINGS },
  memory: { path: 'topic', title: 'Topic of kind memory', rows: MEMORY_TOPIC_SETTINGS },
  embedded: { path: 'topic', title: 'Topic of kind embedded', rows: EMBEDDED_TOPIC_SETTINGS },
  kafka: { path: 'topic', title: 'Topic of kind kafka', rows: withFileRows(KAFKA_TOPIC_SETTINGS) },
  redis: { path: 'topic', title: 'Topic of kind redis', rows: withFileRows(REDIS_TOPIC_SETTINGS) },
  hmac: { path: 'topic', title: 'Topic of any kind but none', rows: withFileRows(HMAC_SETTINGS) },
  group: { path: 'defaults', title: 'Group', rows: GROUP_SETTINGS },
} as const satisfies Readonly<Record<string, SettingsSection>>;

/** Stands below `backends.<name>`; no variables, because there may be many. */
export const POLLED_BACKEND: SettingsSection = {
  path: 'backends.<name>',
  title: 'Backend to poll',
  rows: POLLED_BACKEND_SETTINGS,
};

export const SECTIONS: readonly SettingsSection[] = Object.values(SETTINGS);

/** `timing.heartbeatMs`. */
export function yamlPath(section: SettingsSection, key: string): string {
  return section.path === '' ? key : `${section.path}.${key}`;
}

/** `timing.heartbeatMs` → `QUOTAMESH_TIMING_HEARTBEAT_MS`; null where text in one variable would be clumsy. */
export function environmentName(section: SettingsSection, key: string): string | null {
  const kind = section.rows[key]?.kind ?? 'text';
  if (section === POLLED_BACKEND || LARGE_KINDS.has(kind)) return null;
  const words = yamlPath(section, key)
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('.', '_');
  return `QUOTAMESH_${words.toUpperCase()}`;
}

/** Text in one variable would be clumsy. */
const LARGE_KINDS: ReadonlySet<string> = new Set(['weights', 'mqtt-rules', 'places', 'attachment-rules']);

function withFileRows(rows: SettingRows): SettingRows {
  const inFiles: readonly string[] = FILE_SETTINGS;
  const all = Object.entries(rows).flatMap(([key, row]): [string, Setting][] =>
    inFiles.includes(key)
      ? [
          [key, row],
          [`${key}File`, fileRow(key)],
        ]
      : [[key, row]],
  );
  return Object.fromEntries(all);
}

function fileRow(key: string): Setting {
  return {
    kind: 'text',
    default: null,
    buys: `${key} is read from this file (at most 64 KiB); relative paths start at that of the configuration file.`,
    costs: 'Read once, at the start.',
  };
}
