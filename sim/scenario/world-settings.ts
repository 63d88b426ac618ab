import { VERSION } from '../../src/base/package/version.js';
import { buildGroup } from '../../src/config/read/build-config.js';
import { withBurstsInFull } from '../../src/config/read/burst-in-full.js';
import { checkRelations } from '../../src/config/read/check-relations.js';
import { CONSTANTS, derivedTiming } from '../../src/config/resolved/constants.js';
import type { NodeSettings } from '../../src/config/schema/all-settings.js';
import { GROUP, type GroupSection } from '../../src/config/schema/groups.js';
import { readSection } from '../../src/config/schema/read-section.js';
import { COSTS, LIMITING } from '../../src/config/schema/target.js';
import { TIMING } from '../../src/config/schema/timing.js';
import { Findings } from '../../src/config/setting/findings.js';
import type { WorldSettings } from '../cluster/world.js';
import { SCENARIO_GROUP } from './scenario-fields.js';

export function defaultSettings(): WorldSettings {
  return readSettings(new Findings('(defaults)'), {}, 1);
}

/** Reads `group`, `timing` and `limiting`, as in node.yaml. */
export function readSettings(
  findings: Findings,
  root: Readonly<Record<string, unknown>>,
  partitions: number,
): WorldSettings {
  const { timing: writtenTiming, group: defaults } = root;
  const named = withBurstsInFull({ timing: writtenTiming, defaults }, findings);
  const group = readSection(findings, SCENARIO_GROUP, ['group'], named.defaults);
  const timing = readSection(findings, TIMING, ['timing'], named.timing);
  checkRelations({ timing, sampleIntervalMs: SAMPLE_INTERVAL_MS }, named, findings);
  const limiting = readSection(findings, LIMITING, ['limiting'], root.limiting);
  const settings = {
    cluster: 'scenario',
    version: VERSION,
    partitions,
    sampleIntervalMs: SAMPLE_INTERVAL_MS,
    ...timing,
    ...derivedTiming(timing as NodeSettings['timing'], SAMPLE_INTERVAL_MS),
    ...CONSTANTS.timing,
    limiting: { ...limiting, ...CONSTANTS.limiting },
    costs: { ...COSTS.parse({}), ...CONSTANTS.costs },
    groups: [buildGroup('scenario', { ...GROUP.parse({}), ...(group as Partial<GroupSection>) })],
  };
  return settings as unknown as WorldSettings;
}

/** Milliseconds of production's round (src/config/schema/node.ts). */
const SAMPLE_INTERVAL_MS = 20;
