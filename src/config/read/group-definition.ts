import type { GroupConfig } from '../resolved/resolved-config.js';
import type { GroupSection } from '../schema/groups.js';
import type { Examined } from '../setting/config-error.js';
import { type ConfigPath, Findings } from '../setting/findings.js';
import { buildGroup } from './build-config.js';
import { checkBudgets } from './check-budgets.js';
import { checkGroups } from './check-groups.js';
import { checkSlots } from './check-slots.js';
import { checkStrict } from './check-strict.js';
import { readGroups } from './read-groups.js';
import { withUnitsBehindAmounts } from './units-in-keys.js';

/**
 * Reads a group as YAML writes it below `groups.<name>`, with all mistakes. What YAML says below `defaults` does not
 * count: it may differ from node to node, and this must be the same for all.
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
): Examined<GroupConfig> {
  const findings = new Findings(source);
  if (quotaAt !== undefined) findings.setWritten(['groups', name, 'quota'], quotaAt);
  const root = withUnitsBehindAmounts({ defaults: beneath, groups: { [name]: written } }, findings);
  const groups = readGroups(root, findings);
  checkGroups(groups, root, findings);
  checkStrict(groups, findings, null);
  checkSlots(groups, findings, null);
  checkBudgets(groups, findings, null);
  const values = groups.get(name);
  if (findings.mistakes.length > 0 || values === undefined) return { config: null, mistakes: findings.mistakes };
  // Without mistakes every field is there.
  return { config: buildGroup(name, values as GroupSection), mistakes: [] };
}
