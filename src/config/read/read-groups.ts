import { isMapping } from '../../base/input/mapping.js';
import { didYouMean } from '../../base/input/nearest-name.js';
import { DIRECTIONS, type Direction } from '../../core/base/vocabulary.js';
import { GROUP, type GroupSection } from '../schema/groups.js';
import { readSection } from '../schema/read-section.js';
import type { Findings } from '../setting/findings.js';
import { soundPart } from '../setting/section.js';
import { GROUP_NAME } from '../setting/setting.js';
import { show } from '../setting/setting-text.js';
import type { Sound } from '../setting/text-file.js';
import { givenRate, LIMIT_NAMES, perSecond, shownBeside, shownRate } from '../setting/written-rate.js';
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
    const allowed = 'a mapping of group name to settings';
    const problem = `must be ${allowed}, got ${show(groups)}`;
    findings.add(['groups'], { problem, allowed, remedy: 'Indent the group names below it.' });
    return new Map();
  }
  const values = new Map<string, Sound<GroupSection>>();
  for (const [name, group] of Object.entries(groups)) {
    // `orders:` with nothing behind it is a group without keys of its own, not one that takes everything back.
    const merged = mergedLayers(group ?? {}, defaults);
    const read = GROUP.safeParse(merged);
    const settings = (read.success ? read.data : soundPart(GROUP, merged)) as Sound<GroupSection>;
    if (GROUP_NAME.matches.test(name)) values.set(name, settings);
    else addBadName(name, findings);
    if (group === null && !DIRECTIONS.some((direction) => isLimited(settings, direction))) {
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

/** Checks that reserved rates are parts of the quota. */
export function checkReserved(groups: GroupValues, findings: Findings): void {
  for (const [name, values] of groups) {
    for (const direction of DIRECTIONS) {
      const quota = values.quota[direction];
      const [total, reserved] = [givenRate(quota, 'cost'), givenRate(quota, 'reservedCost')];
      if (total === null || reserved === null || perSecond(reserved) <= perSecond(total)) continue;
      const allowed = `at most quota.${direction}.costPerSecond = ${shownRate(total)}`;
      const problem = `must be ${allowed}, got ${shownBeside(reserved, total.per)}`;
      const remedy = 'Lower it, or raise costPerSecond.';
      const cause = 'reserved-above-quota';
      findings.add(['groups', name, 'quota', direction, 'reservedCostPerSecond'], { problem, allowed, remedy, cause });
    }
  }
}

/** The rates are those of the whole cluster. */
function isLimited({ quota }: Sound<GroupSection>, direction: Direction): boolean {
  return LIMIT_NAMES.some((name) => givenRate(quota[direction], name) !== null);
}

function addBadName(name: string, findings: Findings): void {
  const problem = `is no name for a group: it must be ${GROUP_NAME.text}`;
  findings.add(['groups', name], { problem, allowed: GROUP_NAME.text, remedy: 'Rename the group.' }, { part: 'key' });
}

function checkGroupName(path: (string | number)[], name: string, groups: GroupValues, findings: Findings): void {
  if (groups.has(name) || findings.isFull) return;
  const problem = `must name a configured group, got ${show(name)}`;
  const remedy = didYouMean(name, groups.keys()) || 'Add the group, or remove its name here.';
  findings.add(path, { problem, allowed: 'a key of groups', remedy });
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
