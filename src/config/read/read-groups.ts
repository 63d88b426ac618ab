import { DIRECTIONS } from '../../core/base/vocabulary.js';
import { isMapping } from '../../input/mapping.js';
import { didYouMean } from '../../input/nearest-name.js';
import { SETTINGS } from '../schema/all-settings.js';
import { checkShape, shapeOf } from '../schema/setting-schema.js';
import { readRows } from '../schema/settings-layers.js';
import type { Findings } from '../setting/findings.js';
import { GROUP_NAME } from '../setting/setting.js';
import { show } from '../setting/setting-text.js';
import type { SettingValues } from './read-node.js';

/** Group name → its settings by key (`quota.publish.messagesPerSecond`), `defaults:` laid under each. */
export type GroupValues = ReadonlyMap<string, SettingValues>;

export function readGroups(root: Readonly<Record<string, unknown>>, findings: Findings): GroupValues {
  const { defaults, groups } = root;
  checkShape(findings, GROUP_SHAPE, ['defaults'], defaults ?? null);
  if (groups === undefined || groups === null || (isMapping(groups) && Object.keys(groups).length === 0)) {
    const remedy = 'Add at least one group below groups:.';
    findings.add(['groups'], {
      problem: 'is missing or empty',
      allowed: 'a mapping of group name to settings',
      remedy,
    });
    return new Map();
  }
  if (!isMapping(groups)) {
    const allowed = 'a mapping of group name to settings';
    const problem = `must be ${allowed}, got ${show(groups)}`;
    findings.add(['groups'], { problem, allowed, remedy: 'Indent the group names below it.' });
    return new Map();
  }
  const values = new Map<string, SettingValues>();
  for (const [name, group] of Object.entries(groups)) {
    // `orders:` with nothing behind it is a group without keys of its own, not one that takes everything back.
    if (GROUP_NAME.matches.test(name)) values.set(name, readRows(GROUP_ROWS, [group ?? {}, defaults]));
    else addBadName(name, findings);
    if (group === null && !LIMITS.some((key) => typeof values.get(name)?.get(key) === 'number')) {
      const remedy = 'Write its quota, or {} for a group that nothing limits.';
      findings.add(['groups', name], { problem: 'has nothing behind it', allowed: 'settings of a group', remedy });
    }
    checkShape(findings, GROUP_SHAPE, ['groups', name], group);
  }
  return values;
}

/** Names in other settings that must be those of groups. */
export function checkGroupNames(node: SettingValues, groups: GroupValues, findings: Findings): void {
  const defaultGroup = node.get('defaultGroup');
  if (typeof defaultGroup === 'string') checkGroupName(['defaultGroup'], defaultGroup, groups, findings);
  const perGroup = node.get('metrics.perGroup');
  if (!Array.isArray(perGroup)) return;
  for (const [index, name] of perGroup.entries()) {
    checkGroupName(['metrics', 'perGroup', index], name, groups, findings);
  }
}

/** What is reserved is a part of the quota. */
export function checkReserved(groups: GroupValues, findings: Findings): void {
  for (const [name, values] of groups) {
    for (const direction of DIRECTIONS) {
      const total = values.get(`quota.${direction}.costPerSecond`) ?? null;
      const reserved = values.get(`quota.${direction}.reservedCostPerSecond`);
      if (typeof total !== 'number' || typeof reserved !== 'number' || reserved <= total) continue;
      const allowed = `at most quota.${direction}.costPerSecond = ${total}`;
      const problem = `must be ${allowed}, got ${reserved}`;
      const remedy = 'Lower it, or raise costPerSecond.';
      const cause = 'reserved-above-quota';
      findings.add(['groups', name, 'quota', direction, 'reservedCostPerSecond'], { problem, allowed, remedy, cause });
    }
  }
}

const GROUP_ROWS = SETTINGS.group.rows;
const GROUP_SHAPE = shapeOf(GROUP_ROWS);
/** The rates are those of the whole cluster. */
const LIMITS = Object.keys(GROUP_ROWS).filter((key) => /^quota\..*\.(messages|bytes|cost)PerSecond$/.test(key));

function addBadName(name: string, findings: Findings): void {
  const problem = `is no name for a group: it must be ${GROUP_NAME.text}`;
  findings.add(['groups', name], { problem, allowed: GROUP_NAME.text, remedy: 'Rename the group.' }, { part: 'key' });
}

function checkGroupName(path: (string | number)[], name: string, groups: GroupValues, findings: Findings): void {
  if (groups.has(name) || groups.size === 0 || findings.isFull) return;
  const problem = `must name a configured group, got ${show(name)}`;
  const remedy = didYouMean(name, groups.keys()) || 'Add the group, or remove its name here.';
  findings.add(path, { problem, allowed: 'a key of groups', remedy });
}
