import type { Findings } from '../setting/findings.js';
import type { GroupValues } from './read-groups.js';

/** A group's least and largest share per node must leave room for a share. */
export function checkShareRanges(groups: GroupValues, findings: Findings): void {
  for (const [name, values] of groups) {
    const { minShareRatio: least, maxShareRatio: most } = values;
    if (typeof least !== 'number' || typeof most !== 'number' || least <= most) continue;
    findings.add(['groups', name, 'minShareRatio'], {
      problem: `must be at most maxShareRatio = ${most}, got ${least}: otherwise no share would do for a node`,
      allowed: `at most maxShareRatio = ${most}`,
      remedy: 'Lower minShareRatio or raise maxShareRatio, in the group or in defaults.',
    });
  }
}
