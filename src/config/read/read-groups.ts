import { isMapping } from '../../base/input/mapping.js';
import { GROUP, type GroupSection } from '../schema/groups.js';
import { readSection } from '../schema/read-section.js';
import type { Findings } from '../setting/findings.js';
import { soundPart } from '../setting/section.js';
import { GROUP_NAME } from '../setting/setting.js';
import { mustBe, noSuchGroup } from '../setting/setting-text.js';
import type { Sound } from '../setting/text-file.js';
import { hasRate, LIMIT_NAMES } from '../setting/written-rate.js';
import { withBurstsInFull } from './burst-in-full.js';
import type { SoundNode } from './read-node.js';

/** Group name → its settings, `defaults:` laid under each; fields with a mistake are absent. */
export type GroupValues = ReadonlyMap<string, Sound<GroupSection>>;

export function readGroups(root: Readonly<Record<string, unknown>>, findings: Findings): GroupValues {
  const { defaults, groups } = withBurstsInFull(root, findings);
  readSection(findings, GROUP, ['defaults'], defaults);
  // All groups of a node may come at run time, or be made by use (read-keys.ts).
  if (groups === undefined || groups === null) return new Map();
  if (!isMapping(groups)) {
    findings.add(['groups'], mustBe('a mapping of group name to settings', groups, 'Indent the group names below it.'));
    return new Map();
  }
  const values = new Map<string, Sound<GroupSection>>();
  for (const [name, group] of Object.entries(groups)) {
    // `orders:` with nothing behind it is a group without keys of its own, not one that takes everything back.
    const merged = mergedLayers(group ?? {}, defaults);
    const read = GROUP.safeParse(merged);
    const settings = (read.success ? read.data : soundPart(GROUP, merged)) as Sound<GroupSection>;
    if (GROUP_NAME.matches.test(name)) values.set(name, settings);
    else {
      const problem = `is no name for a group: it must be ${GROUP_NAME.text}`;
      const finding = { problem, allowed: GROUP_NAME.text, remedy: 'Rename the group.' };
      findings.add(['groups', name], finding, { part: 'key' });
    }
    if (group === null && !hasRate(settings.quota, LIMIT_NAMES)) {
      const remedy = 'Write its quota, or {} for a group that nothing limits.';
      findings.add(['groups', name], { problem: 'has nothing behind it', allowed: 'settings of a group', remedy });
    }
    // A mistake of the group is also a mistake of group and defaults together. So most groups are read only once.
    if (!read.success) readSection(findings, GROUP, ['groups', name], group);
  }
  return values;
}

/** Names in other settings that must be those of groups. */
export function checkGroupNames(node: SoundNode, groups: GroupValues, findings: Findings): void {
  const { defaultGroup, metrics } = node;
  if (typeof defaultGroup === 'string') checkGroupName(['defaultGroup'], defaultGroup, groups, findings);
  const { perGroup } = metrics;
  if (typeof perGroup === 'string' || perGroup === undefined) return;
  for (const [index, name] of perGroup.entries()) {
    // Groups that a pattern means may come at run time.
    if (!name.includes('*')) checkGroupName(['metrics', 'perGroup', index], name, groups, findings);
  }
}

function checkGroupName(path: (string | number)[], name: string, groups: GroupValues, findings: Findings): void {
  if (groups.has(name) || findings.isFull) return;
  findings.add(path, noSuchGroup(name, groups.keys(), 'Add the group, or remove its name here.'));
}

/**
 * One layer over another, key by key, however deep: the upper one wins where it says something. `null` in it, for a key
 * or for a mapping around it, hides what is below: the default again.
 */
export function mergedLayers(upper: unknown, lower: unknown): unknown {
  if (upper === undefined) return lower;
  if (!isMapping(upper) || !isMapping(lower)) return upper;
  const merged: Record<string, unknown> = { ...lower };
  for (const [key, value] of Object.entries(upper)) {
    const below = Object.hasOwn(lower, key) ? lower[key] : undefined;
    // Defining keeps `__proto__`, which YAML may hold, a key like others.
    Object.defineProperty(merged, key, {
      value: mergedLayers(value, below),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return merged;
}
