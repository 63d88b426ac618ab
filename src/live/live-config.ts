import type { Scenario } from '../../sim/scenario/scenario.js';
import { GROUP_ROWS, TIMING_ROWS } from '../../sim/scenario/scenario-fields.js';

/** The one group of a scenario. */
export const LIVE_GROUP = 'scenario';

type Mapping = Readonly<Record<string, unknown>>;

/** What node.yaml says in a live run: the scenario's quota, `group` and `timing`, on that topic. JSON is YAML. */
export function liveConfig(scenario: Scenario, topic: Mapping, decisionsFile: string): string {
  const { quota, settings } = scenario;
  const own = settings as unknown as Mapping;
  const publish = Object.fromEntries(Object.entries(quota).filter(([, rate]) => Number.isFinite(rate)));
  const timing = Object.fromEntries(Object.keys(TIMING_ROWS).map((key) => [key, own[key]]));
  const config = {
    cluster: settings.cluster,
    topic,
    log: { decisionsFile },
    timing,
    groups: { [LIVE_GROUP]: { quota: { publish }, ...groupOf(settings.groups[0] as unknown as Mapping) } },
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** Keys of the settings table are paths: `isolation.policy`. */
function groupOf(settings: Mapping): Mapping {
  const group: Record<string, unknown> = {};
  for (const path of Object.keys(GROUP_ROWS)) {
    const [key, below] = path.split('.') as [string, string?];
    const value = below === undefined ? settings[key] : (settings[key] as Mapping)[below];
    if (value === undefined || value === null || isEmpty(value)) continue;
    group[key] = below === undefined ? value : { ...(group[key] as object | undefined), [below]: value };
  }
  return group;
}

/** No weights: the table's default, not a mapping without entries. */
function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
