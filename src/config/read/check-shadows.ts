import type { Findings } from '../setting/findings.js';
import { isPlanned } from './planned-settings.js';
import type { GroupValues } from './read-groups.js';

/** A plan is compared with what is in force, so something has to be. */
export function checkShadows(groups: GroupValues, findings: Findings): void {
  for (const [name, values] of groups) {
    if (values.mode !== 'shadow' || !isPlanned(values)) continue;
    findings.add(['groups', name, 'shadow'], {
      problem: 'stands beside mode: shadow, where nothing is in force with which it could be compared',
      allowed: 'one of the two',
      remedy: 'Write what is planned as the settings of the group, or set mode: enforce.',
    });
  }
}
