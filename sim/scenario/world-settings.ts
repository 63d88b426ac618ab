import { buildGroup } from '../../src/config/read/build-config.js';
import { checkRelations } from '../../src/config/read/check-relations.js';
import { checkShape, shapeOf } from '../../src/config/schema/setting-schema.js';
import { readRows } from '../../src/config/schema/settings-layers.js';
import { COST_SETTINGS, LIMITING_SETTINGS } from '../../src/config/schema/target.js';
import { Findings } from '../../src/config/setting/findings.js';
import { DEFAULT_STRATEGY } from '../../src/core/convergence/strategies.js';
import { VERSION } from '../../src/package/version.js';
import type { WorldSettings } from '../cluster/world.js';
import { GROUP_ROWS, TIMING_ROWS } from './scenario-fields.js';

/** What nodes run with by default: the settings table, one unlimited group, one partition. */
export function defaultSettings(): WorldSettings {
  return readSettings(new Findings('(defaults)'), {}, 1);
}

/** `group`, `timing` and `limiting` of a scenario, as in node.yaml. */
export function readSettings(
  findings: Findings,
  root: Readonly<Record<string, unknown>>,
  partitions: number,
): WorldSettings {
  const group = readSection(findings, 'group', root);
  const timing = readSection(findings, 'timing', root);
  const paths = [...timing].map(([key, value]) => [`timing.${key}`, value] as const);
  checkRelations(new Map<string, unknown>([...paths, ['sampleIntervalMs', SAMPLE_INTERVAL_MS]]), root, findings);
  const limiting = readSection(findings, 'limiting', root);
  const settings = {
    cluster: 'scenario',
    version: VERSION,
    partitions,
    sampleIntervalMs: SAMPLE_INTERVAL_MS,
    ...Object.fromEntries(timing),
    limiting: Object.fromEntries(limiting),
    costs: Object.fromEntries(readRows(COST_SETTINGS, [])),
    groups: [buildGroup('scenario', new Map(group).set('strategy', DEFAULT_STRATEGY))],
  };
  return settings as unknown as WorldSettings;
}

const SECTIONS = {
  group: { rows: GROUP_ROWS, shape: shapeOf(GROUP_ROWS) },
  timing: { rows: TIMING_ROWS, shape: shapeOf(TIMING_ROWS) },
  limiting: { rows: LIMITING_SETTINGS, shape: shapeOf(LIMITING_SETTINGS) },
} as const;

/** The production node's round (src/config/schema/node.ts). */
const SAMPLE_INTERVAL_MS = 20;

function readSection(
  findings: Findings,
  key: keyof typeof SECTIONS,
  root: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, unknown> {
  const { rows, shape } = SECTIONS[key];
  checkShape(findings, shape, [key], root[key] ?? null);
  return readRows(rows, [root[key]]);
}
