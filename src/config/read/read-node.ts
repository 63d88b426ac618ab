import { SETTINGS, type SettingRows, type SettingsSection, yamlPath } from '../schema/all-settings.js';
import { checkShape, shapeOf } from '../schema/setting-schema.js';
import { readRows } from '../schema/settings-layers.js';
import type { Findings } from '../setting/findings.js';
import { NODE_NAME } from '../setting/setting.js';

/** YAML path (`timing.heartbeatMs`) → valid value; keys with a mistake are absent. */
export type SettingValues = ReadonlyMap<string, unknown>;

/** Everything of a node but its topic and groups. */
export function readNode(root: unknown, findings: Findings, hostName: string): SettingValues {
  checkShape(findings, NODE_SHAPE, [], root);
  const values = new Map(readRows(NODE_ROWS, [root]));
  if (values.get('cluster') === null) {
    const { allowed, remedy } = { allowed: NODE_NAME.text, remedy: SETTINGS.node.rows.cluster.remedy };
    findings.add(['cluster'], { problem: 'is missing', allowed, remedy });
  }
  if (values.get('node') === null) values.set('node', defaultNodeId(hostName, values.get('http.port')));
  return values;
}

const { node, auth, http, mqtt, limits, log, metrics, timing, limiting, costs, registry, attachments } = SETTINGS;

const NODE_ROWS: SettingRows = Object.fromEntries(
  [node, auth, http, mqtt, limits, log, metrics, timing, limiting, costs, registry, attachments].flatMap(fullRows),
);

const NODE_SHAPE = shapeOf(NODE_ROWS, ['topic', 'backends', 'defaults', 'groups']);

function fullRows(section: SettingsSection) {
  return Object.entries(section.rows).map(([key, row]) => [yamlPath(section, key), row] as const);
}

/**
 * Stable over restarts, and different for every process of a machine, because ports are. The process id would be
 * neither: each restart would leave records of a dead node behind.
 */
function defaultNodeId(hostName: string, port: unknown): string {
  const host = hostName.replaceAll(/[^A-Za-z0-9._:-]/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  return `${host.slice(0, 120) || 'node'}-${port}`;
}
