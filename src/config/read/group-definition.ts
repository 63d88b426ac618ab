import type { GroupConfig } from '../resolved/resolved-config.js';
import type { GroupSection } from '../schema/groups.js';
import type { Mistake } from '../setting/config-error.js';
import { type ConfigPath, Findings } from '../setting/findings.js';
import { buildGroup } from './build-config.js';
import { checkBursts } from './check-burst.js';
import { checkRamps } from './check-ramps.js';
import { isPlanned } from './planned-settings.js';
import { checkReserved, type GroupValues, readGroups } from './read-groups.js';
import { withUnitsBehindAmounts } from './units-in-keys.js';

interface ExaminedGroup {
  /** null when there are mistakes. */
  readonly config: GroupConfig | null;
  readonly mistakes: readonly Mistake[];
}

/**
 * A group as YAML writes it below `groups.<name>`, checked as in YAML, with all its mistakes. What YAML says below
 * `defaults` does not count: it may differ from node to node, and this must be the same for all.
 *
 * @param beneath settings of another group or template, as YAML writes them, over which these are laid
 * @param quotaAt where mistakes of its quota are told, if that does not stand below the name of a group
 */
export function examineGroup(
  name: string,
  written: unknown,
  source: string,
  beneath?: unknown,
  quotaAt?: ConfigPath,
): ExaminedGroup {
  const findings = new Findings(source);
  if (quotaAt !== undefined) findings.setWritten(['groups', name, 'quota'], quotaAt);
  const root = withUnitsBehindAmounts({ defaults: beneath, groups: { [name]: written } }, findings);
  const groups = readGroups(root, findings);
  checkReserved(groups, findings);
  checkRamps(groups, root, findings);
  checkShareRanges(groups, findings);
  checkShadows(groups, findings);
  checkBursts(groups, findings);
  const values = groups.get(name);
  if (findings.mistakes.length > 0 || values === undefined) return { config: null, mistakes: findings.mistakes };
  // Without mistakes every field is there.
  return { config: buildGroup(name, values as GroupSection), mistakes: [] };
}

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
