import type { Scenario } from '../../sim/scenario/scenario.js';

/** The one group of a scenario. */
export const LIVE_GROUP = 'scenario';

/** What node.yaml says in a live run: the scenario's quota, `group` and `timing`, on that topic. JSON is YAML. */
export function liveConfig(
  { quota, settings, written }: Scenario,
  topic: Readonly<Record<string, unknown>>,
  decisionsFile: string,
): string {
  const publish = Object.fromEntries(Object.entries(quota).filter(([, rate]) => Number.isFinite(rate)));
  const config = {
    cluster: settings.cluster,
    topic,
    log: { decisionsFile },
    timing: written.timing,
    groups: { [LIVE_GROUP]: { ...(written.group as object), quota: { publish } } },
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
